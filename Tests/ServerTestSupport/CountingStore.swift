// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// A store that counts how often it is asked to read and to write, and how often an engine that is far away would be waited
/// for.
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

        private let queries = Mutex((waits: 0, unused: 0))

        /// How many queries and groups of announced queries were waited for within reads.
        var waits: Int { queries.withLock { $0.waits } }
        /// How many queries were announced and then not asked in that order.
        var unused: Int { queries.withLock { $0.unused } }

        fileprivate func wait() { queries.withLock { $0.waits += 1 } }
        fileprivate func leave(_ count: Int) { queries.withLock { $0.unused += count } }

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
        return try await base.read { [count] transaction in
            let counted = CountedRead(transaction, count)
            defer { count.leave(counted.announced.count) }
            return try body(counted)
        }
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

/// A transaction that counts the waits for its queries, as an engine has them that asks for announced ones together.
private final class CountedRead: ReadTransaction {
    private let base: any ReadTransaction
    private let count: CountingStore.Count
    /// What was announced and not asked yet.
    private(set) var announced: [Query] = []

    init(_ base: any ReadTransaction, _ count: CountingStore.Count) { (self.base, self.count) = (base, count) }

    var hasRowNumbers: Bool { base.hasRowNumbers }
    func shard(of column: String) -> String { base.shard(of: column) }
    func sharedTime() throws -> Int { try base.sharedTime() }

    func expect(_ queries: (any ReadTransaction) throws -> Void) throws {
        let new = try QueryList.of(queries).filter { !announced.contains($0) }
        announced += new
        if !new.isEmpty { count.wait() }
        try base.expect(queries)
    }

    func eachRow(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Void) throws {
        if let index = announced.firstIndex(of: Query(sql, arguments)) {
            count.leave(index)
            announced.removeSubrange(...index)
        } else {
            count.leave(announced.count)
            announced = []
            count.wait()
        }
        try base.eachRow(sql, arguments, body)
    }
}
