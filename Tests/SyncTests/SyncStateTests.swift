// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import HTTPTypes
import ICalBridge
import Logging
import Storage
import Synchronization
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("States of connections, and runs")
struct SyncStateTests {
    @Test("While a run is under way it is the answer; one that is paused, or needs its person, does not run")
    func states() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(1)
            let id = try await server.connect()
            let path = "/v1/connections/\(id)/sync"
            let first = try await server.call(.post, path, as: "ann").expect(202).json
            #expect(try await server.call(.post, path, as: "ann").expect(202).json == first)
            try await server.call(.post, path, as: "ben").expect(404)
            #expect(try await bench.sync.once() == 1)
            #expect(try await bench.record(try #require(first["runId"]?.string)).trigger == .first)
            let second = try await server.call(.post, path, as: "ann").expect(202).json
            #expect(second != first)
            try await bench.sync.once()
            try await server.call(.patch, "/v1/connections/\(id)", ["paused": true], as: "ann").expect(200)
            #expect(try await server.call(.post, path, as: "ann").expect(409).json["code"] == "connection-inactive")
            server.clock.advance(seconds: 86_400)
            #expect(try await bench.sync.once() == 0)
            try await server.call(.patch, "/v1/connections/\(id)", ["paused": false], as: "ann").expect(200)
            #expect(try await bench.sync.once() == 1)

            bench.calendars[id].fail(ProviderFailure(.unauthorized, "The account has to be connected again."))
            try await bench.run(id)
            let own = try await bench.connection(id)
            #expect(own["state"] == "needsReconnect" && own["nextSyncAt"] == .null && own["lastSyncStatus"] == "failed")
            #expect(own["attention"]?.array?.first?["kind"] == "needsReconnect")
            try await server.call(.post, path, as: "ann").expect(409)
            server.clock.advance(seconds: 86_400)
            #expect(try await bench.sync.once() == 0)
        }
    }

    @Test("The lease of a run whose end could not be stored is given back as soon as the database can be written to")
    func leaseGivenBack() async throws {
        try await SyncBench.run { bench in
            let services = bench.server.services
            try await bench.fill(1)
            let id = try await bench.server.connect()
            let (holder, now) = (services.sync.holder, services.now())
            @Sendable func take() async throws -> Bool {
                try await services.store.record {
                    try $0.takeSyncLease(of: id, for: holder, until: now + 180_000, now: now)
                }
            }
            #expect(try await take())
            #expect(try await bench.sync.once() == 0)
            services.sync.giveBack(id, of: holder, in: UnreachableStore(services.store, times: 3))
            try await eventually("The connection runs again.") { try await bench.sync.once() == 1 }

            // A lease that has been taken again in the meantime is not given back.
            services.sync.giveBack(id, of: holder, in: UnreachableStore(services.store, times: 2))
            await services.sync.keep(id, of: holder)
            #expect(try await take())
            try await Task.sleep(for: .milliseconds(500))
            bench.server.clock.advance(seconds: 60)
            try await bench.server.call(.post, "/v1/connections/\(id)/sync", as: "ann").expect(202)
            #expect(try await bench.sync.once() == 0)
        }
    }

    @Test("What fails for a while is tried again at longer intervals, as long as the provider asks, and shown")
    func backOff() async throws {
        try await SyncBench.run { bench in
            try await bench.fill(1)
            let id = try await bench.server.connect()
            let calendar = bench.calendars[id]
            func next() async throws -> Int {
                let own = try await bench.server.services.store.read { try $0.connection(id) }
                return try #require(own?.nextSyncAt) - bench.server.clock.now
            }
            calendar.fail(ProviderFailure(.throttled(retryAfter: 5000), "Too many requests."))
            try await bench.sync.once()
            #expect(try await next() >= 5_000_000)
            var waits: [Int] = []
            for _ in 0..<6 {
                bench.server.clock.advance(milliseconds: try await next())
                calendar.fail(ProviderFailure(.unavailable(retryAfter: nil), "The server answered with an error."))
                try await bench.sync.once()
                waits.append(try await next())
            }
            #expect(waits[0] >= 90_000 && waits[5] > 2 * waits[2] && waits.allSatisfy { $0 < 8 * 3_600_000 })
            var own = try await bench.connection(id)
            #expect(own["state"] == "active" && own["lastSyncError"] == "The server answered with an error.")
            #expect(own["attention"]?.array?.first?["kind"] == "failing")
            bench.server.clock.advance(milliseconds: try await next())
            try await bench.sync.once()
            own = try await bench.connection(id)
            #expect(own["attention"] == [] && own["lastSyncStatus"] == "success" && calendar.live.count == 1)
            #expect((13 * 60_000..<17 * 60_000).contains(try await next()))
        }
    }

    @Test("A calendar is gone when the account's list says so twice, a day apart, and not before")
    func calendarGone() async throws {
        try await SyncBench.run { bench in
            try await bench.fill(1)
            let id = try await bench.server.connect()
            let calendar = bench.calendars[id]
            let missing = ProviderFailure(.calendarMissing, "There is no such calendar.")
            try await bench.sync.once()
            func look() async throws -> JSONValue {
                bench.server.clock.advance(seconds: 7 * 3600)
                calendar.fail(missing)
                try await bench.sync.once()
                return try await bench.connection(id)
            }
            // The list has it: a passing fault.
            #expect(try await look()["state"] == "active")
            let list = calendar.state.withLock { $0.list }
            calendar.state.withLock { $0.list = [] }
            for _ in 0..<4 { #expect(try await look()["state"] == "active") }
            // Back again: it starts over.
            calendar.state.withLock { $0.list = list }
            bench.server.clock.advance(seconds: 7 * 3600)
            try await bench.sync.once()
            #expect(try await bench.connection(id)["lastSyncStatus"] == "success")
            calendar.state.withLock { $0.list = [RemoteCalendar(id: "cal", name: "cal", canWrite: false)] }
            for _ in 0..<4 { #expect(try await look()["state"] == "active") }
            let own = try await look()
            #expect(own["state"] == "calendarGone" && own["nextSyncAt"] == .null)
            #expect(own["attention"]?.array?.first?["kind"] == "calendarGone" && calendar.live.count == 1)
        }
    }

    @Test("A run can be undone, and what it had created does not return by itself")
    func undo() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(12)
            let id = try await server.connect()
            let calendar = bench.calendars[id]
            try await bench.sync.once()
            #expect(calendar.live.count == 12)
            let rows = try await server.services.store.read { try $0.syncRuns(of: id, before: .max, limit: 1) }
            let first = try #require(rows.first?.id)
            let answer = try await server.call(.post, "/v1/runs/\(first)/undo", as: "ann").expect(202)
            try await server.call(.post, "/v1/runs/\(first)/undo", as: "ann").expect(409)
            try await bench.sync.once()
            let undone = try await bench.record(try #require(answer.json["runId"]?.string))
            #expect(undone.state == .done && undone.counts.deleted == 12 && calendar.live.isEmpty)
            // What was changed here while it ran does not wait for the interval: a run has followed at once.
            let after = try await server.services.store.read { try $0.syncRuns(of: id, before: .max, limit: 3) }
            #expect(after.count == 3 && after.first?.id.isSameText(as: undone.id) == false)
            let run = try await bench.run(id)
            #expect(run.state == .done && calendar.live.isEmpty)
        }
    }
}
