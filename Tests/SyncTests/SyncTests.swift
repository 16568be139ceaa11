// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import HTTPTypes
import ICalBridge
import Logging
import Storage
import Synchronization
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Connections in step")
struct SyncTests {
    @Test("The first run fills the calendar, the next one asks once, and a change on either side crosses once")
    func stories() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(5)
            let id = try await server.connect()
            let calendar = bench.calendars[id]
            calendar.add(Entry(title: "Dentist", span: try .at("2026-04-02T10:00:00Z", "2026-04-02T11:00:00Z")))
            #expect(try await bench.sync.once() == 1)
            #expect(calendar.live.count == 6 && calendar.titles.first == "CK Appt: Mom - Dr. 0")
            var own = try await bench.connection(id)
            #expect(own["counts"] == ["linked": 5, "pending": 0, "conflicts": 0])
            #expect(own["lastSyncStatus"] == "success" && own["lastSyncAt"] != .null && own["attention"] == [])
            // Not before its time.
            #expect(try await bench.sync.once() == 0)
            server.clock.advance(seconds: 17 * 60)
            let before = (calendar.requests, calendar.writes)
            #expect(try await bench.sync.once() == 1)
            #expect(calendar.requests == before.0 + 1 && calendar.writes == before.1)

            try await server.put(
                "appointments", "a1",
                ["patientId": "mom", "provider": "Dr. Wu", "startAt": "2026-04-02T09:00:00-07:00"])
            var run = try await bench.run(id)
            #expect(run.trigger == .manual && run.counts.updated == 1 && run.counts.created == 0)
            #expect(calendar.event(of: "a1")?.entry.title == "CK Appt: Mom - Dr. Wu")

            let span = try TimeSpan.at("2026-04-20T17:00:00Z", "2026-04-20T18:30:00Z")
            calendar.edit("a2") { $0.span = span }
            run = try await bench.run(id)
            #expect(run.counts.pulled == 1 && run.status == .success)
            let item = try await server.item("appointments", "a2")
            #expect(item["startAt"] == "2026-04-20T10:00:00-07:00" && item["endAt"] == "2026-04-20T11:30:00-07:00")
            // It is announced as the user's change by way of that calendar, with the connection's provider.
            let reported = try await server.call(.get, "/v1/circles/c/activity?limit=1000").expect(200).json["items"]?
                .array
            let change = reported?.last { $0["type"] == "item" && $0["id"] == "a2" }
            #expect(change?["by"] == "user:ann" && change?["via"] == own["provider"])
            #expect(change?["after"]?["startAt"] == "2026-04-20T10:00:00-07:00")
            // What everything but a time is there, is put back.
            calendar.edit("a3") { $0.title = "Mine" }
            run = try await bench.run(id)
            #expect(run.counts.updated == 1 && calendar.event(of: "a3")?.entry.title == "CK Appt: Mom - Dr. 3")

