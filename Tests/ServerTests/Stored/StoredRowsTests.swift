// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import GRDB
import HTTPTypes
import Storage
import StorageSQLite
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Stored rows of connections, phones and office days")
struct StoredRowsTests {
    /// Each manipulation of a database, and the table in which `doctor` and `restore` find it.
    private static let faults: [(sql: String, table: String)] = [
        // Links.
        ("UPDATE sync_links SET content = 'x'", "sync_links"),
        ("UPDATE sync_links SET content = '{}'", "sync_links"),
        ("UPDATE sync_links SET state = 'adrift'", "sync_links"),
        ("UPDATE sync_links SET item_id = item_id || 'x'", "sync_links"),
        ("UPDATE sync_links SET since_at = 9223372036854775807", "sync_links"),
        ("UPDATE sync_links SET content = json_set(content, '$.generation', 9223372036854775807)", "sync_links"),
        ("UPDATE sync_links SET content = json_set(content, '$.agreed.ours.reminders', json('[9e18]'))", "sync_links"),
        ("UPDATE sync_links SET external_id = CAST(x'61FF62' AS TEXT)", "sync_links"),
        ("UPDATE sync_links SET external_id = CAST('e' AS BLOB)", "sync_links"),
        ("UPDATE sync_links SET external_id = 'a' || char(0) || 'b'", "sync_links"),
        // Runs, conflicts, the journal.
        ("UPDATE sync_runs SET content = json_set(content, '$.id', 'other')", "sync_runs"),
        ("UPDATE sync_runs SET content = json_set(content, '$.state', 'lost')", "sync_runs"),
        ("UPDATE sync_runs SET state = 'held' WHERE state = 'done'", "sync_runs"),
        ("UPDATE sync_runs SET number = -9223372036854775808 WHERE number = 1", "sync_runs"),
        ("UPDATE sync_conflicts SET state = 'resolved'", "sync_conflicts"),
        ("UPDATE sync_conflicts SET item_id = 'other'", "sync_conflicts"),
        ("UPDATE sync_conflicts SET content = json_set(content, '$.kind', 'x')", "sync_conflicts"),
        ("UPDATE sync_journal SET direction = 'up'", "sync_journal"),
        ("UPDATE sync_journal SET content = json_remove(content, '$.item')", "sync_journal"),
        ("UPDATE sync_journal SET run_id = 'other'", "sync_journal"),
        // The engine's own.
        ("UPDATE sync_positions SET content = '[]'", "sync_positions"),
        ("INSERT INTO sync_operations SELECT connection_id, 'k', '{}' FROM sync_positions", "sync_operations"),
        (
            "INSERT INTO sync_channels SELECT 'c', connection_id, printf('%064d', 1), 1, 1, NULL, '{}' FROM sync_positions",
            "sync_channels"
        ),
        (
            "PRAGMA ignore_check_constraints = ON; "
                + "INSERT INTO sync_wishes SELECT connection_id, 'whim', NULL, NULL, 1 FROM sync_positions",
            "sync_wishes"
        ),
        ("INSERT INTO sync_leases SELECT connection_id, 'h', 1e300 FROM sync_positions", "sync_leases"),
        (
            "INSERT INTO sync_requests SELECT 1, 'caldav', connection_id, 9223372036854775807, 0, 0, 0 FROM sync_positions",
            "sync_requests"
        ),
        ("UPDATE sync_days SET writes = 9223372036854775807", "sync_days"),
        ("UPDATE connections SET config = '{\"pastDays\": -1}'", "connections"),
        ("UPDATE connections SET failures = -1", "connections"),
        ("UPDATE connections SET account_name = CAST(x'C328' AS TEXT)", "connections"),
        ("PRAGMA foreign_keys = OFF; DELETE FROM connections", "belongs to a row"),
        // A person's own.
        ("UPDATE users SET time_zone = 'Middle/Earth'", "users"),
        ("UPDATE personal_events SET date = '2026-13-01'", "personal_events"),
        ("UPDATE personal_events SET start_time = '25:00'", "personal_events"),
        ("UPDATE personal_events SET time_zone = 'Mars/Base'", "personal_events"),
        ("UPDATE personal_events SET recurrence = '[1]'", "personal_events"),
        (
            "UPDATE personal_events SET recurrence = '{\"rrule\":\"FREQ=NEVER\",\"exdates\":[],\"rdates\":[]}'",
            "personal_events"
        ),
        ("UPDATE personal_events SET first_day = 9223372036854775807", "personal_events"),
        ("UPDATE personal_events SET last_day = -9223372036854775807", "personal_events"),
        ("UPDATE personal_events SET sequence = 4294967296", "personal_events"),
        ("UPDATE personal_events SET title = CAST(x'80' AS TEXT)", "personal_events"),
        (
            "PRAGMA ignore_check_constraints = ON; UPDATE personal_events SET sync_state = 'gone'", "personal_events"
        ),
        // What shows an item to a phone.
        ("UPDATE personal_events SET collection = NULL WHERE connection_id IS NOT NULL", "personal_events"),
        ("UPDATE personal_events SET collection = 'dreams' WHERE connection_id IS NOT NULL", "personal_events"),
        ("UPDATE personal_events SET turn = -1 WHERE connection_id IS NOT NULL", "personal_events"),
        ("UPDATE personal_events SET generation = 9223372036854775807 WHERE item_id IS NOT NULL", "personal_events"),
        ("UPDATE personal_events SET sent_at = 9223372036854775807 WHERE item_id IS NOT NULL", "personal_events"),
        ("UPDATE personal_events SET earlier = '{' WHERE connection_id IS NOT NULL", "personal_events"),
        (
            "UPDATE personal_events SET earlier = '[{\"until\":1,\"content\":{\"title\":\"\",\"date\":\"x\"}}]' "
                + "WHERE connection_id IS NOT NULL", "personal_events"
        ),
        ("UPDATE phone_carriers SET turn = -1", "phone_carriers"),
        ("UPDATE phone_carriers SET delivered_at = 9223372036854775807", "phone_carriers"),
        ("UPDATE phone_carriers SET shown = CAST(x'80' AS TEXT)", "phone_carriers"),
        (
            "INSERT INTO phone_former_events SELECT user_id, 'x', '', source, CAST('e' AS BLOB) FROM phone_carriers",
            "phone_former_events"
        ),
        ("UPDATE planned_events SET ends_at = starts_at - 1", "planned_events"),
        ("UPDATE planned_events SET start_offset = 1000000", "planned_events"),
        ("UPDATE planned_events SET is_all_day = 2", "planned_events"),
        // Office days.
        ("UPDATE office_profiles SET settings = '{}'", "office_profiles"),
        ("UPDATE office_profiles SET settings = json_set(settings, '$.monthlyGoal', 99)", "office_profiles"),
        ("UPDATE office_profiles SET problem = 'boredom'", "office_profiles"),
        ("UPDATE office_profiles SET nights_through = 9223372036854775807", "office_profiles"),
        ("UPDATE office_visits SET ends_at = starts_at", "office_visits"),
        ("UPDATE office_days SET decision = '{\"a\":1}'", "office_days"),
        ("PRAGMA ignore_check_constraints = ON; UPDATE office_days SET word = 'beach'", "office_days"),
    ]

