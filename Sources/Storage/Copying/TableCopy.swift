// SPDX-License-Identifier: Apache-2.0

internal import Crypto

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
            try empty(writer)
            let rows = RowChannel()
            read(source, into: rows)
            defer { rows.close() }
            while let batch = rows.next() { try insert(batch, writer) }
            return try finish(try rows.result(), writer)
        }
        let found = try await contents(of: target)
        try requireSame(copied, found)
        return found
    }

    /// Returns the contents of a database, table by table, at one moment.
    public static func contents(of store: any Store) async throws -> [Content] {
        try await store.read { try contents($0, of: tables) }
    }

    static func contents(_ reader: any ReadTransaction, of tables: [SchemaTable]) throws -> [Content] {
        try refuseNewer(reader)
        return try tables.map { table in
            var digest = RowDigest(table)
            try reader.eachRow(statement(table), []) { digest.add(values(of: table, in: $0)) }
            return digest.content
        }
    }

    /// The tables in the order in which they are copied: parents before their children, and last the settings, with
    /// which a database is in use.
    static let tables = Schema.tables.filter { $0.name != settings.name } + [settings]
    static let settings = SchemaTable(named: "settings")

    /// Removes the rows that a new database begins with and those that were there, children before their parents.
    static func empty(_ writer: any WriteTransaction) throws {
        for table in Schema.tables.reversed() { try writer.execute("DELETE FROM \(table.name)", []) }
    }

    /// Stores the settings, and returns the contents of all tables.
    static func finish(_ reading: RowReading, _ writer: any WriteTransaction) throws -> [Content] {
        for batch in reading.settings { try insert(batch, writer) }
        return reading.contents
    }

    static func requireSame(_ copied: [Content], _ found: [Content]) throws {
        for (one, other) in zip(copied, found) where one != other {
            throw StorageError.unusable("The copy of the table \(one.table) is not what was read.")
        }
    }

    /// Throws when a server of a later version has changed the schema in the meantime: what it added would not be copied.
    private static func refuseNewer(_ reader: any ReadTransaction) throws {
        let row = try reader.row(
            "SELECT MAX(version) AS version FROM schema_migrations WHERE version <> $1",
            [.integer(Schema.unfinishedCopy)])
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

    /// Begins to read the rows of a database, at one moment, in a task of its own.
    ///
    /// - Parameter present: what the other database has already; these rows are compared instead of being sent.
    static func read(_ source: any Store, into rows: RowChannel, behind present: [Content] = []) {
        Task {
            do {
                rows.end(.success(try await source.read { try read($0, into: rows, behind: present) }))
            } catch {
                rows.end(.failure(error))
            }
        }
    }

    private static func read(
        _ reader: any ReadTransaction, into rows: RowChannel, behind present: [Content]
    ) throws -> RowReading {
        // The rows that an earlier run has sent cannot be taken back.
        guard rows.begin() else { throw StorageError.unreachable("it was lost while it was copied") }
        try refuseNewer(reader)
        var reading = RowReading()
        for table in tables {
            let present = present.first { $0.table == table.name && $0.rows > 0 }
            // The parameters of a statement are limited, and so are the rows in memory.
            let together = max(1, 900 / table.columns.count)
            var digest = RowDigest(table)
            var batch = RowBatch(table: table)
            func pass() throws {
                if table.name == settings.name { reading.settings.append(batch) } else { try rows.send(batch) }
                batch = RowBatch(table: table)
            }
            try reader.eachRow(statement(table), []) { row in
                let values = values(of: table, in: row)
                let bytes = digest.add(values)
                if let present, digest.rows <= present.rows {
                    guard digest.rows < present.rows || digest.content == present else { throw CopyDiffers() }
                    return
                }
                batch.bytes += bytes
                batch.rows.append(values)
                if batch.rows.count == together || batch.bytes > 1 << 22 { try pass() }
            }
            guard digest.rows >= present?.rows ?? 0 else { throw CopyDiffers() }
            if !batch.rows.isEmpty { try pass() }
            reading.contents.append(digest.content)
        }
        return reading
    }

    static func insert(_ batch: RowBatch, _ writer: any WriteTransaction) throws {
        let columns = batch.table.columns
        try writer.execute(
            """
            INSERT INTO \(batch.table.name) (\(list(columns)))
            VALUES \(SQLText.tuples(batch.rows.count, of: columns.count))
            """, batch.rows.flatMap { $0 })
    }

    /// A digest over rows that are added one by one.
    struct RowDigest {
        let table: SchemaTable
        private(set) var rows = 0
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
