// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Storage
import Testing

@testable import CalendarSync
@testable import KalendsCore
@testable import ServerTestSupport

@Suite("What a connection's calendar shows")
struct ConnectionContentsTests {
    /// Stores items of every kind around the first days of March 2026.
    private static func fill(_ server: TestServer) async throws {
        try await server.makeCircle()
        try await server.put(
            "tasks", "pills",
            [
                "title": "Pills", "dueAt": "2026-03-03T08:00:00-08:00", "patientId": "mom",
                "reminders": [30, 10], "notes": "With\r\nfood",
            ])
        try await server.put(
            "tasks", "done", ["title": "Bills", "dueAt": "2026-03-03T09:00:00-08:00", "status": "completed"])
        try await server.put(
            "tasks", "off", ["title": "Never", "dueAt": "2026-03-03T10:00:00-08:00", "status": "cancelled"])
        try await server.put(
            "shifts", "mine",
            [
                "patientId": "mom", "ownerId": "ann", "startAt": "2026-03-04T08:00:00-08:00",
                "endAt": "2026-03-04T16:00:00-08:00",
            ])
        try await server.put(
            "shifts", "days",
            ["patientId": "dad", "ownerId": "ben", "startDate": "2026-03-05", "endDate": "2026-03-07"])
        try await server.put(
            "appointments", "knee",
            [
                "patientId": "mom", "provider": "Dr. Lee", "startAt": "2026-03-06T14:00:00-08:00",
                "durationMinutes": 45, "location": "Main St", "status": "tentative", "reminders": [60],
                "timeZone": "America/New_York",
            ])
        try await server.put(
            "appointments", "gone",
            [
                "patientId": "mom", "provider": "X", "startAt": "2026-03-06T14:00:00-08:00",
                "status": "cancelled",
            ])
        try await server.put(
            "appointments", "physio",
            [
                "patientId": "dad", "provider": "Physio", "startAt": "2026-03-02T09:00:00-08:00",
                "durationMinutes": 30, "notes": "Bring shoes",
                "recurrence": ["rrule": "FREQ=WEEKLY;COUNT=6", "exdates": ["2026-03-16T09:00:00-07:00"]],
            ])
        try await server.call(
            .put, "/v1/circles/c/appointments/physio/occurrences/20260309T160000Z",
            ["startAt": "2026-03-10T11:00:00-07:00", "provider": "Stand-in"]
        ).expect(201)
        try await server.call(
            .put, "/v1/circles/c/appointments/physio/occurrences/20260323T160000Z", ["status": "cancelled"]
        ).expect(201)
        try await server.put(
            "follow-ups", "call", ["description": "Call back", "dueAt": "2026-03-08T12:00:00-07:00", "ownerId": "ann"])
        try await server.put("tasks", "later", ["title": "Later", "dueAt": "2028-03-03T08:00:00-08:00"])
    }

    private static func desired(_ server: TestServer, _ config: JSONValue = [:]) async throws -> [ByteString: Ours] {
        let id = try await server.connect(label: UUID().uuidString, config: config)
        let items = try await server.syncStore(id).desired().items
        return Dictionary(uniqueKeysWithValues: items.map { (ByteString($0.item.id), $0) })
    }

