// SPDX-License-Identifier: Apache-2.0

internal import Storage

/// Translates the statements, which are written once for all engines, to PostgreSQL.
///
/// Each is rewritten once for a connection, and only as written here: the statements are the program's own, and none of
/// them contains a literal in which one of these words could occur.
enum Dialect {
    static func adapted(_ statement: String) -> String {
        var sql = statement
        if sql.hasPrefix("CREATE TABLE") || sql.hasPrefix("ALTER TABLE") {
            // Texts are ordered by their bytes, which is the order of their code points, whatever the database's
            // locale: an update of the system's locales would break the indexes of any other order.
            sql.replace(/\bTEXT\b/, with: "TEXT COLLATE \"C\"")
            sql.replace("/* clustered */", with: "")
        }
        if sql.contains(" LIKE ") {
            // SQLite's LIKE ignores case within ASCII; ILIKE does the same where the order is by bytes.
            sql.replace(" LIKE ", with: " ILIKE ")
        }
        if sql.contains("AS BLOB") {
            sql.replace(/length\(CAST\(([\w.]+) AS BLOB\)\)/) { "octet_length(\($0.1))" }
            sql.replace(/hex\(CAST\((\w+) AS BLOB\)\)/) { "upper(encode(convert_to(\($0.1), 'UTF8'), 'hex'))" }
        }
        if sql.contains("typeof(") {
            sql.replace(/typeof\((\w+)\)/) { found in
                """
                CASE WHEN \(found.1) IS NULL THEN 'null' WHEN pg_typeof(\(found.1))::text = 'bigint' THEN 'integer'
                ELSE 'text' END
                """
            }
        }
        // The plus keeps SQLite from using an index that it overestimates.
        sql.replace(/([ (])\+([a-z])/) { "\($0.1)\($0.2)" }
        return withNamedColumns(sql)
    }

    /// Names the columns where a statement selects all of them: a newer program may add one while this one is running,
    /// and a prepared statement that returns all columns would fail from then on.
    private static func withNamedColumns(_ statement: String) -> String {
        guard statement.utf8.contains(UInt8(ascii: "*")) else { return statement }
        var sql = statement
        sql.replace(/SELECT \* FROM (\w+)/) { found in
            list(found.1).map { "SELECT \($0) FROM \(found.1)" } ?? String(found.0)
        }
        sql.replace(/RETURNING \*/) { found in
            let table = statement.firstMatch(of: /(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)/)?.1
            return table.flatMap { list($0) }.map { "RETURNING \($0)" } ?? String(found.0)
        }
        sql.replace(/(\w+)\.\*/) { found in
            let alias = found.1
            let table = statement.matches(of: /(\w+) AS (\w+)/).first { same($0.2, alias) }?.1 ?? alias
            return list(table, of: alias) ?? String(found.0)
        }
        return sql
    }

    /// Returns the columns of a table of the schema, as `a, b` or `t.a, t.b`; nil for any other table.
    private static func list(_ table: Substring, of alias: Substring? = nil) -> String? {
        guard let columns = Schema.tables.first(where: { same($0.name[...], table) })?.columns else { return nil }
        let prefix = alias.map { "\($0)." } ?? ""
        return columns.map { prefix + $0 }.joined(separator: ", ")
    }

    private static func same(_ one: Substring, _ other: Substring) -> Bool { one.utf8.elementsEqual(other.utf8) }
}
