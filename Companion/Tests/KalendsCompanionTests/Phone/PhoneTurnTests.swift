// SPDX-License-Identifier: Apache-2.0

import Calendar
import EventKitStandIn
import KalendsEventKit
import OfficeDays
import Testing

@testable import KalendsCompanion

@Suite("Companion: items that change hands") struct PhoneTurnTests {
    /// A phone with a task and two appointments of the server in its calendar.
    private static func world() async -> PhoneWorld {
        let world = PhoneWorld(5)
        for (number, kind) in [ModelServer.Kind.task, .appointment, .appointment].enumerated() {
            world.server.create(kind) { event in
                event.title = "item \(number)"
                event.date = Day(daysSinceEpoch: PhoneWorld.start / 86_400 + 3 + number).description
                (event.startTime, event.endTime) = ("10:00", "11:00")
                (event.timeZone, event.allDay) = (PhoneWorld.zone, false)
            }
        }
        _ = await world.sync()
        return world
    }

    private static func titles(_ world: PhoneWorld) -> [String] {
        world.device.events.values.map(\.fields.title).sorted()
    }

    private static func number(_ world: PhoneWorld, _ title: String) throws -> Int {
        try #require(world.device.events.first { $0.value.fields.title == title }?.key)
    }

    @Test("Of items that another device carries, nothing more is sent or changed here, and nothing is deleted")
    func stale() async throws {
        let world = await Self.world()
        #expect(Self.titles(world) == ["item 0", "item 1", "item 2"])
        world.server.carry(here: false)
        let number = try Self.number(world, "item 1")
        world.wait(600)
        world.device.change(number) { $0.fields.title = "typed meanwhile" }
        let report = await world.sync()
        // A refusal for this reason is not a failure of the run, and does not need a person's attention.
        #expect(report.status == .success && report.counts.failed == 0)
        let stale = try #require(await world.states.load()).links.filter { $0.state == .stale }
        #expect(stale.count == 1 && stale.allSatisfy { $0.staleAt != nil })
        let upserts = world.server.upserts
        for _ in 0..<3 {
            world.wait(600)
            let quiet = await world.sync()
            #expect(quiet.counts.wroteNothing)
        }
        #expect(world.server.upserts == upserts)
        #expect(Self.titles(world) == ["item 0", "item 2", "typed meanwhile"])
        #expect(!world.server.all.contains { $0.event.title == "typed meanwhile" })
    }

    @Test("Items that come back to this device are the events that are still there, and none is made twice")
    func back() async throws {
        let world = await Self.world()
        world.server.carry(here: false)
        let number = try Self.number(world, "item 1")
        world.wait(600)
        world.device.change(number) { $0.fields.title = "typed meanwhile" }
        _ = await world.sync()
        world.wait(600)
        world.server.carry(here: true)
        for _ in 0..<3 {
            world.wait(600)
            _ = await world.sync()
        }
        #expect(try #require(await world.states.load()).links.allSatisfy { $0.state == .linked })
        // Kalends is right about a title.
        #expect(Self.titles(world) == ["item 0", "item 1", "item 2"])
        #expect(world.server.all.allSatisfy { $0.event.externalId != nil })
        await world.check(5)
    }

    @Test(
        "Another connection after one whose events stayed finds them by their marks, whether the app remembers or not",
        arguments: [true, false])
    func reconnected(remembers: Bool) async throws {
        let world = await Self.world()
        let before = world.device.events.keys.sorted()
        world.server.reconnect(as: "m")
        if !remembers { await world.states.clear() }
        world.wait(600)
        let report = await world.sync()
        #expect(report.status == .success && report.counts.made == 0 && report.counts.removed == 0)
        #expect(world.device.events.keys.sorted() == before)
        await world.check(5)
        // From here on the events are the new connection's.
        let id = try #require(world.server.all.first { $0.event.title == "item 2" }?.event.id)
        world.server.change(id) { $0.title = "changed there" }
        world.server.delete(try #require(world.server.all.first { $0.event.title == "item 0" }?.event.id))
        world.wait(600)
        _ = await world.sync()
        #expect(Self.titles(world) == ["changed there", "item 1"])
        await world.check(5)
    }

    @Test("A new series that the calendar does not take in one run waits, and nothing of its batch is made twice")
    func failingSeries() async throws {
        let world = PhoneWorld(5)
        let day = Day(daysSinceEpoch: PhoneWorld.start / 86_400 + 3)
        for number in 0..<3 {
            world.server.create(nil) { event in
                event.title = "item \(number)"
                (event.date, event.allDay) = (day.description, true)
                guard number == 1 else { return }
                event.recurrence = RemoteRecurrence(
                    rrule: "FREQ=DAILY;COUNT=4", exdates: [day.adding(days: 1).description])
            }
        }
        // All three are in one batch; the occurrences of the series are written after it.
        world.device.failCommit(2)
        let report = await world.sync()
        #expect(report.status == .success && report.counts.made == 2 && report.counts.queued == 1)
        #expect(Self.titles(world) == ["item 0", "item 2"])
        world.device.onCall(nil)
        world.wait(600)
        _ = await world.sync()
        #expect(Self.titles(world) == ["item 0", "item 1", "item 2"])
        await world.check(5)
    }

    @Test("What a person deleted under the earlier connection comes with the next one, once")
    func deletedBefore() async throws {
        let world = await Self.world()
        world.device.delete(try Self.number(world, "item 0"))
        for _ in 0..<3 {
            world.wait(7200)
            _ = await world.sync()
        }
        #expect(Self.titles(world) == ["item 1", "item 2"])
        world.server.reconnect(as: "m")
        for _ in 0..<2 {
            world.wait(600)
            _ = await world.sync()
        }
        #expect(Self.titles(world) == ["item 0", "item 1", "item 2"])
    }
}
