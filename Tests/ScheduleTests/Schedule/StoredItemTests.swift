// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// What is stored has to stay readable, and an item that is stored again unchanged is compared with it as text.
@Suite("Items as they are answered and stored")
struct StoredItemTests {
    /// What version 0.1 answered and stored: a line of what was put, the answer, and the content of the row.
    private static let file = packageRoot.appending(path: "Tests/ScheduleTests/Oracles/stored-items.ndjson")

    private struct Kind {
        var collection: String
        var required: [ByteString: JSONValue]
        var others: [ByteString: JSONValue]
    }

    private static let text: JSONValue = "Tëa “now” \\ / \"☕\"\tand\r\nlater\u{2028}…"
    private static let kinds = [
        Kind(
            collection: "tasks", required: ["title": text, "dueAt": "2026-03-03T09:00:00-08:00"],
            others: [
                "durationMinutes": 45, "timeZone": "Europe/Vienna", "patientId": "mom", "ownerId": "ann",
                "status": "completed", "reminders": [60, 0, 60], "notes": text,
            ]),
        Kind(
            collection: "shifts",
            required: ["patientId": "mom", "startAt": "2026-03-03T09:00:00Z", "endAt": "2026-03-03T12:00:30Z"],
            others: ["ownerId": "ben", "timeZone": "Asia/Kolkata", "notes": text]),
        Kind(
            collection: "shifts", required: ["patientId": "mom", "startDate": "2026-03-03"],
            others: ["endDate": "2026-03-05", "ownerId": "ben", "timeZone": "Asia/Kolkata", "notes": text]),
        Kind(
            collection: "appointments",
            required: ["patientId": "dad", "provider": text, "startAt": "1901-03-03T09:00:00-08:00"],
            others: [
                "endAt": "2026-03-03T09:59:00-08:00", "timeZone": "Australia/Lord_Howe", "location": text,
                "notes": text, "status": "tentative", "reminders": [],
                "recurrence": [
                    "rrule": "RRULE:FREQ=WEEKLY;COUNT=3", "exdates": ["2026-03-10T17:00:00Z"],
                    "rdates": ["2026-03-11T09:00:00-08:00", "2026-03-12T09:00:00-08:00"],
                ],
            ]),
        Kind(
            collection: "appointments",
            required: ["patientId": "dad", "provider": "Dr. Lee", "startAt": "2026-03-03T09:00:00-08:00"],
            others: ["durationMinutes": 10, "recurrence": ["rdates": ["2026-03-11T09:00:00-08:00"]]]),
        Kind(
            collection: "follow-ups", required: ["description": text, "dueAt": "2499-03-03T09:00:00-08:00"],
            others: [
                "durationMinutes": 10_080, "timeZone": "America/New_York", "patientId": "dad", "ownerId": "vic",
                "reminders": [40_320], "notes": text,
            ]),
        Kind(
            collection: "appointments/series/occurrences/20260310T160000Z", required: [:],
            others: [
                "startAt": "2026-03-10T10:00:00-08:00", "endAt": "2026-03-10T11:00:00-08:00", "provider": text,
                "location": text, "notes": text, "status": "cancelled",
            ]),
    ]

    /// Returns values with every field given and missing, null and wrong, each by itself and with all others.
    private static func values(_ kind: Kind) -> [JSONValue] {
        let full = kind.required.merging(kind.others) { $1 }
        var all: [[ByteString: JSONValue]] = [full, kind.required]
        let names = full.keys.sorted()
        for name in names {
            var (without, null, wrong, long) = (full, full, full, full)
            without[name] = nil
            (null[name], wrong[name], long[name]) = (.null, .number(1.5), .string(String(repeating: "2", count: 1001)))
            all += [without, null, wrong, long]
            if let value = kind.others[name] { all.append(kind.required.merging([name: value]) { $1 }) }
        }
        for value: JSONValue in [[], "", " ", -1, .bool(true), [-1, "x", 3]] {
            all.append(full.mapValues { _ in value })
        }
        all += [[:], ["unknown": 1, "other": .null], full.merging(["id": "x", "uid": "x", "sequence": 7]) { $1 }]
        if full["startAt"] != nil {
            all.append(full.merging(["startAt": "2027-03-03T09:00:00Z", "durationMinutes": 5]) { $1 })
            all.append(full.merging(["startAt": "2600-03-03T09:00:00Z", "startDate": "2026-02-30"]) { $1 })
        }
        all.append(full.merging(["startDate": "2026-03-06", "endDate": "2026-03-05"]) { $1 })
        return all.map(JSONValue.object)
    }

