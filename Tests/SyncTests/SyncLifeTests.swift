// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Storage
import Synchronization
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("The life of connections")
struct SyncLifeTests {
    @Test("The next server continues what the end of a server interrupted, and nothing is created twice")
    func brokenOff() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(10)
            let id = try await server.connect()
            let calendar = bench.calendars[id]
            // Another server's run: its writes arrived, their answers did not, and then it died.
            calendar.state.withLock { $0.lostAnswers = 10 }
            let other = "another server"
            let store = try await server.syncStore(id, holder: other)
            let opened = try await bench.calendars.open(store.parts.connection, isQuestion: false)
            let engine = try SyncRun(server.services.syncContext, opened, store)
            let record = RunRecord(id: "r1", trigger: .first, startedAt: Instant(milliseconds: server.clock.now))
            _ = try await engine.run(record)
            #expect(calendar.live.count == 10)
            var batch = SyncBatch()
            batch.run = record
            try await store.commit(batch)
            // It seems to be at work, so nobody else is.
            #expect(try await bench.sync.once() == 0)
            let begun = try await server.call(.post, "/v1/connections/\(id)/sync", as: "ann").expect(202)
            #expect(begun.json["runId"] == "r1")
            try await bench.sync.takeOver()
            #expect(try await bench.sync.once() == 1)
            #expect(calendar.live.count == 10)
            let done = try await bench.record("r1")
            #expect(done.state == .done && done.status == .success)
            let links = try await server.services.store.read { try $0.syncLinks(of: id) }
            #expect(links.count == 10 && links.allSatisfy { $0.state == "linked" })
            let run = try await bench.run(id)
            #expect(run.counts.created == 0 && run.counts.updated == 0)
        }
    }

    @Test(
        "With events=remove a last run takes away what was made, and then the connection is gone with its secrets",
        arguments: [ProviderFailure.Kind.unavailable(retryAfter: nil), .calendarMissing, .forbidden])
    func removal(after kind: ProviderFailure.Kind) async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(15)
            let id = try await server.connect()
            let calendar = bench.calendars[id]
            calendar.add(Entry(title: "Dentist", span: try .at("2026-04-02T10:00:00Z", "2026-04-02T11:00:00Z")))
            try await bench.sync.once()
            calendar.fail(ProviderFailure(kind, "Not now."))
            try await server.call(.delete, "/v1/connections/\(id)?events=remove", as: "ann").expect(204)
            try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(404)
            try await bench.sync.once()
            #expect(calendar.live.count == 16)
            server.clock.advance(seconds: 7200)
            try await bench.sync.once()
            #expect(calendar.titles == ["Dentist"] && bench.calendars.released.withLock { $0 } == [id])
            #expect(try await server.services.store.read { try $0.connectionEverKnown(id) } == nil)
        }
    }

    @Test("A last run that the calendar does not allow is tried for seven days, and one without a grant once")
    func unfinishedRemoval() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(2)
            for kind in [ProviderFailure.Kind.calendarMissing, .forbidden, .unauthorized] {
                let id = try await server.connect()
                let calendar = bench.calendars[id]
                try await bench.sync.once()
                #expect(calendar.live.count == 2)
                try await server.call(.delete, "/v1/connections/\(id)?events=remove", as: "ann").expect(204)
                func isKnown(after hours: Int) async throws -> Bool {
                    server.clock.advance(seconds: hours * 3600)
                    calendar.fail(ProviderFailure(kind, "Not now."))
                    try await bench.sync.once()
                    return try await server.services.store.read { try $0.connectionEverKnown(id) != nil }
                }
                #expect(try await isKnown(after: 0) == (kind != .unauthorized))
                guard kind != .unauthorized else { continue }
                for _ in 0..<20 { #expect(try await isKnown(after: 8)) }
                #expect(try await !isKnown(after: 16))
                #expect(bench.calendars.released.withLock { $0.last } == id)
            }
        }
    }

    @Test("A member who leaves the circle loses the events from that day on, and the connection")
    func leaving() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            for (name, day) in [("before", "2026-03-01"), ("today", "2026-03-02"), ("after", "2026-03-05")] {
                try await server.put(
                    "appointments", name,
                    [
                        "patientId": "mom", "provider": .string(name),
                        "startAt": .string("\(day)T01:00:00-08:00"),
                    ])
            }
            let (own, other) = (try await server.connect(user: "ben"), try await server.connect())
            try await bench.sync.once()
            #expect(bench.calendars[own].live.count == 3)
            try await server.call(.delete, "/v1/circles/c/members/ben").expect(204)
            try await bench.sync.once()
            #expect(bench.calendars[own].titles == ["CK Appt: Mom - before"])
            #expect(bench.calendars[other].live.count == 3)
            #expect(try await server.services.store.read { try $0.connectionEverKnown(own) } == nil)
        }
    }

    @Test("A connection that comes after another one finds the events that it left, and makes none twice")
    func adoption() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(4)
            let shared = MemoryCalendar(server.clock)
            bench.calendars.share(shared)
            let first = try await server.connect()
            try await bench.sync.once()
            #expect(shared.live.count == 4)
            try await server.call(.delete, "/v1/connections/\(first)", as: "ann").expect(204)
            let second = try await server.connect()
            try await bench.sync.once()
            #expect(shared.live.count == 4)
            #expect(try await bench.connection(second)["counts"]?["linked"] == 4)
            try await server.call(.delete, "/v1/circles/c/appointments/a0").expect(204)
            try await bench.run(second)
            #expect(shared.live.count == 3)
        }
    }

    @Test("A viewer's calendar shows everything, and what is moved there is put back")
    func viewer() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(2)
            let id = try await server.connect(user: "vic")
            let calendar = bench.calendars[id]
            try await bench.sync.once()
            let before = calendar.event(of: "a0")?.entry.span
            calendar.edit("a0") {
                $0.span = .timed(
                    start: Instant(seconds: 1_776_000_000), end: Instant(seconds: 1_776_003_600), zone: "UTC")
            }
            server.clock.advance(seconds: 3600)
            try await bench.sync.once()
            #expect(calendar.event(of: "a0")?.entry.span == before)
            #expect(try await server.item("appointments", "a0")["sequence"] == 0)
        }
    }

    @Test("A slow provider delays nobody else, and one user with many connections no other user")
    func fair() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(1)
            var ids: [String] = []
            for number in 0..<6 { ids.append(try await server.connect(label: "slow \(number)")) }
            let quick = try await server.connect(user: "ben")
            for id in ids { bench.calendars[id].slowness.withLock { $0 = 3_600_000 } }
            let service = bench.sync
            let running = Task { try await service.run() }
            defer { running.cancel() }
            try await eventually("The quick provider has its event.") { !bench.calendars[quick].live.isEmpty }
            #expect(bench.calendars[quick].live.count == 1)
            #expect(ids.count { bench.calendars[$0].requests > 0 } <= SyncScheduler.perUser)
        }
    }

    @Test("A reported change wakes a run once its secret is right, several together one run, and unknown ones none")
    func push() async throws {
        try await SyncBench.run(publicURL: "http://127.0.0.1:8080") { bench in
            let server = bench.server
            try await bench.fill(2)
            let id = try await server.connect()
            let clock = server.clock
            // The calendars in memory stand in for Google's, which are watched.
            _ = try await server.services.store.record {
                try $0.execute("UPDATE connections SET provider = 'google' WHERE id = $1", [.text(id)])
            }
            let calendar = bench.calendars[id]
            try await bench.sync.once()
            let channel = try #require(calendar.state.withLock { $0.channels.first })
            #expect(channel.address == "http://127.0.0.1:8080/v1/hooks/google" && channel.secret.utf8.count >= 32)
            let stored = try await server.services.store.read { try $0.syncChannels(of: id) }
            #expect(stored.count == 1 && !stored[0].content.contains(channel.secret))
            func report(
                _ path: String, _ secret: String, state: String = "exists", name: String = "channel-0"
            ) async throws -> Answer {
                try await server.raw(
                    .post, path,
                    headers: [
                        try #require(HTTPField.Name("X-Goog-Channel-ID")): name,
                        try #require(HTTPField.Name("X-Goog-Channel-Token")): secret,
                        try #require(HTTPField.Name("X-Goog-Resource-State")): state,
                        try #require(HTTPField.Name("X-Goog-Resource-ID")): "resource",
                    ])
            }
            try await report("/v1/hooks/google", "wrong").expect(200)
            try await report("/v1/hooks/google", channel.secret, name: "channel-9").expect(200)
            try await report("/v1/hooks/google", channel.secret, state: "sync").expect(200)
            clock.advance(seconds: 6)
            #expect(try await bench.sync.once() == 0)
            for path in ["/v1/hooks/google", "/functions/v1/calendar-webhook", "/v1/hooks/google"] {
                try await report(path, channel.secret).expect(200)
            }
            // They are collected for some seconds.
            #expect(try await bench.sync.once() == 0)
            clock.advance(seconds: 6)
            #expect(try await bench.sync.once() == 1)
            let rows = try await server.services.store.read { try $0.syncRuns(of: id, before: .max, limit: 1) }
            let run: RunRecord = try storedRecord(try #require(rows.first).content)
            #expect(run.trigger == .push)
            #expect(try await bench.sync.once() == 0)
            // At half of its life another channel takes its place.
            clock.advance(seconds: 13 * 3600)
            try await bench.sync.once()
            #expect(calendar.state.withLock { $0.channels.count } == 2)
            #expect(calendar.state.withLock { $0.ended } == ["channel-0"])
            let secrets = calendar.state.withLock { $0.channels.map(\.secret) }
            #expect(Set(secrets).count == 2)

            let tested = try await server.raw(.post, "/v1/hooks/outlook?validationToken=a%3Cb%20c").expect(200)
            #expect(tested.text == "a<b c" && tested.headers[.contentType]?.hasPrefix("text/plain") == true)
            let body = #"{"value":[{"subscriptionId":"x","clientState":"y","changeType":"updated"}]}"#
            for path in ["/v1/hooks/outlook", "/functions/v1/calendar-webhook"] {
                try await server.raw(.post, path, body: ByteBuffer(string: body)).expect(202)
                try await server.raw(.post, path, body: ByteBuffer(string: "no")).expect(400)
            }
        }
    }
}