    /// Fills every one of these tables of a server.
    private static func filled(_ bench: SyncBench) async throws {
        let server = bench.server
        try await bench.fill(3)
        let id = try await server.connect()
        try await bench.sync.once()
        bench.calendars[id].delete(["a0"])
        try await bench.run(id)
        #expect(try await bench.conflicts(id).count == 1)
        try await server.call(.put, "/v1/users/ann", ["timeZone": "Europe/Vienna"]).expect(201)
        try await server.call(
            .post, "/v1/users/ann/events",
            [
                "title": "Yoga 🧘", "date": "2026-03-04", "startTime": "18:00", "endTime": "19:00",
                "timeZone": "Europe/Vienna",
                "recurrence": ["rrule": "FREQ=WEEKLY;COUNT=4", "exdates": [], "rdates": []],
            ], as: "ann"
        ).expect(201)
        try await server.call(
            .post, "/api/apple_sync/planned_upsert",
            [
                "range_start": "2026-03-01T00:00:00Z", "range_end": "2026-03-30T00:00:00Z",
                "events": [
                    [
                        "external_id": "p", "title": "Weekly", "start_at": "2026-03-04T09:00:00-08:00",
                        "end_at": "2026-03-04T09:30:00-08:00", "is_all_day": false, "source_calendar_name": "Work",
                    ]
                ],
            ], as: "ann"
        ).expect(200)
        let path = "/v1/users/ann/office-days"
        try await server.call(.patch, "\(path)/settings", ["enabled": true], as: "ann").expect(200)
        try await server.call(
            .put, "\(path)/visits/v", ["startAt": "2026-03-02T08:00:00Z", "endAt": "2026-03-02T10:00:00Z"], as: "ann"
        ).expect(201)
        try await server.call(.put, "\(path)/days/2026-03-03", ["status": "remote"], as: "ann").expect(200)
        // On a phone they are beside the person's own events.
        let phone = try await Phone(server)
        try await server.call(.patch, "\(path)/settings", ["target": ["device": true]], as: "ann").expect(200)
        try await server.call(.put, "\(path)/days/2026-03-05", ["status": "inOffice"], as: "ann").expect(200)
        #expect(try await phone.changes().events.contains { $0["collection"] == "office-days" })
    }