    /// Returns the answer without the parts that differ in every run, and what is then stored.
    private static func answer(_ server: TestServer, _ path: String, _ value: JSONValue) async throws -> JSONValue {
        let answer = try await server.call(.put, "/v1/circles/c/\(path)", value)
        guard case .object(var shown) = answer.json else { return .null }
        if shown["uid"] != nil { shown["uid"] = "…" }
        let rows = try await server.services.store.read { transaction in
            try transaction.rows(
                "SELECT content FROM \(path.contains("/occurrences/") ? "occurrences" : "schedule_items") "
                    + "WHERE \(path.contains("/occurrences/") ? "item_id = 'series'" : "id = 'x'")", [])
        }
        return [
            "path": .string(path), "sent": value, "status": .integer(answer.status), "answer": .object(shown),
            "stored": try rows.first.map { .string(try $0.text(required: "content")) } ?? .null,
        ]
    }

    @Test("Every field of every kind is answered and stored as it always was, given and missing, right and wrong")
    func unchanged() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put(
                "appointments", "series",
                [
                    "patientId": "mom", "provider": "Dr. Lee", "startAt": "2026-03-03T08:00:00-08:00",
                    "recurrence": ["rrule": "FREQ=WEEKLY;COUNT=6"],
                ])
            var lines: [String] = []
            for kind in Self.kinds {
                let path = kind.collection.contains("/") ? kind.collection : kind.collection + "/x"
                for value in Self.values(kind) {
                    lines.append(try await Self.answer(server, path, value).text())
                    _ = try await server.services.store.write { transaction in
                        try transaction.execute("DELETE FROM occurrences", [])
                        try transaction.execute("DELETE FROM schedule_items WHERE id = 'x'", [])
                    }
                }
            }
            if ProcessInfo.processInfo.environment["KALENDS_WRITE_DOCS"] != nil,
                !FileManager.default.fileExists(atPath: Self.file.path)
            {
                try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: Self.file)
            }
            let known = try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n").map(String.init)
            #expect(known.count == lines.count)
            for (line, other) in zip(lines, known) { #expect(line == other) }
        }
    }

    @Test(
        "What is stored without, with a null for, or with more than its fields is read as before",
        arguments: [
            (#"{"dueAt":0,"durationMinutes":30,"reminders":[],"status":"open","title":"x"}"#, true),
            (
                #"{"dueAt":0,"durationMinutes":30,"reminders":[],"status":"open","title":"x","#
                    + #""notes":null,"more":{}}"#, true
            ),
            (
                #" { "title" : "\u0078", "dueAt":0.0,"durationMinutes":3e1,"# + #""reminders":[ ],"status":"open"} "#,
                true
            ),
            (#"{"dueAt":0,"durationMinutes":30,"reminders":[],"status":"open"}"#, false),
            (#"{"dueAt":0,"durationMinutes":30,"reminders":[],"status":"open","title":null}"#, false),
            (#"{"dueAt":"0","durationMinutes":30,"reminders":[],"status":"open","title":"x"}"#, false),
            (#"{"dueAt":0.5,"durationMinutes":30,"reminders":[],"status":"open","title":"x"}"#, false),
            (#"{"dueAt":0,"reminders":[],"status":"open","title":"x"}"#, false),
            (#"{"dueAt":0,"durationMinutes":30,"status":"open","title":"x"}"#, false),
            (#"{"dueAt":0,"durationMinutes":30,"reminders":[true],"status":"open","title":"x"}"#, false),
            (#"{"dueAt":0,"durationMinutes":30,"reminders":[],"status":"opened","title":"x"}"#, false),
            (#"{"dueAt":0,"durationMinutes":30,"reminders":[],"status":"open","title":"x","notes":7}"#, false),
            ("[]", false), ("", false), (#"{"dueAt":0,"#, false),
        ])
    func restored(_ content: String, _ isUnderstood: Bool) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "x", ["title": "x", "dueAt": "2026-03-03T09:00:00Z"])
            _ = try await server.services.store.write {
                try $0.execute("UPDATE schedule_items SET content = $1", [.text(content)])
            }
            let answer = try await server.client.execute(
                uri: "/v1/circles/c/tasks/x", method: .get, headers: [.authorization: "Bearer \(server.key)"],
                body: nil)
            #expect(answer.status == (isUnderstood ? .ok : .internalServerError))
            if isUnderstood { #expect(try JSONValue(parsing: answer.body.readableBytesView)["title"] == "x") }
        }
    }
}
