// SPDX-License-Identifier: Apache-2.0

/// What a caller requires of the current state of a record before it is changed.
package struct Precondition<Record: Sendable>: Sendable {
    private let test: @Sendable (Record?) throws -> Void

    /// - Parameter test: throws `Refusal` unless the state is as required; gets nil when the record does not exist.
    package init(_ test: @escaping @Sendable (Record?) throws -> Void) { self.test = test }

    /// Accepts any state.
    package static var none: Precondition { Precondition { _ in } }

    /// Throws `Refusal` unless the state is as required; pass nil when the record does not exist.
    func check(_ record: Record?) throws { try test(record) }
}
