// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StorageSQLite
import Testing

@testable import Storage

@Suite("Databases of earlier versions")
struct SchemaUpgradeTests {
    /// A version that created tables, by its name, and the rows of a database of that version.
    private struct Stage: Sendable {
        var name: String
        var statements: [String]
        var rows: [String]
    }

    /// The stages in the order of the schema's history, from the versions of events on.
    private static let stages: [Stage] = [
        Stage(
            name: "eventVersions", statements: Schema.eventVersions,
            rows: [
                """
                INSERT INTO circles (id, name, time_zone, version, changed_at, created_at, updated_at)
                VALUES ('home', 'Home', 'Europe/Vienna', 7, 5, 1, 5)
                """,
                """
                INSERT INTO members (circle_id, user_id, display_name, role, created_at, updated_at)
                VALUES ('home', 'ann', 'Ann', 'owner', 1, 2), ('home', 'bob', 'Bob', 'viewer', 1, 2)
                """,
                """
                INSERT INTO schedule_items (circle_id, collection, id, uid, sequence, is_all_day, starts_at, ends_at,
                    content, created_at, updated_at, changed_in)
                VALUES ('home', 'tasks', 't', 'u1', 3, 0, 1000, 2000, '{"title":"Tëa ☕"}', 1, 2, 4)
                """,
                """
                INSERT INTO feeds (id, circle_id, user_id, config, shown_changed_at, config_changed_at, token_hint,
                    sealed_token, created_at, updated_at, number)
                VALUES ('f', 'home', 'ann', '{"pastDays":7}', 1, 2, 'abcd…', 'v1.sealed', 1, 2, 1)
                """,
            ]),
        Stage(
            name: "connections", statements: Schema.connections,
            rows: [
                """
                INSERT INTO connections (id, circle_id, user_id, provider, label, account_id, account_name,
                    calendar_id, calendar_name, state, state_at, config, last_sync_at, last_sync_status, failures,
                    next_sync_at, created_at, updated_at)
                VALUES ('k', 'home', 'ann', 'google', 'work', 'a@x', 'a@x', 'cal', 'Work', 'active', 4,
                    '{"twoWay":true}', 5, 'success', 0, 6, 1, 2)
                """,
                """
                INSERT INTO connection_credentials (connection_id, sealed, account, version, updated_at)
                VALUES ('k', 'v1.sealed', 'digest', 3, 4)
                """,
                """
                INSERT INTO connection_authorizations (state_hash, connection_id, user_id, sealed_verifier, return_to,
                    expires_at)
                VALUES ('\(hash("s"))', 'k', 'ann', 'v1.sealed', '/app/', 99)
                """,
            ]),
        Stage(
            name: "syncRecords", statements: Schema.syncRecords,
            rows: [
                """
                INSERT INTO sync_links (connection_id, collection, item_id, state, external_id, since_at, content)
                VALUES ('k', 'tasks', 't', 'linked', 'e1', 5, '{}'), ('k', 'tasks', 'x', 'deleted', NULL, 6, '{}')
                """,
                "INSERT INTO sync_operations (connection_id, key, content) VALUES ('k', 'op', '{}')",
                "INSERT INTO sync_positions (connection_id, content) VALUES ('k', '{\"cursor\":\"c\"}')",
                """
                INSERT INTO sync_runs (id, connection_id, number, state, started_at, content)
                VALUES ('r1', 'k', 1, 'done', 5, '{}'), ('r2', 'k', 2, 'held', 6, '{}')
                """,
                """
                INSERT INTO sync_conflicts (connection_id, id, number, state, at, content)
                VALUES ('k', 'c1', 1, 'open', 5, '{}')
                """,
                """
                INSERT INTO sync_journal (connection_id, number, id, run_id, at, direction, change, content)
                VALUES ('k', 1, 'j1', 'r1', 5, 'out', 'create', '{}')
                """,
                """
                INSERT INTO sync_channels (id, connection_id, secret_hash, expires_at, renew_at, content)
                VALUES ('ch', 'k', '\(hash("c"))', 99, 50, '{}')
                """,
                "INSERT INTO sync_leases (connection_id, holder, expires_at) VALUES ('k', 'h', 9)",
                "INSERT INTO sync_days VALUES (20000, 'google', 5, 4, 3, 1)",
            ]),
        Stage(
            name: "officeDays", statements: Schema.officeDays,
            rows: [
                """
                INSERT INTO office_profiles (user_id, settings, seed, counts_from, next_night_at, writes, errors,
                    created_at, updated_at)
                VALUES ('ann', '{}', 's', 20000, 7, 1, 0, 1, 2)
                """,
                "INSERT INTO office_visits VALUES ('ann', 'v', 10, 20, 1, 1)",
                "INSERT INTO office_days (user_id, day, word, updated_at) VALUES ('ann', 20001, 'remote', 1)",
            ]),
        Stage(
            name: "personalEvents", statements: Schema.personalEvents,
            rows: [
                "INSERT INTO users (id, time_zone, created_at, updated_at) VALUES ('ann', 'Europe/Vienna', 1, 2)",
                "INSERT INTO personal_calendars (user_id, last_at, events) VALUES ('ann', 9, 1)",
                """
                INSERT INTO personal_events (user_id, id, uid, sequence, title, date, first_day, last_day, provider,
                    external_id, instance_key, sync_state, created_at, updated_at, changed_at)
                VALUES ('ann', 'p', 'u2', 2, 'Döner 🥙', '2026-01-01', 20454, 20454, 'apple', 'x', '', 'linked', 1, 9, 8)
                """,
            ]),
        Stage(
            name: "ownEntries", statements: Schema.ownEntries,
            rows: [
                "UPDATE feeds SET shows_own = 1, own_version = 3, own_changed_at = 4",
                """
                INSERT INTO planned_events (user_id, source, external_id, starts_at, ends_at, start_offset, end_offset,
                    is_all_day, title, uid, sequence, created_at, updated_at)
                VALUES ('ann', 'apple_eventkit', 'x', 1, 2, 3600, 3600, 0, 'Planned', 'u3', 0, 1, 1)
                """,
            ]),
        Stage(
            name: "syncWishes", statements: Schema.syncWishes,
            rows: [
                "INSERT INTO sync_wishes (connection_id, kind, run_id, due_at) VALUES ('k', 'manual', 'r3', 8)",
                "INSERT INTO former_connections VALUES ('home', 'ann', 'old')",
            ]),
        Stage(
            name: "syncScale", statements: Schema.syncScale,
            rows: [
                """
                INSERT INTO sync_conflicts (connection_id, id, number, state, at, content)
                VALUES ('k', 'c2', 2, 'resolved', 6, '{}')
                """
            ]),
        Stage(
            name: "ownSizes", statements: Schema.ownSizes,
            rows: [
                "UPDATE personal_calendars SET bytes = 11 + 1",
                "INSERT INTO planned_calendars VALUES ('ann', 1, 7 + 1)",
                "INSERT INTO users (id, time_zone, created_at, updated_at) VALUES ('bob', NULL, 3, 3)",
            ]),
        Stage(
            name: "phoneItems", statements: Schema.phoneItems,
            rows: [
                """
                INSERT INTO phone_carriers (user_id, source, carrier, turn, seen_at, delivered_at)
                VALUES ('ann', 'k', 'd', 2, 5, 6)
                """
            ]),
        Stage(
            name: "signInLinks", statements: Schema.signInLinks,
            rows: [
                "UPDATE users SET language = 'de'",
                """
                INSERT INTO feed_clients (feed, client, access_count, last_seen_at, last_sequence)
                VALUES (1, 2, 3, 4, 5)
                """,
                """
                INSERT INTO sign_in_links (id, hash, user_id, leads_to, created_at, expires_at)
                VALUES ('l', '\(hash("l"))', 'ann', '/app', 1, 9)
                """,
            ]),
        Stage(
            name: "reach", statements: Schema.reach,
            rows: [
                "UPDATE feed_clients SET seen_version = 3 WHERE feed = 1",
                "UPDATE users SET reads_phone = 1",
            ]),
        Stage(
            name: "phoneMarks", statements: Schema.phoneMarks,
            rows: [
                """
                INSERT INTO phone_marks (mark, circle_id, user_id, connection_id, ended_at)
                VALUES ('m', 'home', 'ann', 'k', NULL)
                """
            ]),
        Stage(
            name: "numbering", statements: Schema.numbering,
            rows: [
                "INSERT INTO change_numbers (circle_id, last_number) VALUES ('home', 6)",
                """
                UPDATE counters SET last_number = (SELECT COALESCE(MAX(sequence), 0) FROM changes) WHERE name = 'changes'
                """,
            ]),
        Stage(
            name: "servers", statements: Schema.servers,
            rows: [
                "INSERT INTO written_circles (number, circle) VALUES (1, 'home')",
                "INSERT INTO leases (name, holder, epoch, ends_at, note) VALUES ('tidy', 's', 1, 9, '')",
                """
                INSERT INTO schedule_items (circle_id, collection, id, uid, sequence, is_all_day, starts_at, ends_at,
                    content, created_at, updated_at, changed_in, shown_in, shown_as)
                VALUES ('home', 'appointments', 'a', 'u9', 2, 0, 1000, NULL, '{}', 1, 2, 5, 4, 'updated')
                """,
                """
                INSERT INTO occurrences (circle_id, collection, item_id, original_start, starts_at, ends_at, content,
                    created_at, updated_at)
                VALUES ('home', 'appointments', 'a', '20260121T090000Z', 3, 4, '{"status":"cancelled"}', 1, 2)
                """,
            ]),
        Stage(
            name: "itemKinds", statements: Schema.itemKinds,
            rows: [
                """
                INSERT INTO schedule_items (circle_id, collection, id, uid, sequence, is_all_day, starts_at, ends_at,
                    content, created_at, updated_at, changed_in)
                VALUES ('home', 'dressings', 'd', 'u10', 0, 0, 1000, 2000, '{}', 1, 2, 6)
                """,
                "INSERT INTO passwords (user_id, hash, created_at, changed_at) VALUES ('ann', 'scrypt$', 1, 2)",
            ]),
        Stage(
            name: "secondFactors", statements: Schema.secondFactors,
            rows: [
                "INSERT INTO second_factors (user_id, sealed, created_at) VALUES ('ann', 'v1.sealed', 3)",
                "INSERT INTO recovery_codes VALUES ('ann', '\(hash("r"))')",
            ]),
        Stage(name: "peopleIndexes", statements: Schema.peopleIndexes, rows: []),
        Stage(name: "syncSizes", statements: Schema.syncSizes, rows: []),
    ]