    @Test("Each is read as the server reads it: types, ranges, UTF-8, JSON, and what the columns beside it say")
    func found() async throws {
        try await SyncBench.run { bench in
            try await Self.filled(bench)
            let services = bench.server.services
            #expect(try await StoredRows.faults(in: services.store, services.maintenance, .all).isEmpty)
            let whole = bench.server.folder.appending(path: "whole.sqlite").path
            try await services.maintenance.backup(to: whole)
            for (number, (sql, table)) in Self.faults.enumerated() {
                let file = bench.server.folder.appending(path: "hurt-\(number).sqlite").path
                try FileManager.default.copyItem(atPath: whole, toPath: file)
                let changed = try await DatabaseQueue(path: file).writeWithoutTransaction { db in
                    try db.execute(sql: sql)
                    return db.totalChangesCount
                }
                #expect(changed > 0, "\(sql)")
                let store = try SQLiteStore(path: file, mustBeKalends: true)
                let faults = try await StoredRows.faults(in: store, store, .all).map(\.description)
                try store.close()
                #expect(faults.contains { $0.hasPrefix("\(table)") || $0.contains(table) }, "\(sql): \(faults)")
                #expect(faults.allSatisfy { !$0.contains("Yoga") && !$0.contains("Weekly") }, "\(faults)")
                try FileManager.default.removeItem(atPath: file)
            }
        }
    }

    @Test("A table in the order of its key is read page by page to its end")
    func pages() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(1)
            let id = try await server.connect()
            try await bench.sync.once()
            let row = try #require(try await server.services.store.read { try $0.syncLinks(of: id).first })
            let link: Link = try storedRecord(row.content)
            // 1,300 more, the very last of which is wrong.
            let content = try (0..<1300).map { number in
                var copy = link
                copy.item = ItemKey(.appointments, String(format: "z%04d", number))
                return (copy.item.id, try SyncContent.text(copy))
            }
            try await server.services.store.record { transaction in
                for (item, text) in content {
                    var copy = row
                    (copy.itemID, copy.content) = (item, text)
                    if item == "z1299" { copy.state = "ignored" }
                    try transaction.putSyncLink(copy)
                }
            }
            let faults = try await StoredRows.faults(
                in: server.services.store, server.services.maintenance, .all)
            #expect(faults.count == 1 && faults.first?.row.hasSuffix("'appointments' 'z1299' ''") == true, "\(faults)")
        }
    }

    @Test("doctor and restore say the same of them")
    func commands() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let whole = server.folder.appending(path: "backup.sqlite").path
        #expect(try await server.kalends(["backup", whole]).status == 0)
        #expect(await server.stop() == 0)
        for sql in [
            "INSERT INTO users (id, time_zone, created_at, updated_at) VALUES ('ann', 'Middle/Earth', 1, 1)",
            "INSERT INTO planned_events VALUES ('a', 's', 'x', 5, 4, 0, 0, 0, 't', NULL, 'u', 0, 1, 1)",
        ] {
            let file = server.folder.appending(path: "hurt.sqlite").path
            try FileManager.default.copyItem(atPath: whole, toPath: file)
            try await DatabaseQueue(path: file).writeWithoutTransaction { try $0.execute(sql: sql) }
            let restored = try await server.kalends(["restore", file])
            #expect(restored.status == 3 && restored.error.contains("cannot be restored"), "\(restored.error)")
            let looked = try await runProgram(Programs.kalends, ["doctor", "--database", file])
            #expect(looked.status == 3 && looked.output.contains("BAD  stored rows"), "\(looked.output)")
            try FileManager.default.removeItem(atPath: file)
        }
    }
}
