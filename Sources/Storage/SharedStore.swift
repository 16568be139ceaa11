// SPDX-License-Identifier: Apache-2.0

/// Called with the database's time in milliseconds since 1970 once all earlier writes are known, or with an error.
public typealias Confirmation = @Sendable (Result<Int, StorageError>) -> Void

/// A database that several servers write to, as one of them sees it.
public protocol SharedStore: Sendable {
    /// Makes sure that `clock` has moved on for everything that was committed, on any server, before this call.
    ///
    /// Callers that ask while a query is under way wait for the next one, so that only one is under way, however many
    /// ask. It depends on no clock: a late confirmation is late and not wrong.
    ///
    /// - Parameter completion: called once, on any thread; it must not block. It fails when the database does not
    ///   answer within seconds, and then nothing is confirmed.
    func confirm(then completion: @escaping Confirmation)

    /// Removes what was noted about writes below a number that an earlier call returned, as if no server needed it; a server
    /// that had not seen it forgets everything that it keeps in memory.
    ///
    /// - Parameter number: nil to remove nothing.
    /// - Returns: the number below which every transaction has ended.
    func forgetWritten(below number: Int?) async throws -> Int
}

extension SharedStore {
    /// Confirms like `confirm(then:)` and returns the database's time.
    public func confirm() async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            confirm { continuation.resume(with: $0) }
        }
    }
}
