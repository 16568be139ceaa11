// SPDX-License-Identifier: Apache-2.0

/// What is done once a database has said what ended, with its time in milliseconds since 1970, or has not said it in time.
public typealias Confirmation = @Sendable (Result<Int, StorageError>) -> Void

/// A database that several servers write, as one of them sees it.
public protocol SharedStore: Sendable {
    /// Makes sure that `clock` has moved on for everything that was committed, on any server, before this call.
    ///
    /// Those who ask while a query is under way wait for the next one, so that however many ask, one is under way. It
    /// rests on no clock: what is confirmed late is late and not wrong.
    ///
    /// - Parameter completion: called once, on any thread; it must not block. It fails when the database does not answer
    ///   within seconds, and then nothing is known.
    func confirm(then completion: @escaping Confirmation)
}

extension SharedStore {
    /// Like `confirm(then:)`; the database's time.
    public func confirm() async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            confirm { continuation.resume(with: $0) }
        }
    }
}
