// SPDX-License-Identifier: Apache-2.0

internal import GRDB
public import Storage

extension SQLiteStore {
    /// Throws `StorageError` unless the schema is exactly ours.
    public func checkSchema() async throws {
        try await withConnection { [self] in try await pool.read(SchemaCheck.check) }
    }

    /// Removes the statistics of SQLite's planner, which somebody else may have written.
    public func forgetStatistics() async throws {
        try await Self.inOurWords { [self] in
            try await pool.writeWithoutTransaction { db in
                for table in SchemaCheck.statistics { try db.execute(sql: "DROP TABLE IF EXISTS \(table)") }
            }
        }
    }

    /// Returns the first rows with a value that has the wrong type, is out of its range, or refers to nothing.
    public func valueFaults() async throws -> [StoredFault] {
        try await withConnection { [self] in try await faultsOfValues() }
    }

    private func faultsOfValues() async throws -> [StoredFault] {
        let tables = try await pool.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        }
        var faults: [StoredFault] = []
        // Each table is read in its own transaction: a long one keeps the log from being checkpointed.
        for table in tables where !table.hasPrefix("sqlite_") && faults.count < StoredFault.limit {
            faults += try await pool.read { db in try Self.faults(in: table, db) }
        }
        faults += try await pool.read(Self.settingFaults)
        if faults.count < StoredFault.limit { faults += try await pool.read(Self.danglingReferences) }
        return Array(faults.prefix(StoredFault.limit))
    }

    private static func faults(in table: String, _ db: Database) throws -> [StoredFault] {
        let columns = try Row.fetchAll(
            db, sql: "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?)", arguments: [table])
        var conditions: [(column: String, sql: String)] = []
        var texts: [String] = []
        for column in columns {
            let (name, type, isRequired) = (column[0] as String, column[1] as String, column[2] as Bool)
            let quoted = "\"\(name)\""
            var wrong: [String] = []
            if type == "BIGINT" {
                wrong.append("typeof(\(quoted)) <> 'integer'")
                if let range = ColumnRules.range(table, name) {
                    wrong.append("\(quoted) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)")
                }
            } else {
                // The conditions that follow are not evaluated for a text that would fill the memory.
                wrong.append("length(CAST(\(quoted) AS BLOB)) > \(ColumnRules.longestText)")
                // SQLite reads a text up to its first NUL.
                wrong.append("typeof(\(quoted)) <> 'text' OR instr(CAST(\(quoted) AS BLOB), x'00') > 0")
                texts.append("COALESCE(\(quoted), '')")
            }
            let isWrong = "(\(wrong.joined(separator: " OR ")))"
            conditions.append((name, isRequired ? isWrong : "(\(quoted) IS NOT NULL AND \(isWrong))"))
        }
        guard !conditions.isEmpty else { return [] }
        if !texts.isEmpty {
            // There is one call for each row; the blank keeps the beginning of a text from completing the end of the
            // one before.
            db.add(function: isUTF8)
            conditions.append(
                ("a text", "NOT \(isUTF8.name)(CAST(\(texts.joined(separator: " || ' ' || ")) AS BLOB))"))
        }
        let keys = columns.filter { ($0[3] as Int) > 0 }.map { "quote(substr(\"\($0[0] as String)\", 1, 80))" }
        let cases = conditions.map { "WHEN \($0.sql) THEN '\($0.column)'" }.joined(separator: " ")
        return try Row.fetchAll(
            db,
            sql: """
                SELECT \(keys.isEmpty ? "''" : keys.joined(separator: " || ' ' || ")), CASE \(cases) END FROM "\(table)"
                WHERE \(conditions.map(\.sql).joined(separator: " OR ")) LIMIT \(StoredFault.limit)
                """
        ).map { row in
            StoredFault(
                table: table, row: (row[0] as String?) ?? "",
                reason: "\((row[1] as String?) ?? "a column") holds an invalid value")
        }
    }

    /// Whether bytes are UTF-8: others would not be read as they were stored.
    private static let isUTF8 = DatabaseFunction("kalends_is_utf8", argumentCount: 1, pure: true) { values in
        switch values[0].storage {
        case .blob(let bytes): String(validating: Array(bytes), as: UTF8.self) != nil
        default: values[0].isNull
        }
    }

    private static func settingFaults(_ db: Database) throws -> [StoredFault] {
        try Row.fetchAll(db, sql: "SELECT name, value FROM settings").compactMap { row in
            guard let name = row[0] as String?, let range = ColumnRules.setting(name) else { return nil }
            if let text = row[1] as String?, let number = Int(text), range.contains(number) { return nil }
            return StoredFault(table: "settings", row: "'\(name)'", reason: "its value is invalid")
        }
    }

    private static func danglingReferences(_ db: Database) throws -> [StoredFault] {
        try Row.fetchAll(
            db, sql: "SELECT \"table\", rowid, parent FROM pragma_foreign_key_check LIMIT \(StoredFault.limit)"
        ).map { row in
            StoredFault(
                table: (row[0] as String?) ?? "", row: (row[1] as Int?).map(String.init) ?? "",
                reason: "it belongs to a row of \((row[2] as String?) ?? "another table") that is not there")
        }
    }
}

/// The shard of an id in a statement.
let shardNumber = DatabaseFunction("kalends_shard", argumentCount: 1, pure: true) { values in
    String.fromDatabaseValue(values[0]).map(Shards.number(of:))
}
