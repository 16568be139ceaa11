// SPDX-License-Identifier: Apache-2.0

public import Storage

extension PostgreSQLStore {
    public func engineVersion() async throws -> String {
        try await read { try $0.rows("SELECT current_setting('server_version') AS version", []) }.first?.text("version")
            ?? "unknown"
    }

    public func size() async throws -> Int {
        try await read { try $0.rows("SELECT pg_database_size(current_database()) AS bytes", []) }.first?
            .integer("bytes") ?? 0
    }

    /// Reads every row of every table, with all of its columns, and checks that each refers to one that exists.
    ///
    /// Damage that the server finds is a separate error; page checksums are checked when the cluster has them.
    public func integrityCheck() async throws -> String {
        var found: [String] = []
        for table in Schema.tables {
            do {
                try await read { reader in
                    let columns = table.columns.map { "hashtext(\"\($0)\"::text)" }.joined(separator: " # ")
                    _ = try reader.rows("SELECT bit_xor(\(columns)) AS sum FROM \(table.name)", [])
                }
            } catch StorageError.diskFailed(let code) {
                found.append("the table \(table.name) cannot be read (\(code))")
            } catch StorageError.refused(let state) where state.hasPrefix("XX") {
                found.append("the table \(table.name) cannot be read (\(state))")
            }
        }
        for fault in try await danglingReferences() { found.append(fault.description) }
        return found.isEmpty ? "ok" : found.joined(separator: "; ")
    }

    /// Does nothing: the server renews its own statistics, and a backup cannot bring any from elsewhere.
    public func forgetStatistics() async throws {}

    /// Returns the first rows with a value that is out of its column's range or refers to nothing. The server ensures
    /// that each value has its column's type, and each text is UTF-8 without a NUL.
    public func valueFaults() async throws -> [StoredFault] {
        var faults: [StoredFault] = []
        for table in Schema.tables where faults.count < StoredFault.limit {
            faults += try await read { try Self.faults(in: table, $0) }
        }
        faults += try await read(Self.settingFaults)
        if faults.count < StoredFault.limit { faults += try await danglingReferences() }
        return Array(faults.prefix(StoredFault.limit))
    }

    private static func faults(in table: SchemaTable, _ reader: any ReadTransaction) throws -> [StoredFault] {
        let numbers = Set(
            try reader.rows(
                """
                SELECT attname AS name FROM pg_attribute
                WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped AND atttypid = 'bigint'::regtype
                """, [.text(table.name)]
            ).map { ByteString(try $0.text(required: "name")) })
        let conditions = table.columns.compactMap { column -> (column: String, sql: String)? in
            guard numbers.contains(ByteString(column)) else {
                return (column, "octet_length(\"\(column)\") > \(ColumnRules.longestText)")
            }
            return ColumnRules.range(table.name, column).map { range in
                (column, "\"\(column)\" NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)")
            }
        }
        guard !conditions.isEmpty else { return [] }
        let keys = table.key.map { key in
            numbers.contains(ByteString(key)) ? "\"\(key)\"::text" : "quote_literal(substr(\"\(key)\", 1, 80))"
        }
        let cases = conditions.map { "WHEN \($0.sql) THEN '\($0.column)'" }.joined(separator: " ")
        return try reader.rows(
            """
            SELECT \(keys.joined(separator: " || ' ' || ")) AS key, CASE \(cases) END AS place FROM \(table.name)
            WHERE \(conditions.map(\.sql).joined(separator: " OR ")) LIMIT \(StoredFault.limit)
            """, []
        ).map { row in
            StoredFault(
                table: table.name, row: row.text("key") ?? "",
                reason: "\(row.text("place") ?? "a column") holds an invalid value")
        }
    }

    private static func settingFaults(_ reader: any ReadTransaction) throws -> [StoredFault] {
        try reader.rows("SELECT name, value FROM settings", []).compactMap { row in
            guard let name = row.text("name"), let range = ColumnRules.setting(name) else { return nil }
            if let text = row.text("value"), let number = Int(text), range.contains(number) { return nil }
            return StoredFault(table: "settings", row: "'\(name)'", reason: "its value is invalid")
        }
    }

    /// Returns rows that refer to missing ones, which a server accepts while its triggers are switched off.
    private func danglingReferences() async throws -> [StoredFault] {
        let keys = try await read { reader in
            try reader.rows(
                """
                SELECT c.conrelid::regclass::text AS child, c.confrelid::regclass::text AS parent,
                    (SELECT string_agg(format('p.%I = c.%I', f.attname, a.attname), ' AND ')
                        FROM unnest(c.conkey, c.confkey) AS k (own, other)
                        JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k.own
                        JOIN pg_attribute AS f ON f.attrelid = c.confrelid AND f.attnum = k.other) AS same,
                    (SELECT string_agg(format('c.%I IS NOT NULL', a.attname), ' AND ')
                        FROM unnest(c.conkey) AS k (own)
                        JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k.own) AS filled
                FROM pg_constraint AS c
                WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace
                """, [])
        }
        var faults: [StoredFault] = []
        for key in keys {
            let (child, parent) = (try key.text(required: "child"), try key.text(required: "parent"))
            let (same, filled) = (try key.text(required: "same"), try key.text(required: "filled"))
            let count = try await read { reader in
                try reader.rows(
                    """
                    SELECT COUNT(*) AS count FROM \(child) AS c
                    WHERE \(filled) AND NOT EXISTS (SELECT 1 FROM \(parent) AS p WHERE \(same))
                    """, []
                ).first?.integer("count") ?? 0
            }
            if count > 0 {
                faults.append(
                    StoredFault(
                        table: child, row: "",
                        reason: "\(count) of its rows belong to a row of \(parent) that is not there"))
            }
        }
        return faults
    }
}
