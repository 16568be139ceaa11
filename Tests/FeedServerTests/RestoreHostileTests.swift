// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("Restoring what somebody else made")
struct RestoreHostileTests {
    /// Each manipulation of a backup, and what restore has to name.
    private static let schemas: [(sql: String, named: String)] = [
        ("CREATE TRIGGER t AFTER INSERT ON circles BEGIN DELETE FROM feeds; END", "the trigger t"),
        ("CREATE VIEW v AS SELECT * FROM feeds", "the view v"),
        ("CREATE INDEX i ON circles (name)", "the index i"),
        ("CREATE UNIQUE INDEX i ON members (display_name)", "the index i"),
        ("CREATE TABLE recipes (a)", "the table recipes"),
        ("CREATE VIRTUAL TABLE f USING fts5(a)", "the table f"),
        ("ALTER TABLE circles ADD COLUMN twice AS (name || name)", "the table circles is not as Kalends makes it"),
        ("ALTER TABLE circles ADD COLUMN more TEXT", "the table circles is not as Kalends makes it"),
        ("DROP INDEX members_by_user", "the index members_by_user is missing"),
        ("DROP TABLE sessions", "the table sessions is missing"),
        ("DROP TABLE settings; CREATE VIEW settings AS SELECT 'a' AS name, 'b' AS value", "settings"),
        (
            "DROP TABLE schema_migrations; CREATE VIEW schema_migrations AS SELECT 1 AS version",
            "not a database of Kalends"
        ),
        ("UPDATE schema_migrations SET version = 0", "versions"),
        (
            "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'members'",
            "the table members is not as Kalends makes it"
        ),
        (changedMembers("display_name TEXTNOT NULL"), "the table members is not as Kalends makes it"),
        (
            changedMembers("display_name TEXT' || char(160) || 'NOT NULL"),
            "the table members is not as Kalends makes it"
        ),
        (
            "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '''viewer''', '''view er''') "
                + "WHERE name = 'members'", "the table members is not as Kalends makes it"
        ),
        (changedMembers("display_name' || char(27) || '[2J"), "malformed database schema"),
    ]

    /// A schema in which a constraint is lost although every letter of it is there.
    private static func changedMembers(_ column: String) -> String {
        "PRAGMA writable_schema = ON; UPDATE sqlite_master "
            + "SET sql = replace(sql, 'display_name TEXT NOT NULL', '\(column)') WHERE name = 'members'"
    }

    private static let values: [(sql: String, named: String)] = [
        ("UPDATE feeds SET config_changed_at = 9223372036854775807", "feeds"),
        ("UPDATE circles SET changed_at = 9223372036854775807", "circles"),
        ("UPDATE circles SET version = 9223372036854775807", "circles"),
        ("UPDATE feeds SET number = number + 4294967296", "feeds"),
        ("UPDATE schedule_items SET starts_at = -9223372036854775808", "schedule_items"),
        ("UPDATE settings SET value = '9223372036854775807' WHERE name = 'accessSequence'", "settings"),
        ("INSERT OR REPLACE INTO settings VALUES ('prunedAt', '9223372036854775807')", "settings"),
        ("UPDATE members SET display_name = display_name || char(0) || 'x'", "members"),
        ("UPDATE members SET display_name = CAST(display_name AS BLOB)", "members"),
        ("UPDATE circles SET changed_at = changed_at + 0.5", "circles"),
        ("UPDATE circles SET time_zone = 'Middle/Earth'", "circles"),
        ("UPDATE schedule_items SET content = '{}'", "schedule_items"),
        (
            "UPDATE schedule_items SET content = json_set(content, '$.dueAt', 9223372036854775807) "
                + "WHERE collection = 'tasks'", "schedule_items"
        ),
        (
            "UPDATE schedule_items SET content = json_set(content, '$.durationMinutes', 9223372036854775807) "
                + "WHERE collection = 'tasks'", "schedule_items"
        ),
        (
            "UPDATE schedule_items SET content = json_set(content, '$.reminders', json('[9223372036854775807]')) "
                + "WHERE collection = 'appointments'", "schedule_items"
        ),
        (
            "UPDATE schedule_items SET content = json_set(content, '$.endDate.day', 99) WHERE collection = 'shifts' "
                + "AND content LIKE '%endDate%'", "schedule_items"
        ),
        ("UPDATE occurrences SET content = json_set(content, '$.endAt', 9223372036854775807)", "occurrences"),
        ("UPDATE feeds SET config = '{\"pastDays\": 9223372036854775807}'", "feeds"),
        ("UPDATE feeds SET config = 'x'", "feeds"),
        ("UPDATE circles SET name = CAST(zeroblob(70000000) AS TEXT)", "circles"),
        ("UPDATE event_versions SET content = 'x'", "event_versions"),
        ("UPDATE event_versions SET sequence = 9223372036854775807", "event_versions"),
        ("UPDATE import_items SET items = 'x'", "import_items"),
        ("UPDATE imports SET report = 'x'", "imports"),
        ("UPDATE changes SET type = 'x'", "changes"),
        ("UPDATE audit_trail SET detail = 'x'", "audit_trail"),
        (personalEvent(start: "9223372036854775807:00"), "personal_events"),
        (personalEvent(start: "99:99"), "personal_events"),
        (personalEvent(date: "soon"), "personal_events"),
        (personalEvent(zone: "Middle/Earth"), "personal_events"),
        (personalEvent(recurrence: "{}"), "personal_events"),
        (officeDay(changedAt: "9223372036854775807"), "office_days"),
        (officeDay(start: "-9223372036854775808"), "office_days"),
        (officeDay(changedAt: "9.2e18"), "office_days"),
        ("PRAGMA foreign_keys = OFF; DELETE FROM circles", "belongs to a row"),
        (
            "PRAGMA ignore_check_constraints = ON; UPDATE members SET role = 'king'",
            "members"
        ),
    ]

