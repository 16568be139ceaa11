// SPDX-License-Identifier: Apache-2.0

import Base
import Crypto
import Foundation
import GRDB
import Testing

@testable import Storage
@testable import StorageSQLite

@Suite("The schema's history")
struct SchemaHistoryTests {
    /// The SHA-256 of each version's statements.
    private static let known = ["a23681c5f095fe75af6fd2a825e64072478424559c662a5425b750fe7d12ea21"]

    @Test("No version's statements change; what the schema gets besides is a version of its own, at the list's end")
    func unchanged() {
        let digests = Schema.migrations.map { statements in
            Hexadecimal.text(SHA256.hash(data: Data(statements.joined(separator: "\n").utf8)))
        }
        #expect(
            digests == Self.known,
            "Once version 1 is released, add a version instead of changing one, and its digest here.")
    }

    /// Rows in tables that refer to each other, of every kind of column.
    static let rows = [
        """
        INSERT INTO circles (id, name, time_zone, version, changed_at, created_at, updated_at)
        VALUES ('home', 'Zuhause ☕', 'Europe/Vienna', 7, 5, 1, 5)
        """,
        """
        INSERT INTO members (circle_id, user_id, display_name, role, created_at, updated_at)
        VALUES ('home', 'ann', 'Ann', 'owner', 1, 2), ('home', 'bob', 'Bob', 'viewer', 1, 2)
        """,
        """
        INSERT INTO schedule_items (circle_id, collection, id, uid, sequence, is_all_day, starts_at, ends_at, content,
            created_at, updated_at, changed_in, shown_in, shown_as)
        VALUES ('home', 'tasks', 't', 'u1', 3, 0, 1000, 2000, '{"title":"Tëa"}', 1, 2, 4, NULL, NULL),
            ('home', 'appointments', 'a', 'u2', 2, 0, 1000, NULL, '{}', 1, 2, 5, 4, 'updated')
        """,
        """
        INSERT INTO occurrences (circle_id, collection, item_id, original_start, starts_at, ends_at, content,
            created_at, updated_at)
        VALUES ('home', 'appointments', 'a', '20260121T090000Z', 3, 4, '{"status":"cancelled"}', 1, 2)
        """,
        """
        INSERT INTO feeds (id, circle_id, user_id, label, config, shown_changed_at, config_changed_at, token_hint,
            sealed_token, created_at, updated_at, number)
        VALUES ('f', 'home', 'ann', 'phone', '{"pastDays":7}', 1, 2, 'abcd', 'v1.sealed', 1, 2, 1)
        """,
        """
        INSERT INTO feed_clients (feed, client, access_count, last_seen_at, last_sequence) VALUES (1, 2, 2, 4, 5)
        """,
        "INSERT INTO feed_tokens (hash, feed_id, created_at) VALUES ('\(hash("f"))', 'f', 1)",
        """
        INSERT INTO connections (id, circle_id, user_id, provider, state, state_at, config, created_at, updated_at)
        VALUES ('k', 'home', 'ann', 'google', 'active', 4, '{"twoWay":true}', 1, 2)
        """,
        """
        INSERT INTO sync_links (connection_id, collection, item_id, state, external_id, since_at, content)
        VALUES ('k', 'tasks', 't', 'linked', 'e1', 5, '{}'), ('k', 'tasks', 'x', 'deleted', NULL, 6, '{}')
        """,
        "UPDATE counters SET last_number = 9 WHERE name = 'writesForgotten'",
        "INSERT INTO settings (name, value) VALUES ('prunedAt', '9')",
    ]

    /// The schema as a program of the next version knows it; one that is no expansion may create a table again.
    static func next(isExpansion: Bool) -> SchemaHistory {
        var history = SchemaHistory()
        history.migrations.append(
            ["ALTER TABLE settings ADD COLUMN remark TEXT", "CREATE TABLE remarks (id BIGINT NOT NULL PRIMARY KEY)"]
                + (isExpansion ? [] : occurrencesAgain))
        if isExpansion { history.expansions.insert(history.latest) }
        return history
    }

    private static var occurrencesAgain: [String] {
        let table: SchemaTable = "occurrences"
        let columns = table.columns.joined(separator: ", ")
        func statements(_ beginning: String) -> [String] {
            Schema.migrations.joined().filter { $0.hasPrefix("\(beginning) \(table.name) ") }
        }
        return ["ALTER TABLE \(table.name) RENAME TO former_occurrences"]
            + statements("CREATE TABLE").map { $0.hasSuffix("/* clustered */") ? $0 : $0 + " /* clustered */" }
            + statements("ALTER TABLE")
            + [
                "INSERT INTO \(table.name) (\(columns)) SELECT \(columns) FROM former_occurrences",
                "DROP TABLE former_occurrences",
            ]
    }

    /// What a database of a history's latest version has recorded, which tells an earlier program whether it may work with
    /// it; nil for nothing.
    private static func recorded(_ history: SchemaHistory) -> String? {
        history.oldest < history.latest ? String(history.oldest) : nil
    }

    /// Creates a database of this version with rows.
    private static func make(_ path: String) async throws {
        let store = try SQLiteStore(path: path)
        try await store.record { transaction in
            for row in Self.rows { try transaction.execute(row, []) }
        }
        try store.close()
    }

    /// Opens a database as the program that knows a history does.
    private static func migrate(_ path: String, _ history: SchemaHistory) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        try Schema.migrate(SQLiteMigrationTarget(pool: queue), history)
    }

    private static func read<Value>(_ path: String, _ body: (Database) throws -> Value) throws -> Value {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read(body)
    }

    private static func schema(_ path: String) throws -> [String] {
        try read(path) { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT type || ' ' || name || ' ' || COALESCE(sql, '') FROM sqlite_master
                    WHERE name NOT LIKE 'sqlite_stat%' ORDER BY 1
                    """)
        }
    }

    /// Returns every row of some tables with some of its columns, as text that shows types.
    private static func contents(_ path: String, _ tables: [SchemaTable]) throws -> [String: [String]] {
        try read(path) { db -> [String: [String]] in
            var found: [String: [String]] = [:]
            for table in tables {
                let all = table.columns.map { "quote(\"\($0)\")" }.joined(separator: " || ' ' || ")
                found[table.name] = try String.fetchAll(db, sql: "SELECT \(all) AS row FROM \(table.name) ORDER BY row")
            }
            return found
        }
    }

    @Test("A new database is as the check expects it")
    func new() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite").path
            try await Self.make(path)
            try SchemaCheck.check(path: path)
            let store = try SQLiteStore(path: path)
            try await store.checkSchema()
            #expect(try await store.valueFaults().isEmpty)
            let recorded = try await store.read { try $0.setting(Schema.oldestSetting) }
            #expect(recorded == Self.recorded(SchemaHistory()))
            try store.close()
        }
    }

    @Test("The next version keeps every row, and is then as in a new database", arguments: [true, false])
    func migrates(isExpansion: Bool) async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite").path
            try await Self.make(path)
            let before = try Self.contents(path, Schema.tables)
            #expect(before.values.count { !$0.isEmpty } >= 10)
            let history = Self.next(isExpansion: isExpansion)
            try Self.migrate(path, history)
            let after = try Self.contents(path, Schema.tables)
            func settings(_ contents: [String: [String]], areOldest: Bool) -> [String]? {
                contents["settings"]?.filter { $0.hasPrefix("'\(Schema.oldestSetting)' ") == areOldest }
            }
            let recorded = Self.recorded(history).map { ["'\(Schema.oldestSetting)' '\($0)'"] } ?? []
            #expect((recorded != []) == isExpansion)
            #expect(settings(after, areOldest: true) == recorded)
            #expect(settings(after, areOldest: false) == settings(before, areOldest: false))
            for (table, rows) in before where table != "settings" { #expect(after[table] == rows, "\(table)") }

            let other = directory.appending(path: "new.sqlite").path
            try Self.migrate(other, history)
            #expect(try Self.schema(path) == Self.schema(other))
            let versions = try Self.read(path) { try Int.fetchAll($0, sql: "SELECT version FROM schema_migrations") }
            #expect(versions.sorted() == Array(1...history.latest))

            // A program that has the database to itself works with no version that it does not know.
            let (left, newer) = (
                try Self.contents(path, Schema.tables),
                StorageError.newerSchema(found: history.latest, known: SchemaHistory().latest)
            )
            #expect(throws: newer) { try SQLiteStore(path: path) }
            #expect(throws: newer) { try SchemaCheck.check(path: path) }
            #expect(try Self.contents(path, Schema.tables) == left)
        }
    }

    @Test("A migration that fails leaves the database as it was, for the earlier program", arguments: [true, false])
    func failure(isExpansion: Bool) async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite").path
            try await Self.make(path)
            let before = (try Self.schema(path), try Self.contents(path, Schema.tables))
            var history = Self.next(isExpansion: isExpansion)
            // This blocks the last statement, so that those before it have done their work by then.
            history.migrations[history.latest - 1].append("CREATE TABLE circles (other TEXT)")
            for _ in 0..<2 {
                #expect(throws: (any Error).self) { try Self.migrate(path, history) }
                #expect(try Self.schema(path) == before.0)
                #expect(try Self.contents(path, Schema.tables) == before.1)
            }
            let store = try SQLiteStore(path: path)
            try await store.checkSchema()
            #expect(try await store.read { try $0.circle("home")?.name } == "Zuhause ☕")
            try store.close()
            try Self.migrate(path, Self.next(isExpansion: isExpansion))
        }
    }
}
