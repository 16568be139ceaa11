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

@Suite("Several carriers of one circle")
struct PhoneFleetTests {
    @Test("Two devices of one user make no doubles, and writes stop within two rounds", arguments: 0..<3)
    func twoDevices(seed: Int) async throws {
        try await PhoneBench.run { bench in
            let server = bench.server
            var random = SplitMix(seed: UInt64(seed))
            let pockets = [
                Pocket(try await Phone(server), "a"), Pocket(try await Phone(server, named: "phone-2"), "b"),
            ]
            for number in 0..<6 { try await bench.appointment("a\(number)", "2026-03-0\(number + 3)T10:00:00-08:00") }
            let id = try await bench.connect()
            var carrier = 0
            _ = try await pockets[0].round(bench)
            for step in 0..<12 {
                server.clock.advance(seconds: 600)
                let item = "a\(Int.random(in: 0..<6, using: &random))"
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    try await bench.appointment(
                        item, "2026-03-1\(Int.random(in: 0..<9, using: &random))T11:00:00-08:00")
                case 1: try await pockets[carrier].edit(item, ["startTime": "15:00", "endTime": "16:00"], bench)
                case 2: try await pockets[carrier].edit(item, ["title": .string("Typed \(step)")], bench)
                default:
                    carrier = 1 - carrier
                    try await server.call(
                        .put, "/v1/connections/\(id)/device",
                        ["deviceId": .string(carrier == 0 ? "phone-1" : "phone-2")], as: "ann"
                    ).expect(200)
                }
                for _ in 0..<2 { for pocket in pockets { _ = try await pocket.round(bench) } }
                // Now all is quiet.
                let before = pockets.map(\.writes)
                for pocket in pockets { #expect(try await pocket.round(bench) == false) }
                #expect(pockets.map(\.writes) == before)
                #expect(pockets[carrier].items == (0..<6).map { "a\($0)" })
                for event in pockets[carrier].events.values {
                    let shown = try await server.item("appointments", event["itemId"]?.string ?? "")
                    let start = try #require(shown["startAt"]?.string)
                    #expect(start.hasPrefix("\(event["date"]?.string ?? "")T\(event["startTime"]?.string ?? "")"))
                    #expect(event["title"]?.string?.hasPrefix("Typed") == false)
                }
            }
            // Neither phone's calendar was taken for the person's own events.
            let own = try await server.call(.get, "/v1/users/ann/events", as: "ann").expect(200).json
            #expect(own["items"] == [])
        }
    }

    @Test("A device beside another calendar of the same circle: each has every item once, and writes stop")
    func besideAnother() async throws {
        let clock = TestClock()
        let calendars = BothCalendars(MemoryCalendars(clock))
        try await TestServer.run(clock: clock, calendars: calendars) { server in
            calendars.services.withLock { $0 = server.services }
            try await server.makeCircle()
            let bench = PhoneBench(server: server)
            let sync = server.services.connectionSync(Logger(label: "t") { _ in server.log })
            for number in 0..<6 { try await bench.appointment("a\(number)", "2026-03-0\(number + 3)T10:00:00-08:00") }
            let other = try await server.connect()
            let apple = try await bench.connect()
            let pocket = Pocket(try await Phone(server), "a")
            let evening: TimeSpan = try .at("2026-03-05T19:00:00-08:00", "2026-03-05T20:00:00-08:00")
            func settle() async throws {
                for _ in 0..<2 {
                    try await sync.once()
                    _ = try await pocket.round(bench)
                    clock.advance(seconds: 1200)
                }
            }
            try await settle()
            let calendar = calendars.memory[other]
            #expect(calendar.live.count == 6 && pocket.items.count == 6)
            // Moved on the phone: the other calendar follows, and both stay still.
            try await pocket.edit("a1", ["startTime": "15:00", "endTime": "16:00"], bench)
            try await settle()
            // Moved in the other calendar: the phone follows.
            calendar.edit("a2") { $0.span = evening }
            try await settle()
            try await bench.appointment("a3", "2026-03-20T10:00:00-07:00")
            try await settle()
            for (item, start) in [("a1", "15:00"), ("a2", "19:00"), ("a3", "10:00")] {
                let event = try #require(pocket.events.values.first { $0["itemId"] == .string(item) })
                #expect(event["startTime"] == .string(start))
            }
            #expect(calendar.live.count == 6 && Set(pocket.items).count == 6 && pocket.items.count == 6)
            let writes = pocket.writes
            let count = calendar.writes
            for _ in 0..<3 { try await settle() }
            #expect(pocket.writes == writes && calendar.writes == count)
            #expect(try await bench.open(apple).isEmpty)
            #expect(try await bench.open(other).isEmpty)
        }
    }
}

/// Calendars in memory instead of accounts, and the server's own ones for phones.
private final class BothCalendars: CalendarProviding {
    let memory: MemoryCalendars
    let services = Mutex<Services?>(nil)

    init(_ memory: MemoryCalendars) { self.memory = memory }

    func open(_ connection: Connection, isQuestion: Bool) async throws -> OpenedCalendar {
        guard connection.provider == .apple, let services = services.withLock({ $0 }) else {
            return try await memory.open(connection, isQuestion: isQuestion)
        }
        return try await services.syncContext.providers.open(connection, isQuestion: isQuestion)
    }

    func release(_ connection: Connection) async { await memory.release(connection) }
}
