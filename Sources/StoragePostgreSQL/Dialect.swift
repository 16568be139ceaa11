// SPDX-License-Identifier: Apache-2.0

/// The statements that are written once for all engines, in PostgreSQL's words.
///
/// Each is rewritten once for a connection. What is rewritten is named here and nowhere else: the statements are the
/// program's own, and none of them holds a text in which one of these words could stand.
enum Dialect {
    static func adapted(_ statement: String) -> String {
        var sql = statement
        if sql.hasPrefix("CREATE TABLE") || sql.hasPrefix("ALTER TABLE") {
            // In the order of its bytes, which is that of its code points, whatever the database's language: an update of
            // the system's languages would break the indexes of any other order.
            sql.replace(/\bTEXT\b/, with: "TEXT COLLATE \"C\"")
            sql.replace("/* clustered */", with: "")
        }
        if sql.contains(" LIKE ") {
            // SQLite's takes capitals for small letters within ASCII; so does this one where the order is by bytes.
            sql.replace(" LIKE ", with: " ILIKE ")
        }
        if sql.contains("AS BLOB") {
            sql.replace(/length\(CAST\((\w+) AS BLOB\)\)/) { "octet_length(\($0.1))" }
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
        // It keeps SQLite from an index that it takes for better than it is.
        sql.replace(/([ (])\+([a-z])/) { "\($0.1)\($0.2)" }
        return sql
    }
}
