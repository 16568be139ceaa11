// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// A store that counts its calls, and can be interrupted or made to fail.
final class WatchedStore: Store {
    struct DiskFull: Error {}

    let base: any Store
    private let counts = Mutex((reads: 0, records: 0))
    private let isFailing = Mutex(false)
    private let interruption = Mutex<(@Sendable () async throws -> Void)?>(nil)

    init(_ base: any Store) { self.base = base }

    var reads: Int { counts.withLock { $0.reads } }
    var records: Int { counts.withLock { $0.records } }

    /// Makes every record fail from now on, or succeed again.
    func fail(_ fails: Bool) { isFailing.withLock { $0 = fails } }

    /// Runs an action once, between the next read and its result.
    func interruptNextRead(_ body: @escaping @Sendable () async throws -> Void) {
        interruption.withLock { $0 = body }
    }

    var clock: WriteClock { base.clock }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any ReadTransaction) throws -> Value
    ) async throws -> Value {
        counts.withLock { $0.reads += 1 }
        let value = try await base.read(body)
        let interruption = interruption.withLock { interruption in
            defer { interruption = nil }
            return interruption
        }
        try await interruption?()
        return value
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await base.write(body)
    }

    func record<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        counts.withLock { $0.records += 1 }
        if isFailing.withLock({ $0 }) { throw DiskFull() }
        return try await base.record(body)
    }

    func close() throws { try base.close() }
}
