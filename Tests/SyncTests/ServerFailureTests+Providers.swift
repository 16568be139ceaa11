// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import HTTPTypes
import ICalBridge
import Logging
import Outbound
import Storage
import Synchronization
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

extension ServerFailureTests {
    // MARK: Grants

    /// Runs a server with a connection to the emulator of Outlook, whose refresh tokens can be used only once.
    private static func outlook(
        _ body: @escaping @Sendable (TestServer, ConnectionSync, ProviderEmulator, _ path: String) async throws -> Void
    ) async throws {
        let emulator = try await ProviderEmulator("graph_emulator.py")
        defer { emulator.stop() }
        let clock = TestClock(Int(Date().timeIntervalSince1970) * 1000)
        try await TestServer.run(clock: clock, settings: .emulated(graph: emulator.address)) { server in
            try await server.makeCircle()
            let id = try await ProviderSyncTests.connect("outlook", server, emulator)
            let sync = server.services.connectionSync(Logger(label: "t") { _ in server.log })
            try await sync.once()
            try await emulator.control("settings", ["singleUse": true])
            try await body(server, sync, emulator, "/v1/connections/\(id)")
        }
    }

    private static func refreshes(_ emulator: ProviderEmulator) async throws -> Int {
        let state = try JSONValue(parsing: try await emulator.call("GET", "\(emulator.address)/control/state").body)
        return try #require(state["refreshes"]?.integer)
    }

