// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Synchronization

/// Copies all stored data from one database to another, between any engines.
///
/// Both have the schema of this program. The copy is a snapshot of the first. Nobody else may change the second during
/// the copy, and it contains nothing but the copy afterwards.
public enum TableCopy {
    /// The contents of a table: how many rows, and a digest of all of them in the order of their keys.
    public struct Content: Hashable, Sendable {
        public var table: String
        public var rows: Int
        public var digest: [UInt8]
    }

    /// Copies in one transaction of the second database, and reads that database again to compare.
    ///
    /// - Returns: the contents of each table.
    /// - Throws: `StorageError.unusable` when the copy differs from what was read. An interrupted copy is rolled back;
    ///   a complete copy that differs stays.
    @discardableResult
    public static func copy(from source: any Store, to target: any Store) async throws -> [Content] {
        let copied = try await target.write { writer in
            // Removes the rows that a new database begins with and those that were there, children before their
            // parents.
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

    /// Returns the contents of a database, table by table, at one moment.
    public static func contents(of store: any Store) async throws -> [Content] {
        try await store.read { reader in
            try refuseNewer(reader)
            return try Schema.tables.map { table in
                var digest = RowDigest(table)
                try reader.eachRow(statement(table), []) { digest.add(values(of: table, in: $0)) }
                return digest.content
            }
        }
    }

    /// Throws when a server of a later version has changed the schema meanwhile: what it added would not be copied.
    private static func refuseNewer(_ reader: any ReadTransaction) throws {
        let row = try reader.row("SELECT MAX(version) AS version FROM schema_migrations", [])
        let (found, known) = (row?.integer("version") ?? 0, Schema.migrations.count)
        guard found <= known else { throw StorageError.newerSchema(found: found, known: known) }
    }

    /// Selects rows in the order of the keys, which is the same with every engine.
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
        // The rows that an earlier run has sent cannot be taken back.
        guard rows.begin() else { throw StorageError.unreachable("it was lost while it was copied") }
        try refuseNewer(reader)
        return try Schema.tables.map { table in
            // The parameters of a statement are limited, and so are the rows in memory.
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

        /// - Returns: roughly how many bytes the row takes.
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
                    // The length is included, so that the end of one text is never the beginning of another.
                    bytes.append(contentsOf: "\u{2}\(text.utf8.count) ".utf8)
                    bytes.append(contentsOf: text.utf8)
                }
            }
            hash.update(data: bytes)
            return bytes.count
        }
    }
}

/// Rows of one table that are passed on together.
private struct RowBatch: Sendable {
    var table: SchemaTable
    var rows: [[SQLValue]] = []
    /// Roughly how many bytes the rows take.
    var bytes = 0
}

/// Passes rows from the thread of one engine to that of another, a few batches at a time.
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

    /// Begins the copy; returns false when it has begun before.
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

    /// Waits for the next batch and returns it; nil after the last.
    func next() -> RowBatch? {
        filled.wait()
        let batch: RowBatch? = state.withLock { $0.batches.isEmpty ? nil : $0.batches.removeFirst() }
        if batch != nil { free.signal() }
        return batch
    }

    /// Returns the result of the reading, once no batch follows.
    func result() throws -> [TableCopy.Content] {
        guard let result = state.withLock({ $0.result }) else { throw Closed() }
        return try result.get()
    }

    /// Ends the taking of batches.
    func close() {
        state.withLock { $0.isClosed = true }
        free.signal()
    }
}
