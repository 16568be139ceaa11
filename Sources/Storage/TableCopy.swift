// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Synchronization

/// Copies everything that is stored from one database to another, whatever engines keep them.
///
/// Both have the schema of this program. What is copied is one moment of the first; the second is changed by nobody else
/// meanwhile, and holds it and nothing else afterwards.
public enum TableCopy {
    /// What a table held: how many rows, and a digest of all of them in the order of their keys.
    public struct Content: Hashable, Sendable {
        public var table: String
        public var rows: Int
        public var digest: [UInt8]
    }

    /// Copies in one transaction of the second, and reads that again to compare.
    ///
    /// - Returns: what each table holds.
    /// - Throws: `StorageError.unusable` when the copy does not hold what was read; then nothing is kept of a copy that was
    ///   broken off, and all of one that is not the same.
    @discardableResult
    public static func copy(from source: any Store, to target: any Store) async throws -> [Content] {
        let copied = try await target.write { writer in
            // What a new database begins with, and what was there; children before their parents.
            for table in Schema.tables.reversed() { try writer.execute("DELETE FROM \(table.name)", []) }
            let rows = RowChannel()
            Task {
                do {
                    rows.end(.success(try await source.read { try read($0, into: rows) }))
                } catch {
                    rows.end(.failure(error))
                }
            }
            defer { rows.close() }
            while let batch = rows.next() { try insert(batch, writer) }
            return try rows.result()
        }
        let found = try await contents(of: target)
        for (one, other) in zip(copied, found) where one != other {
            throw StorageError.unusable("The copy of the table \(one.table) is not what was read.")
        }
        return found
    }

    /// What a database holds, table by table, of one moment.
    public static func contents(of store: any Store) async throws -> [Content] {
        try await store.read { reader in
            try Schema.tables.map { table in
                var digest = RowDigest(table)
                try reader.eachRow(statement(table), []) { digest.add(values(of: table, in: $0)) }
                return digest.content
            }
        }
    }

    /// In the order of the keys, which is the same with every engine.
    private static func statement(_ table: SchemaTable) -> String {
        "SELECT \(list(table.columns)) FROM \(table.name) ORDER BY \(list(table.key))"
    }

    private static func list(_ columns: [String]) -> String { columns.map { "\"\($0)\"" }.joined(separator: ", ") }

    private static func values(of table: SchemaTable, in row: SQLRow) -> [SQLValue] {
        table.columns.map { column in
            row.integer(column).map(SQLValue.integer) ?? row.text(column).map(SQLValue.text) ?? .null
        }
    }

    private static func read(_ reader: any ReadTransaction, into rows: RowChannel) throws -> [Content] {
        // What an earlier run has sent cannot be called back.
        guard rows.begin() else { throw StorageError.unreachable("it was lost while it was copied") }
        return try Schema.tables.map { table in
            // Parameters of a statement are limited, and so is what is kept in memory.
            let together = max(1, 900 / table.columns.count)
            var digest = RowDigest(table)
            var batch = RowBatch(table: table)
            try reader.eachRow(statement(table), []) { row in
                let values = values(of: table, in: row)
                batch.bytes += digest.add(values)
                batch.rows.append(values)
                guard batch.rows.count == together || batch.bytes > 1 << 22 else { return }
                try rows.send(batch)
                batch = RowBatch(table: table)
            }
            if !batch.rows.isEmpty { try rows.send(batch) }
            return digest.content
        }
    }

    private static func insert(_ batch: RowBatch, _ writer: any WriteTransaction) throws {
        let columns = batch.table.columns
        try writer.execute(
            """
            INSERT INTO \(batch.table.name) (\(list(columns)))
            VALUES \(SQLText.tuples(batch.rows.count, of: columns.count))
            """, batch.rows.flatMap { $0 })
    }

    /// A digest over rows that are added one by one.
    private struct RowDigest {
        let table: SchemaTable
        private var rows = 0
        private var hash = SHA256()

        init(_ table: SchemaTable) { self.table = table }

        var content: Content { Content(table: table.name, rows: rows, digest: Array(hash.finalize())) }

        /// - Returns: about how many bytes the row takes.
        @discardableResult
        mutating func add(_ values: [SQLValue]) -> Int {
            rows += 1
            var bytes: [UInt8] = []
            for value in values {
                switch value {
                case .null: bytes.append(0)
                case .integer(let number):
                    bytes.append(1)
                    bytes.append(contentsOf: "\(number) ".utf8)
                case .text(let text):
                    // With its length, so that the end of one is never the beginning of another.
                    bytes.append(contentsOf: "\u{2}\(text.utf8.count) ".utf8)
                    bytes.append(contentsOf: text.utf8)
                }
            }
            hash.update(data: bytes)
            return bytes.count
        }
    }
}

/// Rows of one table that go over together.
private struct RowBatch: Sendable {
    var table: SchemaTable
    var rows: [[SQLValue]] = []
    /// About how much it takes.
    var bytes = 0
}

/// Rows on their way from the thread of one engine to that of another, a few batches at a time.
private final class RowChannel: Sendable {
    private struct Closed: Error {}

    private struct State {
        var batches: [RowBatch] = []
        var result: Result<[TableCopy.Content], any Error>?
        var isBegun = false
        var isClosed = false
    }

    private let state = Mutex(State())
    private let filled = Semaphore()
    private let free = Semaphore()

    init() { for _ in 0..<4 { free.signal() } }

    /// False when somebody has begun before.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.isBegun = true }
            return !state.isBegun
        }
    }

    func send(_ batch: RowBatch) throws {
        free.wait()
        let isClosed = state.withLock { state in
            if !state.isClosed { state.batches.append(batch) }
            return state.isClosed
        }
        if isClosed { throw Closed() }
        filled.signal()
    }

    func end(_ result: Result<[TableCopy.Content], any Error>) {
        state.withLock { $0.result = result }
        filled.signal()
    }

    /// The next batch, once it has come; nil after the last.
    func next() -> RowBatch? {
        filled.wait()
        let batch: RowBatch? = state.withLock { $0.batches.isEmpty ? nil : $0.batches.removeFirst() }
        if batch != nil { free.signal() }
        return batch
    }

    /// What came of the reading, once nothing comes any more.
    func result() throws -> [TableCopy.Content] {
        guard let result = state.withLock({ $0.result }) else { throw Closed() }
        return try result.get()
    }

    /// Nobody takes any more.
    func close() {
        state.withLock { $0.isClosed = true }
        free.signal()
    }
}