    @Test("Of many that want a refresh at once nobody is refused, and a token that serves once is used once")
    func refreshedOnce() async throws {
        try await Self.outlook { server, sync, emulator, path in
            for round in 1...3 {
                server.clock.advance(seconds: 4000)
                try await emulator.control("expire-tokens", [:])
                let before = try await Self.refreshes(emulator)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<6 {
                        group.addTask {
                            try await server.call(.get, "\(path)/calendars", as: "ann").expect(200)
                        }
                    }
                    group.addTask { _ = try await sync.once() }
                    try await group.waitForAll()
                }
                #expect(try await Self.refreshes(emulator) == before + 1, "round \(round)")
                let own = try await server.call(.get, path, as: "ann").expect(200).json
                #expect(own["state"] == "active" && own["lastSyncStatus"] == "success", "\(own)")
            }
        }
    }

    @Test("A token server in trouble ends no grant; one that refuses the grant does, and its person hears of it")
    func trouble() async throws {
        try await Self.outlook { server, sync, emulator, path in
            func look() async throws -> JSONValue {
                server.clock.advance(seconds: 8 * 3600)
                try await emulator.control("expire-tokens", [:])
                try await sync.once()
                return try await server.call(.get, path, as: "ann").expect(200).json
            }
            for fault in [["status": 503], ["status": 500], ["drop": "before"]] as [[ByteString: JSONValue]] {
                let more: [ByteString: JSONValue] = ["method": "POST", "path": "token", "level": "http", "times": 9]
                try await emulator.control("faults", .object(fault.merging(more) { $1 }))
                var own = try await look()
                #expect(own["state"] == "active" && own["lastSyncStatus"] == "failed", "\(fault): \(own)")
                // One failed run mends itself; nobody is asked to do anything.
                #expect(own["attention"] == [], "\(fault): \(own)")
                _ = try await emulator.call("DELETE", "\(emulator.address)/control/faults")
                own = try await look()
                #expect(own["lastSyncStatus"] == "success" && own["attention"] == [], "\(fault): \(own)")
            }
            try await emulator.control("settings", ["revoked": true])
            let own = try await look()
            #expect(own["state"] == "needsReconnect" && own["attention"]?.array?.first?["kind"] == "needsReconnect")
            let id = try #require(own["id"]?.string)
            let changes = try await server.call(.get, "/v1/circles/c/changes", as: "ann").expect(200).json
            #expect(changes["items"]?.array?.last?["id"] == .string(id))
            // Nothing more is asked until they sign in again.
            let before = try await Self.refreshes(emulator)
            try await emulator.control("settings", ["revoked": false])
            #expect(try await look()["state"] == "needsReconnect")
            #expect(try await Self.refreshes(emulator) == before)
        }
    }

    // MARK: Push

    @Test("A channel that cannot be renewed stops no run, is tried again, and what was never reported is found")
    func renewal() async throws {
        try await SyncBench.run(publicURL: "http://127.0.0.1:8080") { bench in
            let server = bench.server
            try await bench.fill(2)
            let id = try await server.connect()
            // The calendars in memory stand in for Google's, which are watched.
            _ = try await server.services.store.record {
                try $0.execute("UPDATE connections SET provider = 'google' WHERE id = $1", [.text(id)])
            }
            let calendar = bench.calendars[id]
            try await bench.sync.once()
            #expect(calendar.state.withLock { $0.channels.count } == 1)
            // Past the channel's half-life the provider takes no other one; its end goes by, and nothing is reported.
            for hour in 1...3 {
                server.clock.advance(seconds: 13 * 3600)
                let moved: TimeSpan = try .at("2026-04-01T1\(hour):00:00-07:00", "2026-04-01T1\(hour):30:00-07:00")
                calendar.edit("a0") { $0.span = moved }
                // The listing succeeds, and what asks for a channel does not.
                calendar.fail(nil, ProviderFailure(.forbidden, "No channel now."))
                try await bench.sync.once()
                let own = try await bench.connection(id)
                #expect(own["lastSyncStatus"] == "success" && own["state"] == "active", "\(own)")
                #expect(
                    try await server.item("appointments", "a0")["startAt"] == .string("2026-04-01T1\(hour):00:00-07:00")
                )
                #expect(calendar.state.withLock { $0.channels.count } == 1)
            }
            calendar.fail()
            server.clock.advance(seconds: 1200)
            try await bench.sync.once()
            // The next run has it again; the old one is ended, and what it still calls changes nothing.
            let channels = calendar.state.withLock { $0.channels }
            #expect(channels.count == 2 && calendar.state.withLock { $0.ended } == ["channel-0"])
            func report(_ number: Int) async throws -> Int {
                let channel = channels[number]
                try await server.raw(
                    .post, "/v1/hooks/google",
                    headers: [
                        try #require(HTTPField.Name("X-Goog-Channel-ID")): channel.id,
                        try #require(HTTPField.Name("X-Goog-Channel-Token")): channel.secret,
                        try #require(HTTPField.Name("X-Goog-Resource-State")): "exists",
                        try #require(HTTPField.Name("X-Goog-Resource-ID")): "resource",
                    ]
                ).expect(200)
                server.clock.advance(seconds: 6)
                return try await bench.sync.once()
            }
            #expect(try await report(0) == 0)
            #expect(try await report(1) == 1)
        }
    }

    // MARK: Calendars that are not there

    @Test("A calendar that answers 404 for some hours keeps its events and links, and runs go on when it is back")
    func missingForHours() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(12)
            let id = try await server.connect()
            let calendar = bench.calendars[id]
            try await bench.sync.once()
            let list = calendar.state.withLock { $0.list }
            calendar.state.withLock { $0.list = [] }
            let writes = calendar.writes
            for _ in 0..<3 {
                server.clock.advance(seconds: 7 * 3600)
                calendar.fail(ProviderFailure(.calendarMissing, "There is no such calendar."))
                try await bench.sync.once()
                let own = try await bench.connection(id)
                #expect(own["state"] == "active" && own["counts"]?["linked"] == 12, "\(own)")
            }
            try await server.call(.delete, "/v1/circles/c/appointments/a3").expect(204)
            #expect(calendar.writes == writes && calendar.live.count == 12)
            calendar.state.withLock { $0.list = list }
            server.clock.advance(seconds: 7 * 3600)
            try await bench.sync.once()
            #expect(calendar.live.count == 11 && calendar.writes == writes + 1)
            #expect(try await bench.conflicts(id).isEmpty)
            #expect(try await bench.connection(id)["lastSyncStatus"] == "success")
        }
    }

    @Test("A calendar that is gone for good ends the runs, deletes nothing here, and another one can be chosen")
    func goneForGood() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(4)
            let id = try await server.connect()
            let calendar = bench.calendars[id]
            try await bench.sync.once()
            calendar.state.withLock { $0.list = [] }
            for _ in 0..<5 {
                server.clock.advance(seconds: 7 * 3600)
                calendar.fail(ProviderFailure(.calendarMissing, "There is no such calendar."))
                try await bench.sync.once()
            }
            let own = try await bench.connection(id)
            #expect(own["state"] == "calendarGone" && own["attention"]?.array?.first?["kind"] == "calendarGone")
            #expect(own["nextSyncAt"] == .null && own["counts"]?["linked"] == 4)
            server.clock.advance(seconds: 7 * 86_400)
            #expect(try await bench.sync.once() == 0)
            for number in 0..<4 {
                #expect(try await server.item("appointments", "a\(number)")["status"] != "cancelled")
            }
        }
    }
}
