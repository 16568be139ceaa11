// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StorageSQLite
import TestSupport
import Testing

@testable import Storage

@Suite("The schema's history")
struct SchemaHistoryTests {
    /// The statements of each released version, as files that are never written again.
    private static let folder = packageRoot.appending(path: "Tests/SchemaHistory")
    private static let mark = "\n;\n"

    private static func file(_ version: Int) -> URL {
        folder.appending(path: "\(version < 10 ? "0" : "")\(version).sql")
    }

    private static func landed(_ version: Int) throws -> [String] {
        try String(contentsOf: file(version), encoding: .utf8).components(separatedBy: mark).dropLast()
    }

    @Test("No version is other than when it was released; KALENDS_WRITE_DOCS=1 writes the files of new ones")
    func unchanged() throws {
        let isWriting = ProcessInfo.processInfo.environment["KALENDS_WRITE_DOCS"] != nil
        for (index, statements) in Schema.migrations.enumerated() {
            let file = Self.file(index + 1)
            if isWriting, !FileManager.default.fileExists(atPath: file.path) {
                try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
                try Data(statements.map { $0 + Self.mark }.joined().utf8).write(to: file)
            }
            #expect(try Self.landed(index + 1) == statements, "version \(index + 1)")
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(files.count == Schema.migrations.count)
    }

    /// Rows of every kind in the first version.
    static let rows = [
        """
        INSERT INTO circles (id, name, time_zone, version, changed_at, created_at, updated_at)
        VALUES ('home', 'Zuhause ☕', 'Europe/Vienna', 7, 5, 1, 5)
        """,
        """
        INSERT INTO members (circle_id, user_id, display_name, role, created_at, updated_at)
        VALUES ('home', 'ann', 'Ann', 'owner', 1, 2)
        """,
        """
        INSERT INTO schedule_items (circle_id, collection, id, uid, sequence, is_all_day, starts_at, ends_at, content,
            created_at, updated_at)
        VALUES ('home', 'tasks', 't', 'u1', 3, 0, 1000, 2000, '{"title":"Tëa"}', 1, 2)
        """,
        """
        INSERT INTO feeds (id, circle_id, user_id, label, config, shown_changed_at, config_changed_at, token_hint,
            sealed_token, created_at, updated_at, access_count)
        VALUES ('f', 'home', 'ann', 'phone', '{"pastDays":7}', 1, 2, 'abcd', 'v1.sealed', 1, 2, 2)
        """,
        "INSERT INTO feed_clients (feed_id, client, access_count, last_seen_at) VALUES ('f', 'apple', 2, 4)",
        "INSERT INTO feed_tokens (hash, feed_id, created_at) VALUES ('\(String(repeating: "a", count: 64))', 'f', 1)",
        "INSERT INTO settings VALUES ('prunedAt', '9')",
    ]

    /// Creates a database as a program of some version left it.
    private static func make(_ path: String, version: Int) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE schema_migrations (version BIGINT NOT NULL PRIMARY KEY)")
            for number in 1...version {
                for statement in try landed(number) {
                    try db.execute(sql: statement.replacing("/* clustered */", with: "WITHOUT ROWID"))
                }
                try db.execute(sql: "INSERT INTO schema_migrations VALUES (?)", arguments: [number])
                if number == 1 { for row in rows { try db.execute(sql: row) } }
            }
        }
        try queue.close()
    }

    /// Returns the whole database as text: its schema and every row.
    private static func dump(_ path: String) throws -> [String] {
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration).read { db in
            var lines = try String.fetchAll(
                db, sql: "SELECT type || ' ' || name || ' ' || COALESCE(sql, '') FROM sqlite_master ORDER BY 1")
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            for table in tables {
                lines += try Row.fetchAll(db, sql: "SELECT * FROM \(table)").map { "\(table) \($0)" }.sorted()
            }
            return lines
        }
    }

    @Test("A database of every version that was released keeps its data, and is then as a new one", arguments: 1...32)
    func migrates(_ version: Int) async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite").path
            try Self.make(path, version: version)
            let store = try SQLiteStore(path: path)
            try await store.checkSchema()
            #expect(try await store.valueFaults().isEmpty)
            try await store.read { transaction throws in
                #expect(try transaction.circle("home")?.name == "Zuhause ☕")
                let feed = try #require(try transaction.feed("f"))
                #expect(feed.config == #"{"pastDays":7}"# && feed.label == "phone" && feed.accessCount == 2)
                #expect(try transaction.setting("prunedAt") == "9")
                let contents = try transaction.rows("SELECT content FROM schedule_items", [])
                #expect(try contents.map { try $0.text(required: "content") } == [#"{"title":"Tëa"}"#])
            }
            try store.close()
            try SchemaCheck.check(path: path)
        }
    }

    @Test("The versions that are tried are all but the last")
    func complete() { #expect(Schema.migrations.count == 33) }

    @Test(
        "A migration that fails leaves the database as it was, for the earlier program",
        arguments: [1, 5, 13, 20, 23])
    func failure(_ version: Int) async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite").path
            try Self.make(path, version: version)
            // In the way of a version further on, so that those before it have done their work by then.
            func made(_ versions: ArraySlice<[String]>) -> [Substring] {
                versions.joined().compactMap { $0.firstMatch(of: /^\s*CREATE TABLE (\w+)/)?.output.1 }
            }
            let there = Set(made(Schema.migrations.prefix(version)))
            let late = try #require(made(Schema.migrations.dropFirst(version)).last { !there.contains($0) })
            let queue = try DatabaseQueue(path: path)
            try await queue.write { try $0.execute(sql: "CREATE TABLE \(late) (other TEXT)") }
            try queue.close()
            let before = try Self.dump(path)
            for _ in 0..<2 {
                #expect(throws: StorageError.self) { try SQLiteStore(path: path) }
                #expect(try Self.dump(path) == before)
            }
            try await DatabaseQueue(path: path).write { try $0.execute(sql: "DROP TABLE \(late)") }
            let store = try SQLiteStore(path: path)
            try await store.checkSchema()
            try store.close()
        }
    }
}