    @Test("Each item becomes the entry that its feed shows, a series one entry with its changed occurrences")
    func entries() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let all = try await Self.desired(server)
            #expect(Set(all.keys) == ["pills", "mine", "days", "knee", "physio", "call"])
            #expect(
                all["pills"]?.entry
                    == Entry(
                        title: "CK: Pills", notes: "With\nfood",
                        span: try .at("2026-03-03T16:00:00Z", "2026-03-03T16:30:00Z"), reminders: [10, 30],
                        availability: .free))
            #expect(
                all["mine"]?.entry
                    == Entry(
                        title: "CK Shift: Mom - Ann", span: try .at("2026-03-04T16:00:00Z", "2026-03-05T00:00:00Z")))
            let first = try #require(CivilDate(iso: "2026-03-05"))
            #expect(
                all["days"]?.entry
                    == Entry(
                        title: "CK Shift: Dad - Ben", span: .days(first: first, until: first.adding(days: 3)),
                        availability: .free))
            #expect(
                all["knee"]?.entry
                    == Entry(
                        title: "CK Appt: Mom - Dr. Lee", location: "Main St",
                        span: try .at("2026-03-06T22:00:00Z", "2026-03-06T22:45:00Z", "America/New_York"),
                        reminders: [60], status: .tentative))
            #expect(all["call"]?.entry.title == "CK Follow-up: Call back")
            let physio = try #require(all["physio"])
            #expect(physio.item == ItemKey(.appointments, "physio") && physio.revision > 0)
            #expect(
                physio.entry
                    == Entry(
                        title: "CK Appt: Dad - Physio", notes: "Bring shoes",
                        span: try .at("2026-03-02T17:00:00Z", "2026-03-02T17:30:00Z"),
                        repetition: Repetition(
                            rrule: "FREQ=WEEKLY;COUNT=6", exdates: [try instant("2026-03-16T16:00:00Z")]),
                        occurrences: [
                            try instant("2026-03-09T16:00:00Z"): .changed(
                                Entry(
                                    title: "CK Appt: Dad - Stand-in", notes: "Bring shoes", location: "",
                                    span: try .at("2026-03-10T18:00:00Z", "2026-03-10T18:30:00Z"))),
                            try instant("2026-03-23T16:00:00Z"): .cancelled,
                        ]))
        }
    }

    @Test("The configuration chooses and words items exactly as a feed's does")
    func likeFeeds() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            // What a feed does not write, no calendar elsewhere gets either.
            try await server.put(
                "tasks", "turned",
                ["title": "Pay \u{202E}lla", "notes": "a\u{2066}b\u{E0041}", "dueAt": "2026-03-03T11:00:00-08:00"])
            let requests: [JSONValue] = [
                [:], ["detail": "titles"], ["detail": "busy"], ["showMinimalDetails": true],
                ["includeReminders": false], ["patientIds": ["mom"]], ["completedTasks": "keep"],
                ["patientIds": ["dad"], "detail": "titles", "completedTasks": "keep"],
            ]
            for (number, request) in requests.enumerated() {
                let entries = try await Self.desired(server, request).values.map(\.entry)
                let feed = try await server.makeFeed(label: "\(number)", config: request)
                let text = try await server.raw(.get, feed.path).expect(200).text
                let calendar = CalendarReader().read(Array(text.utf8))
                let zone = try #require(TimeZoneReference("America/Los_Angeles"))
                let shown = Series.group(calendar.events).filter { !($0.master?.isCancelled ?? false) }.compactMap {
                    Entry(($0.master.map { [$0] } ?? []) + $0.overrides, in: zone)
                }
                #expect(shown.count == entries.count, "\(request)")
                #expect(Set(shown) == Set(entries), "\(request)")
            }
        }
    }

    @Test("Switched-off kinds are left out, and linked items that were deleted are distinguished from hidden ones")
    func deleted() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let some = try await Self.desired(
                server, ["syncTasks": false, "syncShifts": false, "syncFollowUps": false])
            #expect(Set(some.keys) == ["knee", "physio"])
            let id = try await server.connect(label: "linked")
            let store = try await server.syncStore(id)
            var batch = SyncBatch()
            let now = Instant(milliseconds: server.clock.now)
            for key in [ItemKey(.tasks, "pills"), ItemKey(.tasks, "later"), ItemKey(.followUps, "call")] {
                batch.links.append(Link(item: key, state: .linked, since: now))
            }
            try await store.commit(batch)
            // What is linked is named wherever it lies.
            #expect(try await store.desired().items.contains { $0.item == ItemKey(.tasks, "later") })
            for path in ["tasks/pills", "tasks/later", "shifts/mine"] {
                try await server.call(.delete, "/v1/circles/c/\(path)").expect(204)
            }
            let desired = try await store.desired()
            #expect(desired.deleted == [ItemKey(.tasks, "pills"), ItemKey(.tasks, "later")])
            #expect(Set(desired.items.map { ByteString($0.item.id) }) == ["days", "knee", "physio", "call"])
        }
    }

    @Test("What decides what is shown changes the fingerprint, and how often it is shown does not")
    func fingerprint() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let id = try await server.connect()
            var prints = [try await server.parts(id).fingerprint()]
            for change: JSONValue in [
                ["detail": "titles"], ["patientIds": ["mom"]], ["pastDays": 3], ["futureDays": 3], ["syncTasks": false],
            ] {
                try await server.call(.patch, "/v1/connections/\(id)", ["config": change], as: "ann").expect(200)
                prints.append(try await server.parts(id).fingerprint())
            }
            #expect(Set(prints).count == prints.count)
            let config: JSONValue = ["syncIntervalMinutes": 60, "twoWay": false]
            try await server.call(.patch, "/v1/connections/\(id)", ["config": config], as: "ann").expect(200)
            #expect(try await server.parts(id).fingerprint() == prints.last)
        }
    }
}
