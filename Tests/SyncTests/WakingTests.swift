// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import HTTPTypes
import ICalBridge
import Storage
import Synchronization
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("What wakes a connection, and how often it is looked at")
struct WakingTests {
    private static func appointment(_ name: String) -> JSONValue {
        ["patientId": "mom", "provider": .string(name), "startAt": "2026-04-01T09:00:00-07:00"]
    }

    private static func due(_ id: String, _ server: TestServer) async throws -> PendingSync? {
        try await server.services.store.read { try $0.pendingSync(of: id) }
    }

    @Test("A change here leaves within ten seconds, and several together are one run")
    func change() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let id = try await server.connect()
            let other = try await server.connect(user: "ben")
            try await bench.sync.once()
            let calendar = bench.calendars[id]
            for number in 0..<5 {
                try await server.put("appointments", "a\(number)", Self.appointment("Dr. \(number)"))
                server.clock.advance(milliseconds: 500)
            }
            #expect(try await bench.sync.once() == 0)
            server.clock.advance(seconds: 2)
            // One run of each of the circle's connections.
            #expect(try await bench.sync.once() == 2)
            #expect(calendar.live.count == 5 && bench.calendars[other].live.count == 5)
            let rows = try await server.services.store.read { try $0.syncRuns(of: id, before: .max, limit: 9) }
            let run: RunRecord = try storedRecord(try #require(rows.first).content)
            #expect(rows.count == 2 && run.trigger == .schedule && run.counts.created == 5)
            // Its regular time is as it was, and nothing wakes it any more.
            server.clock.advance(seconds: 60)
            #expect(try await bench.sync.once() == 0)
        }
    }

    @Test("A change does not wake a connection whose run is held, which is examined at its own time")
    func held() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            for number in 0..<12 {
                try await server.put("appointments", "a\(number)", Self.appointment("Dr. \(number)"))
            }
            let id = try await server.connect()
            try await bench.sync.once()
            for number in 0..<12 {
                try await server.call(.delete, "/v1/circles/c/appointments/a\(number)").expect(204)
            }
            server.clock.advance(seconds: 5)
            #expect(try await bench.sync.once() == 1)
            let run = try #require(try await server.services.store.read { try $0.heldRun(ofConnection: id) })
            let requests = bench.calendars[id].requests
            try await server.put("appointments", "b", Self.appointment("Dr. B"))
            server.clock.advance(seconds: 5)
            #expect(try await bench.sync.once() == 0)
            #expect(bench.calendars[id].requests == requests)
            #expect(try await Self.due(id, server) == nil)
            // What somebody approved leaves with everything else, and changes wake it again.
            try await server.call(.post, "/v1/runs/\(run.id)/approve", as: "ann").expect(202)
            #expect(try await bench.sync.once() == 1)
            #expect(bench.calendars[id].titles == ["CK Appt: Mom - Dr. B"])
            try await server.put("appointments", "c", Self.appointment("Dr. C"))
            server.clock.advance(seconds: 5)
            #expect(try await bench.sync.once() == 1 && bench.calendars[id].live.count == 2)
        }
    }

    @Test("By a clock on the wall, too, a change is there within ten seconds")
    func clock() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let id = try await server.connect()
            try await bench.sync.once()
            let ticking = Task {
                while !Task.isCancelled {
                    try await Task.sleep(for: .milliseconds(100))
                    server.clock.advance(milliseconds: 100)
                }
            }
            let running = Task { try await bench.sync.run() }
            defer {
                running.cancel()
                ticking.cancel()
            }
            let began = server.clock.now
            try await server.put("appointments", "a", Self.appointment("Dr. A"))
            try await eventually("The calendar has it.") { bench.calendars[id].live.count == 1 }
            #expect(server.clock.now - began < 10_000)
        }
    }

    @Test("Ten thousand changes within minutes are a run every few seconds, and the last of them has everything")
    func storm() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let id = try await server.connect()
            try await bench.sync.once()
            let before = bench.calendars[id].requests
            var (runs, wishes) = (0, Set<Int>())
            for batch in 0..<100 {
                let now = server.clock.now
                // What a hundred items of an import note, and one item that is really there.
                try await server.services.store.record { transaction in
                    for number in 0..<100 {
                        try transaction.note(
                            .item, .created, in: "c", collection: "tasks", id: "t\(batch)-\(number)", now: now)
                    }
                }
                if batch == 99 { try await server.put("appointments", "last", Self.appointment("Last")) }
                server.clock.advance(seconds: 1)
                runs += try await bench.sync.once()
                if let wish = try await Self.due(id, server) { wishes.insert(wish.dueAt) }
            }
            server.clock.advance(seconds: 10)
            runs += try await bench.sync.once()
            #expect((20...26).contains(runs) && wishes.count <= 26, "\(runs) \(wishes.count)")
            #expect(bench.calendars[id].titles == ["CK Appt: Mom - Last"])
            #expect(bench.calendars[id].requests - before < 60)
        }
    }

    @Test("A change while a run is under way is for the next one, some seconds later")
    func underWay() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let id = try await server.connect()
            try await bench.sync.once()
            try await server.put("appointments", "a", Self.appointment("Dr. A"))
            server.clock.advance(seconds: 5)
            let now = server.clock.now
            let wish = try #require(try await Self.due(id, server))
            // Not begun: it keeps its place among those that wait, however much is changed.
            try await server.put("appointments", "b", Self.appointment("Dr. B"))
            #expect(try await Self.due(id, server) == wish)
            _ = try await server.services.store.record {
                try $0.takeSyncLease(of: id, for: "other", until: now + 60_000, now: now)
            }
            server.clock.advance(milliseconds: 1)
            try await server.put("appointments", "c", Self.appointment("Dr. C"))
            let next = try #require(try await Self.due(id, server))
            #expect(next.dueAt == now + 1 + PendingSync.collecting)
            // The end of the run that was under way does not complete it.
            try await server.services.store.record {
                try $0.deletePendingSync(wish)
                try $0.endSyncLease(of: id, for: "other")
            }
            #expect(try await Self.due(id, server) == next)
        }
    }

    @Test("A connection that is resumed while a run is still under way runs again at once")
    func resumed() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let id = try await server.connect()
            try await bench.sync.once()
            server.clock.advance(seconds: 86_400)
            bench.calendars[id].slowness.withLock { $0 = 3000 }
            let run = Task { try await bench.sync.once() }
            try await eventually("It is under way.") {
                try await server.call(.get, "/v1/connections/\(id)/runs").json["items"]?.array?.first?["state"]
                    == "running"
            }
            for paused in [true, false] {
                try await server.call(.patch, "/v1/connections/\(id)", ["paused": .bool(paused)]).expect(200)
            }
            bench.calendars[id].slowness.withLock { $0 = 0 }
            let runs = try await run.value + bench.sync.once()
            #expect(runs == 2)
        }
    }

    @Test("All changes of a transaction wake the connections with one statement")
    func transaction() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let id = try await server.connect()
            try await bench.sync.once()
            let now = server.clock.now
            let kinds = try await server.services.store.record { transaction in
                try ["a", "b"].map { name in
                    try transaction.note(.item, .created, in: "c", collection: "tasks", id: name, now: now)
                    let wish = try transaction.pendingSync(of: id)
                    // A second statement would put it again.
                    try transaction.execute("DELETE FROM sync_wishes WHERE connection_id = $1", [.text(id)])
                    return wish?.kind
                }
            }
            #expect(kinds == [.change, nil])
        }
    }

    @Test("What a connection takes over wakes the others, and not itself; who waits for a person is not woken")
    func others() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(1)
            let (id, other) = (try await server.connect(), try await server.connect(user: "ben"))
            let paused = try await server.connect(label: "paused")
            try await server.call(.patch, "/v1/connections/\(paused)", ["paused": true], as: "ann").expect(200)
            server.clock.advance(seconds: 10)
            try await bench.sync.once()
            let moved: TimeSpan = try .at("2026-04-01T11:00:00-07:00", "2026-04-01T11:30:00-07:00")
            bench.calendars[id].edit("a0") { $0.span = moved }
            try await bench.run(id)
            #expect(try await server.item("appointments", "a0")["startAt"] == "2026-04-01T11:00:00-07:00")
            for one in [id, paused] { #expect(try await Self.due(one, server) == nil) }
            #expect(try await Self.due(other, server)?.kind == .change)
            server.clock.advance(seconds: 5)
            #expect(try await bench.sync.once() == 1)
            #expect(bench.calendars[other].event(of: "a0")?.entry.span == moved)
            // What fails has its own times.
            bench.calendars[id].fail(ProviderFailure(.unavailable(retryAfter: nil), "No."))
            try await bench.run(id)
            try await server.put("appointments", "b", Self.appointment("Dr. B"))
            #expect(try await Self.due(id, server) == nil)
        }
    }

    @Test("With push a look comes after six hours; without it, and where it was silent about a change, by the interval")
    func push() async throws {
        try await SyncBench.run(publicURL: "http://127.0.0.1:8080") { bench in
            let server = bench.server
            try await bench.fill(2)
            let id = try await server.connect()
            // The calendars in memory stand in for Google's, which are watched.
            _ = try await server.services.store.record {
                try $0.execute("UPDATE connections SET provider = 'google' WHERE id = $1", [.text(id)])
            }
            let calendar = bench.calendars[id]
            func wait() async throws -> Int {
                let own = try await server.services.store.read { try $0.connection(id) }
                return (try #require(own?.nextSyncAt) - server.clock.now) / 60_000
            }
            func report(_ state: String) async throws {
                let channel = try #require(calendar.state.withLock { $0.channels.last })
                try await server.raw(
                    .post, "/v1/hooks/google",
                    headers: [
                        try #require(HTTPField.Name("X-Goog-Channel-ID")): channel.id,
                        try #require(HTTPField.Name("X-Goog-Channel-Token")): channel.secret,
                        try #require(HTTPField.Name("X-Goog-Resource-State")): state,
                        try #require(HTTPField.Name("X-Goog-Resource-ID")): "resource",
                    ]
                ).expect(200)
            }
            func move(_ hour: Int) throws {
                let span: TimeSpan = try .at("2026-04-01T\(hour):00:00-07:00", "2026-04-01T\(hour):30:00-07:00")
                calendar.edit("a0") { $0.span = span }
            }
            let (soon, late) = (13...16, 340...380)
            try await bench.sync.once()
            // Nothing has come through the channel yet.
            #expect(soon.contains(try await wait()))
            try await report("sync")
            server.clock.advance(seconds: 960)
            #expect(try await bench.sync.once() == 1)
            #expect(late.contains(try await wait()))
            // A change that is announced is found some seconds later.
            try move(12)
            try await report("exists")
            server.clock.advance(seconds: 6)
            #expect(try await bench.sync.once() == 1)
            #expect(late.contains(try await wait()))
            // One that is not makes push doubtful, until a message comes; soon after a message, it may be what that announced.
            // The interval varies by a twentieth.
            server.clock.advance(seconds: 6 * 3600 + 1200)
            #expect(try await bench.sync.once() == 1)
            #expect(late.contains(try await wait()))
            server.clock.advance(seconds: 3600)
            try move(13)
            server.clock.advance(seconds: 6 * 3600)
            #expect(try await bench.sync.once() == 1)
            #expect(try await server.item("appointments", "a0")["startAt"] == "2026-04-01T13:00:00-07:00")
            #expect(soon.contains(try await wait()))
            try await report("exists")
            server.clock.advance(seconds: 6)
            try await bench.sync.once()
            #expect(late.contains(try await wait()))
            // At half of its life another channel follows, and is trusted as the first was.
            server.clock.advance(seconds: 7 * 3600)
            try await bench.sync.once()
            #expect(calendar.state.withLock { $0.channels.count } == 2)
            #expect(late.contains(try await wait()))
            // Channels that nobody renews end, and looks come by the interval.
            for _ in 0..<5 {
                server.clock.advance(seconds: 7 * 3600)
                calendar.fail(nil, ProviderFailure(.forbidden, "No channel now."))
                try await bench.sync.once()
            }
            #expect(soon.contains(try await wait()))
        }
    }

    @Test("A first message that comes before Google's answer counts for its channel, and only with its secret")
    func early() async throws {
        let scheduler = SyncScheduler()
        scheduler.noteEarly("channel", PushSecret.hash("secret"))
        #expect(scheduler.heardEarly("channel", PushSecret.hash("secret")))
        #expect(!scheduler.heardEarly("channel", PushSecret.hash("other")))
        #expect(!scheduler.heardEarly("another", PushSecret.hash("secret")))
    }
}
