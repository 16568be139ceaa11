// SPDX-License-Identifier: Apache-2.0

internal import Storage

/// Checks that a database has exactly our schema: a trigger or a rule would act on what the program does later.
///
/// The program's own statements create the expected schema beside it, in a transaction that is rolled back.
enum CatalogCheck {
    private struct Entry: Hashable {
        var type: ByteString
        var name: ByteString
        var definition: ByteString
    }

    /// Carries the result out of a transaction that is rolled back.
    private struct RolledBack: Error {
        var expected: Set<Entry>
    }

    /// Throws `StorageError.unusable` with the first difference.
    static func check(_ store: PostgreSQLStore) async throws {
        let (found, numbers) = try await store.read { reader in
            (
                try entries(reader),
                try reader.rows("SELECT version FROM schema_migrations ORDER BY version", []).map {
                    $0.integer("version")
                }
            )
        }
        let known = store.history.latest
        if let last = numbers.last ?? nil, last > known { throw Schema.refusal(found: last, known: known) }
        guard numbers == (0..<numbers.count).map({ $0 + 1 }) else {
            throw StorageError.unusable("Its versions are not those that Kalends counts.")
        }
        let expected = try await expected(store, upTo: numbers.count)
        if let strange = found.subtracting(expected).min(by: { ($0.type, $0.name) < ($1.type, $1.name) }) {
            let isKnown = expected.contains { $0.name == strange.name && $0.type == strange.type }
            throw StorageError.unusable(
                isKnown
                    ? "The \(strange.type) \(strange.name) is not as Kalends makes it."
                    : "It has the \(strange.type) \(shown(strange.name.string)), which is not one of Kalends.")
        }
        if let missing = expected.subtracting(found).min(by: { $0.name < $1.name }) {
            throw StorageError.unusable("The \(missing.type) \(missing.name) is missing.")
        }
    }

    private static func expected(_ store: PostgreSQLStore, upTo version: Int) async throws -> Set<Entry> {
        do {
            try await store.record { transaction in
                // Both the schema and the search path end with the transaction.
                try transaction.execute("CREATE SCHEMA kalends_expected", [])
                _ = try transaction.rows("SELECT set_config('search_path', 'kalends_expected', true)", [])
                try Schema.migrate(Inside(transaction: transaction), upTo: version, store.history)
                throw RolledBack(expected: try entries(transaction))
            }
        } catch let rolledBack as RolledBack {
            return rolledBack.expected
        }
        return []
    }

    /// A transaction under way, as the target of migrations.
    private struct Inside: MigrationTarget {
        let transaction: any WriteTransaction
        func adapted(_ statement: String) -> String { statement }
        func transaction(_ body: (any WriteTransaction) throws -> Void) throws { try body(transaction) }
    }

    private static func entries(_ reader: any ReadTransaction) throws -> Set<Entry> {
        Set(
            try reader.rows(catalog, []).map { row in
                Entry(
                    type: ByteString(try row.text(required: "type")), name: ByteString(try row.text(required: "name")),
                    definition: ByteString(row.text("definition") ?? ""))
            })
    }

    /// Selects everything in the schema that belongs to no extension, each object in the server's own form.
    private static let catalog = """
        WITH place AS (SELECT current_schema()::regnamespace AS oid, quote_ident(current_schema()) || '.' AS prefix),
        relations AS (
            SELECT c.* FROM pg_class AS c JOIN place ON place.oid = c.relnamespace
            WHERE NOT EXISTS (SELECT 1 FROM pg_depend AS d
                WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'))
        SELECT CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'view' WHEN 'S' THEN 'sequence'
                ELSE 'relation' END AS type, c.relname::text AS name,
            concat_ws(' ', c.relkind, c.relpersistence, c.relrowsecurity, c.relispartition) AS definition
        FROM relations AS c WHERE c.relkind NOT IN ('i', 't')
        UNION ALL
        SELECT 'column', c.relname || '.' || a.attname,
            concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated,
                (SELECT l.collname FROM pg_collation AS l WHERE l.oid = a.attcollation),
                (SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef AS d
                    WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum))
        FROM relations AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relkind = 'r'
        UNION ALL
        SELECT 'rule', c.relname || '.' || k.conname, pg_get_constraintdef(k.oid) || ' ' || k.convalidated
        FROM relations AS c JOIN pg_constraint AS k ON k.conrelid = c.oid
        UNION ALL
        SELECT 'index', c.relname, replace(pg_get_indexdef(c.oid), place.prefix, '') || ' ' || x.indisvalid
        FROM relations AS c JOIN pg_index AS x ON x.indexrelid = c.oid CROSS JOIN place
        UNION ALL
        SELECT 'trigger', c.relname || '.' || t.tgname, ''
        FROM relations AS c JOIN pg_trigger AS t ON t.tgrelid = c.oid AND NOT t.tgisinternal
        UNION ALL
        SELECT 'trigger', c.relname || ' of the server', '' FROM relations AS c
        JOIN pg_trigger AS t ON t.tgrelid = c.oid AND t.tgisinternal AND t.tgenabled <> 'O'
        UNION ALL
        SELECT 'rewriting', c.relname || '.' || r.rulename, ''
        FROM relations AS c JOIN pg_rewrite AS r ON r.ev_class = c.oid AND c.relkind = 'r'
        UNION ALL
        SELECT 'policy', c.relname || '.' || p.polname, ''
        FROM relations AS c JOIN pg_policy AS p ON p.polrelid = c.oid
        UNION ALL
        SELECT 'function', p.proname::text, '' FROM pg_proc AS p JOIN place ON place.oid = p.pronamespace
        WHERE NOT EXISTS (SELECT 1 FROM pg_depend AS d
            WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
        """

    /// Returns a foreign name, shortened and on one line.
    private static func shown(_ name: String) -> String {
        String(name.unicodeScalars.prefix(60).map { $0.value < 33 || $0.value > 126 ? "?" : Character($0) })
    }
}

extension PostgreSQLStore {
    public func checkSchema() async throws { try await CatalogCheck.check(self) }
}