    /// Tables to which a later version adds counters, or the oldest version that can work with it.
    private static let growing: Set = ["counters", "settings"]

    /// Columns that a later version does not have: nothing was ever written to them.
    private static let dropped = ["connections": ["carrier", "carrier_turn", "carrier_seen_at"]]

    /// Returns all rows of some columns in order, as text that shows types.
    private static func rows(_ db: Database, _ table: String, _ columns: [String]) throws -> [String] {
        let all = columns.map { "quote(\"\($0)\")" }.joined(separator: " || ' ' || ")
        return try String.fetchAll(db, sql: "SELECT \(all) AS row FROM \(table) ORDER BY row")
    }

    private static func tables(_ db: Database) throws -> [String: [String]] {
        var found: [String: [String]] = [:]
        let names = try String.fetchAll(
            db,
            sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
        for name in names where name != "schema_migrations" {
            found[name] = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info('\(name)')")
                .filter { !(dropped[name] ?? []).contains($0) }
        }
        return found
    }

    @Test(
        "A database of each of the last versions keeps every row, and is then as a new one",
        arguments: stages.map(\.name))
    func migrates(_ last: String) async throws {
        let stages = Array(Self.stages[...(try #require(Self.stages.firstIndex { $0.name == last }))])
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite").path
            let count = try #require(Schema.migrations.firstIndex { $0 == stages[stages.count - 1].statements }) + 1
            #expect(count < Schema.migrations.count)
            var configuration = Configuration()
            configuration.foreignKeysEnabled = true
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let before = try await queue.write { db throws -> [String: (columns: [String], rows: [String])] in
                try db.execute(sql: "CREATE TABLE schema_migrations (version BIGINT NOT NULL PRIMARY KEY)")
                for (index, statements) in Schema.migrations[..<count].enumerated() {
                    for statement in statements {
                        try db.execute(sql: statement.replacing("/* clustered */", with: "WITHOUT ROWID"))
                    }
                    try db.execute(sql: "INSERT INTO schema_migrations VALUES (?)", arguments: [index + 1])
                }
                for row in stages.flatMap(\.rows) { try db.execute(sql: row) }
                return try Self.tables(db).reduce(into: [:]) { found, table in
                    found[table.key] = (table.value, try Self.rows(db, table.key, table.value))
                }
            }
            try queue.close()
            #expect(before.values.count { !$0.rows.isEmpty } >= 4)

            let store = try SQLiteStore(path: path)
            try await store.checkSchema()
            #expect(try await store.valueFaults().isEmpty)
            try await store.read { transaction throws in
                #expect(try transaction.circle("home")?.name == "Home")
                let feed = try #require(try transaction.feed("f"))
                #expect(feed.config == #"{"pastDays":7}"#)
                // Numbers go on behind the last that was given.
                let latest = try transaction.latestChange()
                #expect(
                    try transaction.rows("SELECT last_number FROM counters WHERE name = 'changes'", []).first?
                        .integer("last_number") == latest)
                if stages.contains(where: { $0.name == "ownEntries" }) {
                    // Döner 🥙 and x; Planned and x.
                    #expect(try transaction.ownUsage(of: "ann") == Usage(count: 2, bytes: 11 + 1 + 7 + 1))
                }
                if stages.contains(where: { $0.name == "syncRecords" }) {
                    #expect(try transaction.syncLinks(of: "k").map(\.state) == ["linked", "deleted"])
                    #expect(try transaction.dueSyncs(by: .google, now: 100, limit: 9).map(\.id) == ["k"])
                    #expect(try transaction.syncGauges()[.google]?.openConflicts == 1)
                }
                if stages.contains(where: { $0.name == "personalEvents" }) {
                    let event = try #require(try transaction.personalEventEverKnown("p", of: "ann"))
                    #expect(event.tie == nil && event.content.title == "Döner 🥙")
                    // Whoever asks, with a device or without, has it as before.
                    for device in [nil, "d"] {
                        let all = try transaction.personalEvents(
                            of: "ann", changedAfter: 0, provider: nil, for: device, limit: 9)
                        #expect(all.map(\.id) == ["p"])
                    }
                    #expect(try !transaction.hasPhoneItems("ann"))
                    let carried = stages.contains { $0.name == "phoneItems" } ? ["k"] : []
                    let marked = stages.contains { $0.name == "phoneMarks" } ? ["m"] : []
                    #expect(try transaction.phoneMarks(of: "ann").values.sorted() == marked)
                    #expect(try transaction.phoneCarriers(of: "ann").map(\.source) == carried)
                }
            }
            try store.close()
            try await DatabaseQueue(path: path).read { db throws in
                for (table, old) in before {
                    let rows = try Self.rows(db, table, old.columns)
                    if Self.growing.contains(table) {
                        #expect(Set(rows).isSuperset(of: old.rows), "\(table)")
                    } else {
                        #expect(rows == old.rows, "\(table)")
                    }
                }
            }
            try SchemaCheck.check(path: path)
        }
    }

    @Test("Every version from that of events on is tried")
    func complete() {
        let tried = Set(Self.stages.map(\.statements))
        let first = Schema.migrations.firstIndex { $0 == Schema.eventVersions } ?? 0
        for (index, statements) in Schema.migrations.enumerated().dropFirst(first).dropLast() {
            #expect(tried.contains(statements), "version \(index + 1)")
        }
    }
}
