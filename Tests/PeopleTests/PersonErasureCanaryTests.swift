// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import StoreConformance
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport
@testable import Storage

@Suite("What is left of an erased person")
struct PersonErasureCanaryTests {
    private static let person = "canary-ann"

    /// What the schema restricts, by table and column or by column; every other text of a row is a canary. The ids of
    /// feeds and connections are random in a server, and stay in the activity of circles with others.
    private static let restricted: [String: SQLValue] = [
        "feeds.id": "random-feed", "connections.id": "random-connection",
        "circle_id": "c", "connection_id": "random-connection", "calendar_id": "canary-own_calendars-id",
        "password_id": "canary-app_passwords-id", "import_id": "canary-imports-id", "feed": 901, "feeds.number": 901,
        "app_passwords.number": 902, "feed_accesses.previous": 0, "feed_attention.kind": "newClient",
        "sign_in_failures.name": "canary-ann canary-net", "imports.state": "previewed", "imports.stage": .null,
        "event_versions.source": "f:canary-ann", "event_versions.until_epoch": .integer(EventEpoch.open),
        "subscriptions.state": "paused", "connections.provider": "google", "connections.state": "paused",
        "connections.ending": .null, "last_sync_status": .null, "sync_runs.state": "done",
        "sync_conflicts.state": "open", "kind": "own", "components": "VEVENT", "component": "VEVENT",
        "sync_state": "linked", "office_days.word": .null, "office_days.status": .null,
        "office_days.event_state": .null,
    ]

    /// The tables whose rows acts of the person make.
    private static let made = ["audit_trail", "members", "schedule_items", "occurrences", "changes"]

    /// Puts a row with a canary in every text into each table that holds something of a person.
    private static func plant(in transaction: any WriteTransaction) throws {
        let order = Schema.tables.map(\.name)
        func place(_ table: PersonTable) -> Int { order.firstIndex(of: table.name) ?? 0 }
        for table in PersonTable.all.sorted(by: { place($0) < place($1) }) where !made.contains(table.name) {
            var (names, values): ([String], [SQLValue]) = ([], [])
            // What stays with a circle is the circle's, and no person's.
            let isKept =
                table.fate == .renamed && !["imports", "import_changes", "event_versions"].contains(table.name)
            let columns = try transaction.rows(
                "SELECT name, type, \"notnull\" FROM pragma_table_info($1)", [.text(table.name)])
            for column in columns {
                let name = try column.text(required: "name")
                let isPerson = table.persons.contains(name)
                names.append(name)
                if let value = restricted["\(table.name).\(name)"] ?? restricted[name], !isPerson || name == "name" {
                    values.append(value)
                } else if isPerson {
                    values.append(.text(person))
                } else if column.text("type") != "TEXT" {
                    values.append(column.integer("notnull") == 1 ? 1 : .null)
                } else {
                    let text = isKept ? "kept" : "canary-\(table.name)-\(name)"
                    values.append(
                        .text(name.hasSuffix("hash") ? text.padding(toLength: 64, withPad: "x", startingAt: 0) : text))
                }
            }
            let places = names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
            try transaction.execute(
                "INSERT INTO \(table.name) (\(names.joined(separator: ", "))) VALUES (\(places))", values)
        }
    }

    /// Returns how often canaries are in the bytes of a folder's files, by file.
    private static func canaries(in folder: URL) throws -> [String: Int] {
        let canary = Data("canary".utf8)
        var found: [String: Int] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.hasSuffix(".sock") {
            guard let data = try? Data(contentsOf: folder.appending(path: name)) else { continue }
            var (count, rest) = (0, data.startIndex..<data.endIndex)
            while let range = data.range(of: canary, in: rest) {
                count += 1
                rest = range.upperBound..<data.endIndex
            }
            if count > 0 { found[name] = count }
        }
        return found
    }

    /// Lets the person do something that others share.
    private static func act(_ server: TestServer) async throws {
        try await server.makeCircle()
        try await server.call(
            .put, "/v1/circles/c/members/\(person)", ["displayName": "canary-name", "role": "member"]
        ).expect(201)
        for title in ["Before", "After"] {
            _ = try await server.call(
                .put, "/v1/circles/c/tasks/shared",
                [
                    "title": .string(title), "dueAt": "2026-03-05T10:00:00Z", "ownerId": .string(person),
                    "reminders": [],
                ], as: person)
        }
        try await server.call(
            .post, "/v1/circles/c/feeds", ["userId": .string(person), "label": "canary-label", "config": [:]],
            as: person
        ).expect(201)
        try await server.call(.put, "/v1/circles/own", ["name": "canary-home", "timeZone": "UTC"]).expect(201)
        try await server.call(
            .put, "/v1/circles/own/members/\(person)", ["displayName": "canary-self", "role": "owner"]
        ).expect(201)
    }

    @Test(
        "No byte of the folder has a word of theirs: not the database, its log, the journal, a backup made afterwards",
        .enabled(if: !TestedStore.isPostgreSQL, "It is about SQLite's file"))
    func bytes() async throws {
        try await TestServer.run { server in
            let store = server.services.store
            try await Self.act(server)
            try await store.write { try Self.plant(in: $0) }
            for table in PersonTable.all where table.name != "occurrences" {
                let rows = try await store.read { try $0.personRows(of: Self.person, in: table, after: nil).rows }
                #expect(!rows.isEmpty, "\(table.name)")
            }
            #expect(try Self.canaries(in: server.folder).values.reduce(0, +) > 100)

            let answer = try await server.call(.delete, "/v1/users/\(Self.person)?erase=true").expect(200)
            #expect(answer.json["state"] == "done")
            for table in PersonTable.all {
                let rows = try await store.read { try $0.personRows(of: Self.person, in: table, after: nil).rows }
                #expect(rows.isEmpty, "\(table.name)")
            }
            let removed = answer.json["removed"]?.array?.compactMap { $0["table"]?.string } ?? []
            for table in PersonTable.all where table.fate == .removed {
                #expect(removed.contains(table.name) || Self.endedAtOnce.contains(table.name), "\(table.name)")
            }
            let stays = answer.json["stays"]?.array?.compactMap { $0["what"]?.string } ?? []
            for what in ["items", "activity", "auditTrail", "subscriptions", "backups"] {
                #expect(stays.contains(what), "\(what)")
            }
            #expect(!stays.contains("unusedSpace"))

            let task = try await server.call(.get, "/v1/circles/c/tasks/shared").expect(200)
            #expect(task.json["title"] == "After" && task.json["ownerId"]?.string?.hasPrefix("erased-") == true)
            try await server.call(.get, "/v1/circles/own").expect(404)
            let verdict = try await server.verifyAudit()
            // They joined two circles, and made a feed.
            #expect(verdict.fault == nil && verdict.anonymous == 3)

            try await server.services.maintenance.backup(to: server.folder.appending(path: "after.sqlite").path)
            let left = try Self.canaries(in: server.folder)
            #expect(left.isEmpty, "\(left)")
        }
    }

    /// What is removed in the first transaction, before rows are counted.
    private static let endedAtOnce = [
        "passwords", "second_factors", "sessions", "sign_in_links", "sign_in_failures", "push_registrations",
    ]
}
