// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Storage
import Testing

@testable import CalendarSync
@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Changes that come in from a person's calendar")
struct InboundTests {
    private static func knee(_ server: TestServer, _ more: JSONValue = [:]) async throws {
        var members: [ByteString: JSONValue] = [
            "patientId": "mom", "provider": "Dr. Lee", "startAt": "2026-03-06T14:00:00-08:00", "durationMinutes": 45,
            "notes": "Bring scans",
        ]
        if case .object(let given) = more { members.merge(given) { $1 } }
        try await server.put("appointments", "knee", .object(members))
    }

    private static func apply(
        _ edits: [InboundChange.Edit], to key: ItemKey = ItemKey(.appointments, "knee"), _ server: TestServer,
        by user: String = "ann", config: JSONValue = [:], revision: Int? = nil, recording batch: SyncBatch = SyncBatch()
    ) async throws -> InboundAnswer {
        let id = try await server.connect(user: user, label: UUID().uuidString, config: config)
        let store = try await server.syncStore(id)
        let now = try await store.desired().items.first { $0.item == key }?.revision ?? 0
        return try await store.apply(
            InboundChange(item: key, revision: revision ?? now, edits: edits, reason: "edited"), recording: batch)
    }

    @Test("A move is stored as the user's own change: revision, change number, audit trail and the batch with it")
    func moves() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await Self.knee(server)
            let before = try await server.call(.get, "/v1/circles/c/changes").expect(200).json["latest"]
            var batch = SyncBatch()
            batch.links = [
                Link(item: ItemKey(.appointments, "knee"), state: .linked, since: Instant(milliseconds: 0))
            ]
            let span = try TimeSpan.at("2026-03-07T18:00:00Z", "2026-03-07T19:00:00Z")
            let answer = try await Self.apply([.times(span)], server, recording: batch)
            guard case .applied(let ours) = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(ours.entry.span == span && ours.revision == 1 && ours.entry.title == "CK Appt: Mom - Dr. Lee")
            let item = try await server.item("appointments", "knee")
            #expect(item["startAt"] == "2026-03-07T10:00:00-08:00" && item["endAt"] == "2026-03-07T11:00:00-08:00")
            #expect(item["sequence"] == 1 && item["notes"] == "Bring scans")
            let after = try await server.call(.get, "/v1/circles/c/changes").expect(200).json
            #expect(after["latest"] != before)
            #expect(after["items"]?.array?.last?["type"] == "item")
            let audit = try await server.call(.get, "/v1/audit").expect(200).text
            #expect(audit.contains("connection.applied") && audit.contains("user:ann"))
            let links = try await server.services.store.read { transaction in
                try transaction.syncLinks(ofItem: "knee", in: "appointments")
            }
            #expect(links.count == 1 && links.first?.state == "linked")
        }
    }

    @Test(
        "Neither the change nor the batch is stored when the item has changed, cannot become so, or may not be changed")
    func refusals() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await Self.knee(server)
            try await server.put(
                "shifts", "s",
                [
                    "patientId": "mom", "startAt": "2026-03-06T14:00:00-08:00",
                    "endAt": "2026-03-06T15:00:00-08:00",
                ])
            var batch = SyncBatch()
            batch.journal = [
                JournalEntry(
                    id: "j", run: "r", at: Instant(milliseconds: 0), direction: .in, change: .update,
                    item: ItemKey(.appointments, "knee"), generation: 0, externalID: nil, reason: "edited", before: nil,
                    after: nil)
            ]
            let span = try TimeSpan.at("2026-03-07T18:00:00Z", "2026-03-07T19:00:00Z")
            let day = try #require(CivilDate(iso: "2026-03-07"))
            let shift = ItemKey(.shifts, "s")
            let long = String(repeating: "x", count: 20_000)
            let wrong: [(InboundAnswer, InboundAnswer?)] = [
                (try await Self.apply([.times(span)], server, revision: 7, recording: batch), .changedMeanwhile),
                (try await Self.apply([.times(span)], to: ItemKey(.tasks, "x"), server), .changedMeanwhile),
                (try await Self.apply([.times(span)], server, by: "vic", recording: batch), nil),
                (try await Self.apply([.times(.days(first: day, until: day.adding(days: 1)))], server), nil),
                (try await Self.apply([.times(.timed(start: span.end, end: span.begin, zone: "UTC"))], server), nil),
                (try await Self.apply([.title("Other")], to: shift, server, recording: batch), nil),
                (try await Self.apply([.location("Here")], to: shift, server, recording: batch), nil),
                (try await Self.apply([.notes("New")], server, config: ["detail": "titles"], recording: batch), nil),
                (try await Self.apply([.title(long)], server, recording: batch), nil),
                (try await Self.apply([.occurrenceCancelled(span.begin)], server, recording: batch), nil),
                (try await Self.apply([.times(span), .reminders([99_999])], server, recording: batch), nil),
            ]
            for (index, (answer, expected)) in wrong.enumerated() {
                if let expected {
                    #expect(answer == expected, "\(index)")
                } else if case .refused(let sentence) = answer {
                    #expect(sentence.hasSuffix("."), "\(index)")
                } else {
                    Issue.record("\(index): \(answer)")
                }
            }
            let item = try await server.item("appointments", "knee")
            #expect(item["sequence"] == 0 && item["startAt"] == "2026-03-06T14:00:00-08:00")
            #expect(try await server.item("shifts", "s")["sequence"] == 0)
            let connections = try await server.services.store.read { transaction in
                try ["ann", "vic"].flatMap { try transaction.connections(of: $0, in: "c") }
            }
            for own in connections {
                let lines = try await server.services.store.read {
                    try $0.syncJournal(of: own.id, before: .max, limit: 10)
                }
                #expect(lines.isEmpty)
            }
            #expect(connections.count == wrong.count)
        }
    }

    @Test("Texts, reminders, status and cancellation are taken over, and a title loses what stands in front of it")
    func fields() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await Self.knee(server)
            let answer = try await Self.apply(
                [
                    .title("CK Appt: Mom - Dr. Wu"), .notes("Fasting"), .location("Main St"), .reminders([15]),
                    .status(.tentative),
                ], server)
            guard case .applied(let ours) = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(ours.entry.title == "CK Appt: Mom - Dr. Wu" && ours.entry.reminders == [15])
            var item = try await server.item("appointments", "knee")
            #expect(item["provider"] == "Dr. Wu" && item["notes"] == "Fasting" && item["location"] == "Main St")
            #expect(item["reminders"] == [15] && item["status"] == "tentative")
            _ = try await Self.apply([.cancelled], server)
            item = try await server.item("appointments", "knee")
            #expect(item["status"] == "cancelled" && item["provider"] == "Dr. Wu")

            try await server.put("tasks", "t", ["title": "Pills", "dueAt": "2026-03-03T08:00:00-08:00"])
            let task = ItemKey(.tasks, "t")
            let span = try TimeSpan.at("2026-03-04T08:00:00Z", "2026-03-04T09:30:00Z", "Europe/Berlin")
            _ = try await Self.apply([.title("CK: Pills and water"), .times(span)], to: task, server)
            item = try await server.item("tasks", "t")
            #expect(item["title"] == "Pills and water" && item["durationMinutes"] == 90)
            #expect(item["dueAt"] == "2026-03-04T09:00:00+01:00" && item["timeZone"] == "Europe/Berlin")
            _ = try await Self.apply([.title("Something else")], to: task, server)
            #expect(try await server.item("tasks", "t")["title"] == "Something else")
            let utc = try TimeSpan.at("2026-03-05T08:00:00Z", "2026-03-05T09:30:00Z", "UTC")
            _ = try await Self.apply([.times(utc)], to: task, server)
            item = try await server.item("tasks", "t")
            #expect(item["dueAt"] == "2026-03-05T09:00:00+01:00" && item["timeZone"] == "Europe/Berlin")
        }
    }

    private static let weekly: JSONValue = [
        "startAt": "2026-03-02T09:00:00-08:00", "durationMinutes": 30,
        "recurrence": ["rrule": "FREQ=WEEKLY;UNTIL=20260406T160000Z", "exdates": ["2026-03-16T09:00:00-07:00"]],
    ]

    @Test("One occurrence is moved, cancelled, filled and given back to its series")
    func occurrences() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await Self.knee(server, Self.weekly)
            let path = "/v1/circles/c/appointments/knee/occurrences"
            let start = try instant("2026-03-09T16:00:00Z")
            let span = try TimeSpan.at("2026-03-10T18:00:00Z", "2026-03-10T19:00:00Z")
            let moved = try await Self.apply([.occurrenceTimes(start, span)], server)
            guard case .applied(let ours) = moved, case .changed(let changed)? = ours.entry.occurrences[start] else {
                Issue.record("\(moved)")
                return
            }
            #expect(changed.span == span && changed.notes == "Bring scans")
            var shown = try await server.call(.get, "\(path)/20260309T160000Z").expect(200).json
            #expect(shown["startAt"] == "2026-03-10T11:00:00-07:00" && shown["notes"] == "Bring scans")

            _ = try await Self.apply(
                [
                    .occurrence(
                        start,
                        Entry(
                            title: "CK Appt: Mom - Stand-in", notes: "Bring scans", location: "Annex", span: span,
                            status: .tentative))
                ], server)
            shown = try await server.call(.get, "\(path)/20260309T160000Z").expect(200).json
            #expect(shown["provider"] == "Stand-in" && shown["location"] == "Annex" && shown["status"] == "tentative")

            _ = try await Self.apply([.occurrenceCancelled(try instant("2026-03-23T16:00:00Z"))], server)
            #expect(try await server.call(.get, "\(path)/20260323T160000Z").expect(200).json["status"] == "cancelled")
            // What is no start of the series does not take place anyway, and cannot be moved.
            let none = try instant("2026-03-24T16:00:00Z")
            _ = try await Self.apply([.occurrenceCancelled(none)], server)
            try await server.call(.get, "\(path)/20260324T160000Z").expect(404)
            let wrong = try await Self.apply([.occurrenceTimes(none, span)], server)
            guard case .refused = wrong else {
                Issue.record("\(wrong)")
                return
            }
            _ = try await Self.apply(
                [.occurrenceRestored(start), .occurrenceRestored(try instant("2026-03-16T16:00:00Z"))], server)
            // Its times are those of the series again; what else it has of its own stays.
            shown = try await server.call(.get, "\(path)/20260309T160000Z").expect(200).json
            #expect(shown["startAt"] == "2026-03-09T09:00:00-07:00" && shown["endAt"] == "2026-03-09T09:30:00-07:00")
            #expect(shown["provider"] == "Stand-in" && shown["location"] == "Annex" && shown["status"] == "tentative")
            try await server.call(.get, "\(path)/20260316T160000Z").expect(404)
            #expect(try await server.item("appointments", "knee")["recurrence"]?["exdates"] == [])

            let other = try instant("2026-03-30T16:00:00Z")
            _ = try await Self.apply(
                [.occurrenceTimes(other, try TimeSpan.at("2026-03-31T18:00:00Z", "2026-03-31T19:00:00Z"))], server)
            try await server.call(.get, "\(path)/20260330T160000Z").expect(200)
            _ = try await Self.apply([.occurrenceRestored(other)], server)
            try await server.call(.get, "\(path)/20260330T160000Z").expect(404)
        }
    }

    @Test("A series that moves keeps its last day, its exceptions, and the occurrences that were changed one by one")
    func series() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await Self.knee(server, Self.weekly)
            let path = "/v1/circles/c/appointments/knee/occurrences"
            try await server.call(
                .put, "\(path)/20260309T160000Z", ["startAt": "2026-03-10T11:00:00-07:00"]
            ).expect(201)
            try await server.call(.put, "\(path)/20260323T160000Z", ["status": "cancelled"]).expect(201)
            // From nine to ten o'clock, over the change to summer time.
            let span = try TimeSpan.at("2026-03-02T18:00:00Z", "2026-03-02T18:45:00Z")
            let answer = try await Self.apply([.times(span)], server)
            guard case .applied(let ours) = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(
                ours.entry.repetition
                    == Repetition(
                        rrule: "FREQ=WEEKLY;UNTIL=20260406T170000Z", exdates: [try instant("2026-03-16T17:00:00Z")]))
            let kept = ours.entry.occurrences
            #expect(kept[try instant("2026-03-23T17:00:00Z")] == .cancelled && kept.count == 2)
            guard case .changed(let changed)? = kept[try instant("2026-03-09T17:00:00Z")] else {
                Issue.record("\(kept)")
                return
            }
            #expect(changed.span == (try .at("2026-03-10T18:00:00Z", "2026-03-10T18:30:00Z")))
        }
    }

    @Test("Both times are kept as two appointments, of a series' occurrence as a single one")
    func copies() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await Self.knee(server)
            let span = try TimeSpan.at("2026-03-07T18:00:00Z", "2026-03-07T19:00:00Z")
            let answer = try await Self.apply([.copy(span, of: nil)], server)
            guard case .applied(let ours) = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(ours.item.id == "knee" && ours.revision == 0)
            func all() async throws -> [JSONValue] {
                try await server.call(.get, "/v1/circles/c/appointments").expect(200).json["items"]?.array ?? []
            }
            var items = try await all()
            #expect(items.count == 2)
            let copy = try #require(items.first { $0["id"] != "knee" })
            #expect(copy["startAt"] == "2026-03-07T10:00:00-08:00" && copy["notes"] == "Bring scans")

            try await Self.knee(server, Self.weekly)
            _ = try await Self.apply([.copy(span, of: try instant("2026-03-09T16:00:00Z"))], server)
            items = try await all()
            #expect(items.count == 3)
            let second = try #require(items.first { $0["id"] != "knee" && $0["id"] != copy["id"] })
            #expect(second["recurrence"] == .null && second["startAt"] == "2026-03-07T10:00:00-08:00")
            #expect(items.first { $0["id"] == "knee" }?["recurrence"] != .null)
        }
    }

    @Test("A run that lost its turn stores nothing, here neither")
    func fencing() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await Self.knee(server)
            let id = try await server.connect()
            let (first, second) = (
                try await server.syncStore(id, holder: "one"), try await server.syncStore(id, holder: "two")
            )
            try await first.commit(SyncBatch())
            await #expect(throws: SyncInterruption.leaseLost) { try await second.commit(SyncBatch()) }
            server.clock.advance(milliseconds: DatabaseSyncStore.leaseTime + 1)
            try await second.commit(SyncBatch())
            let span = try TimeSpan.at("2026-03-07T18:00:00Z", "2026-03-07T19:00:00Z")
            await #expect(throws: SyncInterruption.leaseLost) {
                try await first.apply(
                    InboundChange(
                        item: ItemKey(.appointments, "knee"), revision: 0, edits: [.times(span)], reason: "edited"),
                    recording: SyncBatch())
            }
            #expect(try await server.item("appointments", "knee")["sequence"] == 0)
            try await server.call(.delete, "/v1/connections/\(id)", as: "ann").expect(204)
            await #expect(throws: SyncInterruption.superseded) { try await second.commit(SyncBatch()) }
        }
    }
}

extension TimeSpan {
    fileprivate var begin: Instant { if case .timed(let start, _, _) = self { start } else { Instant(seconds: 0) } }
    fileprivate var end: Instant { if case .timed(_, let end, _) = self { end } else { Instant(seconds: 0) } }
}