    /// A person's own event, in whose fields a feed reads more than its columns show.
    private static func personalEvent(
        date: String = "2026-03-03", start: String = "09:00", zone: String = "UTC", recurrence: String? = nil
    ) -> String {
        """
        INSERT INTO personal_events (user_id, id, uid, sequence, title, date, start_time, time_zone, recurrence,
            first_day, last_day, provider, instance_key, sync_state, created_at, updated_at, changed_at)
        VALUES ('ann', 'e', 'u', 0, 'T', '\(date)', '\(start)', '\(zone)', \(recurrence.map { "'\($0)'" } ?? "NULL"),
            20515, 20515, 'manual', '', 'pending', 1772452800000, 1772452800000, 1772452800000)
        """
    }

    private static func officeDay(changedAt: String = "1772452800", start: String = "1772528400") -> String {
        """
        INSERT INTO office_days (user_id, day, decision, status, event_state, event_target, updated_at)
        VALUES ('ann', 20515, '{"counts":true,"event":{"availability":"free","changedAt":\(changedAt),
            "date":"2026-03-03","identity":"i","notes":"","revision":1,
            "span":{"timed":{"end":1772557200,"start":\(start),"zone":"UTC"}},"state":"managed","target":{"feed":{}},
            "title":"Office Day","uid":"u"},"look":{"availability":"free","goal":15,
            "hours":{"end":"17:00","start":"09:00"},"officeTitle":"Office Day","remoteTitle":"Remote Work"},
            "revision":1,"source":"person","status":"inOffice","zone":"UTC"}',
            'inOffice', 'managed', 'feed', 1772452800000)
        """
    }

    private static func tamper(_ file: String, _ sql: String) async throws {
        let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit()"
        let result = try await runProgram("/usr/bin/env", ["python3", "-c", script, file, sql])
        try #require(result.status == 0, "\(sql): \(result.error)")
    }