            try await server.call(.delete, "/v1/circles/c/appointments/a0").expect(204)
            run = try await bench.run(id)
            #expect(run.counts.deleted == 1 && calendar.event(of: "a0") == nil && calendar.live.count == 5)
            own = try await bench.connection(id)
            #expect(own["counts"]?["linked"] == 4)
            #expect(calendar.titles.contains("Dentist"))
        }
    }

    @Test("An appointment that was deleted there stays, until a person says which side is right")
    func deletedThere() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(6)
            let id = try await server.connect()
            let calendar = bench.calendars[id]
            try await bench.sync.once()
            calendar.delete(["a1", "a2", "a3"])
            let run = try await bench.run(id)
            #expect(run.state == .done && run.counts.conflicts == 3)
            var open = try await bench.conflicts(id)
            #expect(open.count == 3)
            var own = try await bench.connection(id)
            #expect(own["counts"]?["conflicts"] == 3 && own["attention"]?.array?.first?["kind"] == "openConflicts")
            let changes = try await server.call(.get, "/v1/circles/c/changes", as: "ann").expect(200).json
            #expect(changes["items"]?.array?.filter { $0["type"] == "conflict" }.count == 3)
            func conflict(_ item: String) throws -> String {
                try #require(open.first { $0.content.contains("\"\(item)\"") }).id
            }
            let (one, two, three) = (try conflict("a1"), try conflict("a2"), try conflict("a3"))
            // Both is for what was moved on both sides.
            #expect(try await bench.decide(one, "both").expect(422).pointers == ["/keep"])
            try await server.call(.post, "/v1/conflicts/\(one)/resolve", ["keep": "mine"], as: "ann").expect(422)
            try await server.call(.post, "/v1/conflicts/\(one)/resolve", ["keep": "kalends"], as: "ben").expect(404)
            let resolved = try await bench.decide(one, "kalends").expect(200).json
            #expect(resolved["state"] == "resolved" && resolved["outcome"] == "kalends")
            #expect(resolved["resolvedBy"]?.string?.contains("user:ann") == true && resolved["kind"] == "deletedThere")
            try await bench.decide(two, "calendar").expect(200)
            try await server.call(.post, "/v1/conflicts/\(three)/dismiss", as: "ann").expect(200)
            try await server.call(.post, "/v1/conflicts/\(three)/dismiss", as: "ann").expect(409)
            open = try await bench.conflicts(id)
            #expect(open.isEmpty)
            try await bench.sync.once()
            #expect(
                calendar.event(of: "a1") != nil && calendar.event(of: "a2") == nil && calendar.event(of: "a3") == nil)
            #expect(try await server.item("appointments", "a1")["status"] == "confirmed")
            #expect(try await server.item("appointments", "a2")["status"] == "cancelled")
            #expect(try await server.item("appointments", "a3")["status"] == "confirmed")
            own = try await bench.connection(id)
            #expect(own["counts"]?["conflicts"] == 0 && own["attention"] == [])
            // What stays away comes back with the next change of its item.
            server.clock.advance(seconds: 3600)
            try await server.put(
                "appointments", "a3",
                ["patientId": "mom", "provider": "Dr. New", "startAt": "2026-04-04T09:00:00-07:00"])
            try await bench.run(id)
            #expect(calendar.event(of: "a3")?.entry.title == "CK Appt: Mom - Dr. New")
        }
    }

    @Test("Moved on both sides: the later one counts, close together the calendar, and a person may keep both")
    func bothChanged() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(3)
            let id = try await server.connect()
            let calendar = bench.calendars[id]
            try await bench.sync.once()
            func move(_ item: String, _ start: String) async throws {
                try await server.put(
                    "appointments", item, ["patientId": "mom", "provider": "Dr. M", "startAt": .string(start)])
            }
            let span = try TimeSpan.at("2026-04-20T17:00:00Z", "2026-04-20T18:00:00Z")
            server.clock.advance(seconds: 60)
            try await move("a0", "2026-04-21T09:00:00-07:00")
            server.clock.advance(seconds: 60)
            calendar.edit("a0") { $0.span = span }
            calendar.edit("a1") { $0.span = span }
            server.clock.advance(seconds: 600)
            try await move("a1", "2026-04-22T09:00:00-07:00")
            let run = try await bench.run(id)
            #expect(run.counts.conflicts == 2)
            #expect(try await server.item("appointments", "a0")["startAt"] == "2026-04-20T10:00:00-07:00")
            #expect(try await server.item("appointments", "a1")["startAt"] == "2026-04-22T09:00:00-07:00")
            let open = try await bench.conflicts(id)
            #expect(open.count == 2)
            for row in open {
                let shown = try await server.call(.get, "/v1/conflicts/\(row.id)", as: "ann").expect(200).json
                #expect(shown["kind"] == "bothChanged" && shown["fields"]?.array?.count == 1)
                let keep = shown["itemId"] == "a0" ? "both" : "calendar"
                try await bench.decide(row.id, keep).expect(200)
            }
            try await bench.sync.once()
            let items = try await server.call(.get, "/v1/circles/c/appointments").expect(200).json["items"]?.array ?? []
            #expect(items.count == 4 && calendar.live.count == 4)
            let copy = try #require(items.first { !["a0", "a1", "a2"].contains($0["id"]?.string ?? "") })
            #expect(copy["startAt"] == "2026-04-21T09:00:00-07:00")
            #expect(try await server.item("appointments", "a1")["startAt"] == "2026-04-20T10:00:00-07:00")
            #expect(calendar.event(of: "a1")?.entry.span == span)
            #expect(try await bench.run(id).counts.updated == 0)
        }
    }

    @Test("A run that would lose many events is held, can be looked at, and does no more than what was approved")
    func held() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(20)
            let id = try await server.connect()
            let calendar = bench.calendars[id]
            try await bench.sync.once()
            for number in 0..<12 {
                try await server.call(.delete, "/v1/circles/c/appointments/a\(number)").expect(204)
            }
            let run = try await bench.run(id)
            #expect(run.state == .held && run.held?.deletions == 12 && calendar.live.count == 20)
            var own = try await bench.connection(id)
            let notice = own["attention"]?.array?.first { $0["kind"] == "heldRun" }
            #expect(notice?["runId"] == .string(run.id))
            let refused = try await server.call(.post, "/v1/connections/\(id)/sync", as: "ann").expect(409)
            #expect(refused.json["code"] == "run-held" && refused.json["runId"] == .string(run.id))
            let preview = try await server.call(.post, "/v1/connections/\(id)/sync?mode=preview", as: "ann").expect(200)
            #expect(preview.json["counts"]?["deleted"] == 12 && preview.json["held"]?["causes"] == ["deletions"])
            // A look at its time leaves it held.
            server.clock.advance(seconds: 3600)
            #expect(try await bench.sync.once() == 1)
            #expect(try await bench.record(run.id).state == .held && calendar.live.count == 20)
            try await server.call(.post, "/v1/runs/\(run.id)/approve", as: "ben").expect(404)
            try await server.call(.post, "/v1/runs/\(run.id)/undo", as: "ann").expect(409)
            // More than was shown is held again.
            for number in 12..<15 {
                try await server.call(.delete, "/v1/circles/c/appointments/a\(number)").expect(204)
            }
            try await server.call(.post, "/v1/runs/\(run.id)/approve", as: "ann").expect(202)
            try await bench.sync.once()
            #expect(try await bench.record(run.id).held?.deletions == 15 && calendar.live.count == 20)
            server.clock.advance(seconds: 3600)
            try await bench.sync.once()
            #expect(calendar.live.count == 20)
            try await server.call(.post, "/v1/runs/\(run.id)/approve", as: "ann").expect(202)
            try await bench.sync.once()
            let done = try await bench.record(run.id)
            #expect(done.state == .done && done.counts.deleted == 15 && calendar.live.count == 5)
            own = try await bench.connection(id)
            #expect(own["attention"] == [])
            try await server.call(.post, "/v1/runs/\(run.id)/approve", as: "ann").expect(409)
            // The brake does not count an approved deletion.
            try await server.call(.delete, "/v1/circles/c/appointments/a19").expect(204)
            #expect(try await bench.run(id).counts.deleted == 1)
        }
    }

    @Test("A calendar that answers empty for once is held, and goes on by itself when its events are there again")
    func empty() async throws {
        try await SyncBench.run { bench in
            try await bench.fill(3)
            let id = try await bench.server.connect()
            let calendar = bench.calendars[id]
            try await bench.sync.once()
            calendar.state.withLock { $0.listsNothing = true }
            // Another window is listed again.
            try await bench.server.call(
                .patch, "/v1/connections/\(id)", ["config": ["futureDays": 100]], as: "ann"
            ).expect(200)
            try await bench.sync.once()
            let held = try #require(try await bench.server.services.store.read { try $0.heldRun(ofConnection: id) })
            #expect(try await bench.record(held.id).held?.causes.contains(.empty) == true)
            calendar.state.withLock { $0.listsNothing = false }
            bench.server.clock.advance(seconds: 3600)
            try await bench.sync.once()
            #expect(try await bench.record(held.id).state == .done && calendar.live.count == 3)
        }
    }

    @Test("A preview says exactly what the run then does, and changes nothing")
    func preview() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(8)
            let id = try await server.connect()
            let calendar = bench.calendars[id]
            for _ in 0..<2 {
                let writes = calendar.writes
                let preview = try await server.call(
                    .post, "/v1/connections/\(id)/sync?mode=preview", as: "ann"
                ).expect(200).json
                let again = try await server.call(
                    .post, "/v1/connections/\(id)/sync?mode=preview", as: "ann"
                ).expect(200).json
                #expect(preview == again && calendar.writes == writes && preview["held"] == .null)
                let run = try await bench.run(id)
                #expect(preview["counts"] == run.counts.json)
                let journal = try await server.syncStore(id).journal(of: run.id)
                let reported = Set(
                    (preview["items"]?.array ?? []).filter { ["create", "update", "delete"].contains($0["change"]) }.map
                    {
                        "\($0["itemId"]?.string ?? "") \($0["change"]?.string ?? "") \($0["direction"]?.string ?? "")"
                    })
                let done = Set(
                    journal.filter { [.create, .update, .delete].contains($0.change) }.map {
                        "\($0.item.id) \($0.change.rawValue) \($0.direction.rawValue)"
                    })
                #expect(reported == done && !reported.isEmpty)
                // Something of each kind for the second round.
                calendar.edit("a0") { $0.title = "Mine" }
                calendar.edit("a1") {
                    $0.span = .timed(
                        start: Instant(seconds: 1_776_000_000), end: Instant(seconds: 1_776_003_600),
                        zone: "America/Los_Angeles")
                }
                calendar.delete(["a2"])
                _ = try await server.call(.delete, "/v1/circles/c/appointments/a3")
                try await server.put("tasks", "t", ["title": "New", "dueAt": "2026-04-02T09:00:00-07:00"])
            }
            try await server.call(.post, "/v1/connections/\(id)/sync?mode=look", as: "ann").expect(422)
        }
    }
}
