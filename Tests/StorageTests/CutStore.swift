// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// A store whose writes fail once a given number of them were stored, as when the process is killed.
final class CutStore: Store {
    struct Cut: Error {}

    private let base: any Store
    private let left: Mutex<Int>

    init(_ base: any Store, after writes: Int) {
        self.base = base
        left = Mutex(writes)
    }

    var clock: WriteClock { base.clock }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any ReadTransaction) throws -> Value
    ) async throws -> Value {
        try await base.read(body)
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try left.withLock { left in
            guard left > 0 else { throw Cut() }
            left -= 1
        }
        return try await base.write(body)
    }

    func record<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await base.record(body)
    }

    func close() throws { try base.close() }
}
