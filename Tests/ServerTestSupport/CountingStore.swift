// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// A store that counts how often it is asked to read, and to write.
final class CountingStore: Store, StoreMaintenance {
    private let base: any Store & StoreMaintenance
    private let count: Count

    /// How often all stores that share it were read.
    final class Count: Sendable {
        private let value = Atomic(0)
        private let written = Atomic(0)
        private let work = Mutex<(@Sendable (_ reads: Int) async -> Void)?>(nil)

        var reads: Int { value.load(ordering: .relaxed) }
        var writes: Int { written.load(ordering: .relaxed) }

        /// Does some work before each read, which waits for it.
        func beforeEachRead(_ body: (@Sendable (_ reads: Int) async -> Void)?) { work.withLock { $0 = body } }

        fileprivate func addWrite() { written.add(1, ordering: .relaxed) }

        fileprivate func add() async {
            let reads = value.add(1, ordering: .relaxed).newValue
            await work.withLock { $0 }?(reads)
        }
    }

    init(_ base: any Store & StoreMaintenance, _ count: Count) { (self.base, self.count) = (base, count) }

    var clock: WriteClock { base.clock }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any ReadTransaction) throws -> Value
    ) async throws -> Value {
        await count.add()
        return try await base.read(body)
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        count.addWrite()
        return try await base.write(body)
    }

    func record<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        count.addWrite()
        return try await base.record(body)
    }

    func stage<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        count.addWrite()
        return try await base.stage(body)
    }

    func close() throws { try base.close() }
    var isShared: Bool { base.isShared }
    var isInPlace: Bool { base.isInPlace }
    var writes: WriteGauge { base.writes }
    func engineVersion() async throws -> String { try await base.engineVersion() }
    func size() async throws -> Int { try await base.size() }
    func backup(to path: String) async throws { try await base.backup(to: path) }
    func integrityCheck() async throws -> String { try await base.integrityCheck() }
    func checkSchema() async throws { try await base.checkSchema() }
    func valueFaults() async throws -> [StoredFault] { try await base.valueFaults() }
    func forgetStatistics() async throws { try await base.forgetStatistics() }
    func lookForForeignChange() async throws { try await base.lookForForeignChange() }
}
