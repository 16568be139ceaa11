// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// A store that cannot be written to for a number of attempts.
final class UnreachableStore: Store {
    private let base: any Store
    private let left: Mutex<Int>

    init(_ base: any Store, times: Int) {
        self.base = base
        left = Mutex(times)
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
        try refuse()
        return try await base.write(body)
    }

    func record<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try refuse()
        return try await base.record(body)
    }

    private func refuse() throws {
        try left.withLock { left in
            guard left > 0 else { return }
            left -= 1
            throw StorageError.unreachable("it is not there")
        }
    }

    func close() throws { try base.close() }
}