    @Test("A backup with anything in it that Kalends did not make is refused, and named; the database stays")
    func refused() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let whole = server.folder.appending(path: "backup.sqlite").path
        #expect(try await server.kalends(["backup", whole]).status == 0)
        #expect(await server.stop() == 0)
        let before = try await server.kalends(["export", "--circle", "rivera-family"]).output
        for (number, (sql, named)) in (Self.schemas + Self.values).enumerated() {
            let file = server.folder.appending(path: "hostile-\(number).sqlite").path
            try FileManager.default.copyItem(atPath: whole, toPath: file)
            try await Self.tamper(file, sql)
            let result = try await server.kalends(["restore", file])
            #expect(result.status == 3, "\(sql): \(result.output)")
            #expect(
                result.error.contains("cannot be restored: ") && result.error.contains(named)
                    && !result.error.contains("\u{1B}"), "\(sql): \(result.error)"
            )
            try FileManager.default.removeItem(atPath: file)
        }
        #expect(try await server.kalends(["export", "--circle", "rivera-family"]).output == before)
        #expect(!FileManager.default.fileExists(atPath: server.database + ".restoring"))
        // What SQLite gathers for its planner is no fault, and does not come along.
        try await Self.tamper(whole, "ANALYZE")
        let taken = try await server.kalends(["restore", whole])
        #expect(taken.status == 0, "\(taken.error)")
        #expect(try await server.kalends(["export", "--circle", "rivera-family"]).output == before)
    }

    @Test("A backup of which a byte is missing, and one beside which SQLite's journal lies, are refused")
    func cut() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let whole = server.folder.appending(path: "backup.sqlite")
        #expect(try await server.kalends(["backup", whole.path]).status == 0)
        #expect(await server.stop() == 0)
        let bytes = try Data(contentsOf: whole)
        try bytes.dropLast().write(to: whole)
        let short = try await server.kalends(["restore", whole.path])
        #expect(short.status == 3 && short.error.contains("its end is missing"), "\(short.error)")
        try bytes.write(to: whole)
        try Data("journal".utf8).write(to: URL(filePath: whole.path + "-journal"))
        let used = try await server.kalends(["restore", whole.path])
        #expect(used.status == 3 && used.error.contains("is a database in use"), "\(used.error)")
    }

    @Test("A backup by a link to it is taken as a copy, so that no server writes into it")
    func byLink() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let (whole, link) = (server.folder.appending(path: "b.sqlite"), server.folder.appending(path: "latest"))
        #expect(try await server.kalends(["backup", whole.path]).status == 0)
        #expect(await server.stop() == 0)
        let before = try Data(contentsOf: whole)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: whole)
        let result = try await server.kalends(["restore", link.path])
        #expect(result.status == 0, "\(result.error)")
        let attributes = try FileManager.default.attributesOfItem(atPath: server.database)
        #expect(attributes[.type] as? FileAttributeType == .typeRegular)
        #expect(try Data(contentsOf: whole) == before)
    }

    @Test("doctor names the same in the database itself, beside a server and without one")
    func doctor() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let well = try await server.kalends(["doctor"])
        #expect(well.status == 0 && well.output.contains("ok   stored rows"), "\(well.output)")
        try await Self.tamper(server.database, "UPDATE feeds SET config_changed_at = 9223372036854775807")
        let beside = try await server.kalends(["doctor"])
        #expect(beside.status == 3 && beside.output.contains("BAD  stored rows: feeds, row "), "\(beside.output)")
        try await Self.tamper(server.database, "CREATE TRIGGER t AFTER INSERT ON circles BEGIN DELETE FROM feeds; END")
        let trigger = try await server.kalends(["doctor"])
        #expect(trigger.status == 3 && trigger.output.contains("the trigger t"), "\(trigger.output)")
        _ = await server.stop()
        let alone = try await server.kalends(["doctor"])
        #expect(alone.status == 3 && alone.output.contains("the trigger t"), "\(alone.output)")
        try await Self.tamper(server.database, "DROP TRIGGER t")
        for (sql, named) in Self.values.prefix(10) where named != "settings" {
            try await Self.tamper(server.database, sql)
        }
        let rows = try await server.kalends(["doctor"])
        #expect(rows.status == 3 && rows.output.contains("BAD  stored rows: circles"), "\(rows.output)")
    }

    @Test("A database that cannot be read any more is kept as it is, and does not keep a restore from being made")
    func overDamaged() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let whole = server.folder.appending(path: "backup.sqlite").path
        #expect(try await server.kalends(["backup", whole]).status == 0)
        #expect(await server.stop() == 0)
        let damaged = Data(repeating: 90, count: 9000)
        try damaged.write(to: URL(filePath: server.database))
        let result = try await server.kalends(["restore", whole])
        #expect(result.status == 0, "\(result.error)")
        let kept = try FileManager.default.contentsOfDirectory(atPath: server.folder.path).first {
            $0.contains("before-restore") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
        }
        #expect(try Data(contentsOf: server.folder.appending(path: try #require(kept))) == damaged)
        #expect(try await server.kalends(["export", "--circle", "rivera-family"]).output.contains("VEVENT"))
    }
}
