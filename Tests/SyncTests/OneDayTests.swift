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

/// A connection's day with the emulator of Google, which counts, and clocks that the test moves.
@Suite("A day of one connection with Google")
struct OneDayTests {
    /// Somebody changes three items in a row at these hours, and people move an event there at those.
    private static let (here, there) = ([2, 9, 15], [5, 18])

    @Test(
        "With push it is looked at four times, without it by its interval; 10,000 of them stay below 400,000 requests")
    func day() async throws {
        let (pushed, polled) = (try await Self.requests(isPushed: true), try await Self.requests(isPushed: false))
        // 4 looks; 3 runs with 3 writes each and Google's reports of them; 2 moves; a channel and its renewals.
        #expect((15...50).contains(pushed.sent), "\(pushed)")
        #expect((90...130).contains(polled.sent), "\(polled)")
        #expect(9_000 * pushed.sent + 1_000 * polled.sent < RequestBudgetTests.most, "\(pushed), \(polled)")
        #expect(
            9_000 * pushed.counted + 1_000 * polled.counted < RequestBudgetTests.mostCounted, "\(pushed), \(polled)")
        // What the simulation of 10,000 counts for such days is what the emulator does, or somewhat more.
        for (isPushed, found) in [(true, pushed), (false, polled)] {
            let use = RequestDaySimulation.Use(
                connections: 100, isPushed: isPushed, timesHere: 3, itemsAtOnce: 3, movesThere: 2)
            let day = RequestDaySimulation([use])
            for (all, one) in [(day.sent, found.sent), (day.counts.requests, found.counted)] {
                let each = Double(all) / 100
                #expect(abs(each - Double(one)) < max(4, Double(one) / 8), "\(isPushed): \(each), \(one)")
            }
        }
    }

    /// Returns how many requests for calendars the emulator counts in a day, and as how many the server counts them.
    private static func requests(isPushed: Bool) async throws -> (sent: Int, counted: Int) {
        let emulator = try await ProviderEmulator("google_emulator.py")
        defer { emulator.stop() }
        let began = Int(Date().timeIntervalSince1970) * 1000
        let clock = TestClock(began)
        let (found, counted) = (Box(0), Box(0))
        // The emulator keeps the messages that it sends to its own address.
        try await TestServer.run(
            clock: clock, settings: .emulated(google: emulator.address), publicURL: emulator.address
        ) { server in
            try await server.makeCircle()
            try await emulator.control("push", ["mode": isPushed ? "once" : "lost"])
            let id = try await ProviderSyncTests.connect("google", server, emulator)
            try await ProviderSyncTests.fill(server, 10)
            let sync = server.services.connectionSync(Logger(label: "t") { _ in server.log })
            let day = OneDay(server: server, emulator: emulator, sync: sync, id: id, began: began)
            try await day.settle()
            _ = try await emulator.call("GET", "\(emulator.address)/control/log")
            let before = try await day.counted()
            try await day.go(here: here, there: there)
            let log = try JSONValue(
                parsing: try await emulator.call("GET", "\(emulator.address)/control/log").body)
            let calls = (log["calls"]?.array ?? []).compactMap(\.string)
            let calendar = calls.filter { !["token", "revoke", "batch"].contains($0) }
            // The person's moves are PATCHes too; each of ours counts as three.
            found.value = calendar.count - day.moves.value
            let patches = calendar.count { $0.hasPrefix("events.patch") } - day.moves.value
            counted.value = try await day.counted() - before
            #expect(counted.value == found.value + (RequestDaySimulation.weight - 1) * patches, "\(calls)")
        }
        return (found.value, counted.value)
    }
}

/// A value that a closure leaves behind.
final class Box: Sendable {
    private let stored: Mutex<Int>
    init(_ value: Int) { stored = Mutex(value) }
    var value: Int {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}

private struct OneDay {
    let server: TestServer
    let emulator: ProviderEmulator
    let sync: ConnectionSync
    let id: String
    let began: Int
    /// The requests of the person who moves events.
    let moves = Box(0)

    /// Runs what is due and hands over what the emulator has sent, until nothing more comes.
    func settle() async throws {
        try await sync.once()
        for _ in 0..<2 {
            try await Task.sleep(for: .milliseconds(40))
            let sent = try JSONValue(
                parsing: try await emulator.call("GET", "\(emulator.address)/control/received").body)
            for message in sent["notifications"]?.array ?? [] {
                var headers: HTTPFields = [:]
                for (name, value) in message.object ?? [:] {
                    headers[try #require(HTTPField.Name(name.string))] = value.string
                }
                try await server.raw(.post, "/v1/hooks/google", headers: headers).expect(200)
            }
        }
    }

    private func advance(to time: Int) async throws {
        guard time > server.clock.now else { return }
        server.clock.advance(milliseconds: time - server.clock.now)
        try await emulator.control("clock", ["skew": .integer((server.clock.now - began) / 1000)])
    }

    /// The requests that the server has counted, of two days.
    func counted() async throws -> Int {
        try await sync.storeRequests()
        let now = server.clock.now
        let found = try await server.services.store.read {
            try $0.requestDay(by: .google, usual: PollSchedule.usual, longest: PollSchedule.longest, now: now)
        }
        return (found.today + found.yesterday).requests
    }

    /// When the next run is due.
    private func due() async throws -> Int {
        try await server.services.store.read { transaction in
            let times = [try transaction.connection(id)?.nextSyncAt, try transaction.pendingSync(of: id)?.dueAt]
            return times.compactMap(\.self).min() ?? .max
        }
    }

    func go(here: [Int], there: [Int]) async throws {
        let start = server.clock.now
        let own = try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(200).json
        let calendar = pathComponent(try #require(own["calendarId"]?.string))
        for hour in 1...24 {
            let end = start + hour * 3_600_000
            while true {
                let next = try await due()
                guard next < end else { break }
                try await advance(to: next)
                try await settle()
            }
            try await advance(to: end)
            if here.contains(hour) {
                for number in 0..<3 {
                    try await server.put(
                        "appointments", "a\(number)",
                        [
                            "patientId": "mom", "provider": .string("Dr. \(number) at \(hour)"),
                            "startAt": ProviderSyncTests.day(number + 1, server),
                        ])
                    server.clock.advance(milliseconds: 500)
                }
            }
            if there.contains(hour) {
                // A token lives for an hour of the simulated clock.
                let token = try #require(try await emulator.control("person", [:])["token"]?.string)
                let events = try await ProviderSyncTests.events(emulator)
                let event = try #require(events.first { $0["summary"]?.string?.contains("Dr. 7") == true })
                let (from, to) = (ProviderSyncTests.day(20 + hour, server), ProviderSyncTests.day(21 + hour, server))
                let answer = try await ExchangeClient().send(
                    "PATCH",
                    "\(emulator.address)/calendar/v3/calendars/\(calendar)/events/\(event["id"]?.string ?? "")",
                    headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
                    body: try (["start": ["dateTime": from], "end": ["dateTime": to]] as JSONValue).serialized(),
                    longest: 1 << 20)
                #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
                moves.value += 1
                try await settle()
            }
        }
        let titles = try await ProviderSyncTests.events(emulator).compactMap { $0["summary"]?.string }
        #expect(titles.count { $0.contains(" at 15") } == 3, "\(titles)")
    }
}
