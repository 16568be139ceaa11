// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import HTTPTypes
import ICalBridge
import Storage
import Synchronization
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// Failures that other servers had, with the whole server around the engine.
@Suite struct ServerFailureTests {
    // MARK: Several carriers

    @Test(
        "A phone that comes back after another took over undoes and deletes nothing with what it still remembers")
    func staleCarrier() async throws {
        try await PhoneBench.run { bench in
            let server = bench.server
            let (old, new) = (try await Phone(server), try await Phone(server, named: "phone-2"))
            let names = (0..<15).map { "a\($0)" }
            for name in names { try await bench.appointment(name, "2026-03-20T10:00:00-07:00") }
            let id = try await bench.connect()
            let remembered = try await old.changes().events
            #expect(remembered.count == 15)
            for event in remembered {
                try await old.upsert(
                    bench.sent(event, as: "X-\(event["itemId"]?.string ?? "")", ["turn": event["turn"] ?? .null]))
            }
            server.clock.advance(seconds: 8 * 86_400)
            let taken = try await new.changes().events
            #expect(taken.count == 15)
            for event in taken {
                try await new.upsert(
                    bench.sent(event, as: "X-\(event["itemId"]?.string ?? "")", ["turn": event["turn"] ?? .null]))
            }
            for name in names { try await bench.appointment(name, "2026-03-21T15:00:00-07:00") }
            let since = try await new.changes().nextSince

            // It has the times of last week, and takes a calendar that did not load for an empty one.
            func event(_ event: JSONValue, _ more: [ByteString: JSONValue]) -> JSONValue {
                bench.sent(event, as: "X-\(event["itemId"]?.string ?? "")", more)
            }
            let edits = remembered.map { event($0, ["turn": 1, "startTime": "08:00", "endTime": "09:00"]) }
            let deletions = remembered.map { event($0, ["turn": 1, "syncState": "deleted"]) }
            for sent in [edits, deletions, deletions.map { .object(($0.object ?? [:]).filter { $0.key != "turn" }) }] {
                let answer = try await old.call(.post, "/sync/apple/events/upsert", ["events": .array(sent)])
                    .expect(200).json
                #expect(answer["upserted"] == 0 && answer["rejected"]?.array?.count == 15, "\(answer)")
                let codes = (answer["rejected"]?.array ?? []).map { $0["errors"]?.array?.first?["code"] }
                #expect(codes.allSatisfy { $0 == "stale" })
            }
            #expect(try await old.changes().events.isEmpty)
            #expect(try await new.changes(since: since).events.isEmpty)
            for name in names {
                let start = try await server.item("appointments", name)["startAt"]
                #expect(start == "2026-03-21T15:00:00-07:00")
            }
            #expect(try await bench.open(id).isEmpty)
            let own = try await server.call(.get, "/v1/users/ann/events", as: "ann").expect(200).json
            #expect(own["items"] == [])
        }
    }

    @Test("An older copy of the connections' records is noticed before it writes, and a person decides")
    func olderCopy() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(6)
            let id = try await server.connect()
            let calendar = bench.calendars[id]
            try await bench.sync.once()
            let links = try await server.services.store.read { try $0.syncLinks(of: id) }
            // After the backup, three more were made; the restored database knows nothing of their events.
            try await bench.fill(9)
            try await bench.run(id)
            #expect(calendar.live.count == 9)
            let known = Set(links.map { ByteString("\($0.collection) \($0.itemID)") })
            _ = try await server.services.store.record { transaction in
                for link in try transaction.syncLinks(of: id)
                where !known.contains(ByteString("\(link.collection) \(link.itemID)")) {
                    try transaction.execute(
                        "DELETE FROM sync_links WHERE connection_id = $1 AND collection = $2 AND item_id = $3",
                        [.text(id), .text(link.collection), .text(link.itemID)])
                }
                try transaction.execute("UPDATE sync_positions SET content = json_remove(content, '$.cursor')", [])
            }
            for number in 0..<6 { try await server.call(.delete, "/v1/circles/c/appointments/a\(number)").expect(204) }
            let writes = calendar.writes
            let held = try await bench.run(id)
            #expect(held.state == .held && held.held?.causes.contains(.restored) == true, "\(held)")
            #expect(calendar.writes == writes && calendar.live.count == 9)
            #expect(try await bench.connection(id)["attention"]?.array?.contains { $0["kind"] == "heldRun" } == true)
        }
    }

    @Test(
        "Two people's connections on one calendar, both ways: neither touches what the other made, and both rest")
    func oneCalendar() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(8)
            let shared = MemoryCalendar(server.clock)
            bench.calendars.share(shared)
            let (anns, bens) = (try await server.connect(), try await server.connect(user: "ben"))
            func settle(_ rounds: Int) async throws {
                for _ in 0..<rounds {
                    server.clock.advance(seconds: 1200)
                    try await bench.sync.once()
                }
            }
            func events(of connection: String) -> [MemoryCalendar.Stored] {
                shared.live.values.filter { $0.mark?.connection.isSameText(as: connection) == true }
            }
            try await settle(2)
            #expect(events(of: anns).count == 8 && events(of: bens).count == 8 && shared.live.count == 16)
            // A person drags one of Ann's, and throws one of Ben's away; another goes here, and one is moved here.
            let evening: TimeSpan = try .at("2026-04-03T19:00:00-07:00", "2026-04-03T20:00:00-07:00")
            func id(_ connection: String, _ item: String) -> ByteString? {
                shared.live.first { _, stored in
                    stored.mark?.connection.isSameText(as: connection) == true
                        && stored.mark?.item.id.isSameText(as: item) == true
                }?.key
            }
            let (moved, thrown) = (try #require(id(anns, "a2")), try #require(id(bens, "a3")))
            shared.state.withLock { state in
                for (id, change) in [(moved, 1), (thrown, 2)] {
                    guard var stored = state.events[id] else { continue }
                    stored.change = state.change + change
                    stored.updatedAt = Instant(milliseconds: server.clock.now)
                    if id == moved { stored.entry.span = evening } else { stored.isLive = false }
                    state.events[id] = stored
                }
                state.change += 2
            }
            try await server.call(.delete, "/v1/circles/c/appointments/a5").expect(204)
            try await settle(3)
            #expect(try await server.item("appointments", "a2")["startAt"] == "2026-04-03T19:00:00-07:00")
            #expect(events(of: anns).count == 7 && events(of: bens).count == 6)
            #expect(Set(events(of: bens).map(\.entry.title)).count == 6)
            #expect(events(of: bens).first { $0.mark?.item.id == "a2" }?.entry.span == evening)
            #expect(try await bench.conflicts(anns).isEmpty)
            #expect(try await bench.conflicts(bens).count == 1)
            let writes = shared.writes
            try await settle(4)
            #expect(shared.writes == writes)
        }
    }
}
