// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Storage

/// Checks that a file has exactly our schema: a trigger or a view would act on what the program does later.
public enum SchemaCheck {
    private struct Entry: Hashable {
        var type: ByteString
        var name: ByteString
        var table: ByteString
        var sql: ByteString
    }

    /// The tables that SQLite itself creates for its planner; they are harmless and not part of our schema.
    static let statistics: Set<ByteString> = ["sqlite_stat1", "sqlite_stat4"]

    /// Examines a file without changing it.
    ///
    /// - Parameter isWhole: whether all of the database has to be in the file, as in a backup.
    /// - Throws: `StorageError` when it is not a database, comes from a newer version, or differs from what this
    ///   program creates.
    public static func check(path: String, isWhole: Bool = false) throws {
        try FileKind.requireDatabase(path)
        var configuration = Configuration()
        configuration.readonly = true
        configuration.prepareDatabase { db in
            // Functions that the schema calls are not run.
            try db.execute(sql: "PRAGMA trusted_schema = OFF")
        }
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.read { db in
                try check(db)
                if isWhole { try checkLength(db, FileIdentity(path: path)?.size ?? 0) }
            }
            try queue.close()
        } catch let error as DatabaseError {
            throw StorageError.unusable("it cannot be opened as a database: \(error.message ?? "\(error.resultCode)").")
        }
    }

    /// Checks the length of the file: SQLite reads a missing end of the last page as zeros.
    private static func checkLength(_ db: Database, _ size: Int) throws {
        let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        let pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
        guard size >= pages * pageSize else { throw StorageError.unusable("its end is missing.") }
    }

    static func check(_ db: Database) throws {
        guard try String.fetchOne(db, sql: "PRAGMA encoding") == "UTF-8" else {
            throw StorageError.unusable("its texts are not in UTF-8, as Kalends writes them.")
        }
        let found = try entries(db)
        let migrations: ByteString = "schema_migrations"
        guard found.contains(where: { $0.type == "table" && $0.name == migrations }) else {
            throw StorageError.unusable("it is not a database of Kalends.")
        }
        // This comes before anything is read that the schema may compute.
        let ours = try expected(upTo: 0)
        guard let versions = ours.first(where: { $0.name == migrations }), found.contains(versions) else {
            throw StorageError.unusable("the table \(migrations) is not as Kalends makes it.")
        }
        let numbers = try Row.fetchAll(db, sql: "SELECT version FROM schema_migrations ORDER BY version LIMIT 100000")
            .map { $0[0] as Int? }
        let known = Schema.migrations.count
        if let last = numbers.last ?? nil, last > known { throw Schema.refusal(found: last, known: known) }
        guard numbers == (0..<numbers.count).map({ $0 + 1 }) else {
            throw StorageError.unusable("its versions are not those that Kalends counts.")
        }
        let expected = try expected(upTo: numbers.count)
        if let strange = found.subtracting(expected).min(by: { ($0.type, $0.name) < ($1.type, $1.name) }) {
            let isKnown = expected.contains { $0.name == strange.name && $0.type == strange.type }
            throw StorageError.unusable(
                isKnown
                    ? "the \(strange.type) \(strange.name) is not as Kalends makes it."
                    : "it has the \(strange.type) \(shown(strange.name.string)), which is not one of Kalends.")
        }
        if let missing = expected.subtracting(found).min(by: { $0.name < $1.name }) {
            throw StorageError.unusable("the \(missing.type) \(missing.name) is missing.")
        }
    }

    /// Returns the schema that the program's own statements create.
    private static func expected(upTo version: Int) throws -> Set<Entry> {
        let queue = try DatabaseQueue()
        try Schema.migrate(SQLiteMigrationTarget(pool: queue), upTo: version)
        return try queue.read(entries)
    }

    private static func entries(_ db: Database) throws -> Set<Entry> {
        let rows = try Row.fetchAll(db, sql: "SELECT type, name, tbl_name, sql FROM sqlite_master")
        return Set(
            rows.map { row in
                Entry(
                    type: ByteString(row[0] as String? ?? "entry"), name: ByteString(row[1] as String? ?? ""),
                    table: ByteString(row[2] as String? ?? ""), sql: ByteString(withoutLayout(row[3] as String? ?? "")))
            }.filter { !statistics.contains($0.name) })
    }

    /// Returns a statement without its layout, so that only layout is ignored and the ends of words still count.
    ///
    /// Blanks are those of SQLite, for which a blank beyond ASCII is a letter; quoted parts stay unchanged.
    static func withoutLayout(_ sql: String) -> String {
        var kept: [UInt8] = []
        var quote: UInt8?
        var isBehindBlank = false
        for byte in sql.utf8 {
            if let end = quote {
                kept.append(byte)
                if byte == end { quote = nil }
                continue
            }
            if byte == 32 || (9...13).contains(byte) {
                isBehindBlank = true
                continue
            }
            if isBehindBlank, let last = kept.last, joins(last), joins(byte) { kept.append(32) }
            isBehindBlank = false
            kept.append(byte)
            quote = quotes[byte]
        }
        return String(decoding: kept, as: UTF8.self)
    }

    private static let quotes: [UInt8: UInt8] = [
        UInt8(ascii: "'"): UInt8(ascii: "'"), UInt8(ascii: "\""): UInt8(ascii: "\""),
        UInt8(ascii: "`"): UInt8(ascii: "`"), UInt8(ascii: "["): UInt8(ascii: "]"),
    ]

    /// Whether a byte belongs to something that a blank separates: words, numbers, quotations and multi-byte
    /// characters.
    private static func joins(_ byte: UInt8) -> Bool { !"(),;".utf8.contains(byte) }

    /// Returns a foreign name, shortened and on one line.
    private static func shown(_ name: String) -> String {
        String(name.unicodeScalars.prefix(60).map { $0.value < 33 || $0.value > 126 ? "?" : Character($0) })
    }
}
