// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Testing

@testable import CalendarSync

/// Failures of whole calendars and databases, and of several programs at one calendar.
extension FailureTests {
    @Test("Somebody's invitation of the same title and time is not ours, and nobody's event is made twice for it")
    func invitation() async throws {
        let world = try await World.stage(appointments: 1)
        let entry = try #require(world.store.items[Self.item]?.entry)
        world.calendar.put(
            SimulatedCalendar.Stored(
                id: "invitation", mark: nil, entry: entry, etag: 0, change: 0, updatedAt: Instant(seconds: 0),
                isOurs: false))
        world.foreign["invitation"] = entry
        world.edit(Self.item) { $0.span = World.span(5) }
        try await world.run()
        world.store.items[Self.item]?.isHidden = true
        try await world.run()
        #expect(world.calendar.live.map(\.id) == ["invitation"])
        try await world.settle()
    }

    @Test("A server that cannot read its own items writes nothing, and reports nothing as done")
    func withoutItems() async throws {
        let world = try await World.stage(appointments: 4)
        let (writes, links) = (world.calendar.writes, world.store.links)
        world.deleteThere(Self.item)
        world.store.isOutOfReach = true
        await #expect(throws: SimulatedStore.OutOfReach.self) { try await world.run() }
        #expect(world.calendar.writes == writes && world.store.links == links && world.open.isEmpty)
        world.store.isOutOfReach = false
        try await world.run()
        #expect(world.open.map(\.kind) == [.deletedThere])
        #expect(world.calendar.live.count == 3)
    }

    @Test("An older copy of the database is held before it writes, and takes nothing of the calendar away")
    func olderCopy() async throws {
        let world = try await World.stage(appointments: 3)
        let (records, items) = (world.store.records, world.store.items)
        for number in 0..<4 { world.add(ItemKey(.appointments, "late\(number)"), hour: 10 + number) }
        try await world.run()
        (world.store.records, world.store.items) = (records, items)
        let writes = world.calendar.writes
        #expect(try await world.run()?.held?.causes == [.restored])
        #expect(world.calendar.writes == writes && world.calendar.live.count == 7)
        try await world.approve()
        #expect(world.calendar.live.count == 7, "Nobody asked to delete what this copy does not know.")
    }

    @Test("Occurrences that are alike in all but their place in the series are two, and stay two")
    func occurrencesAlike() async throws {
        let world = try await World.stage()
        world.add(Self.item, repetition: Repetition(rrule: "FREQ=DAILY;COUNT=6"))
        try await world.run()
        let start = World.span(0).start
        let (second, third) = (start.adding(seconds: World.day), start.adding(seconds: 2 * World.day))
        world.editThere(Self.item) { entry in
            for original in [second, third] {
                var changed = entry.plain(at: original)
                changed.span = World.span(70)
                entry.occurrences[original] = .changed(changed)
            }
        }
        #expect(try await world.run()?.counts.pulled == 1)
        let entry = try #require(world.store.items[Self.item]?.entry)
        #expect([second, third].map { entry.effective(at: $0)?.span } == [World.span(70), World.span(70)])
        #expect(Expander.starts(entry).count == 6)
        // One of them is cancelled here: the other stays.
        world.edit(Self.item) { $0.occurrences[second] = .cancelled }
        try await world.run()
        let event = try #require(world.event(Self.item)?.entry)
        #expect(event.effective(at: second) == nil && event.effective(at: third)?.span == World.span(70))
        try await world.settle()
    }

    @Test("A first run into a calendar in which another connection has the items waits until its person says so")
    func unknownlyShared() async throws {
        let world = try await World.stage(appointments: 3, tasks: 2, linked: false)
        let other = World(world.circle, connection: "n2")
        (other.brake, other.sharesIt) = (DeletionLimit(), false)
        world.other = other
        world.switchCalendar()
        try await world.run()
        other.switchCalendar()
        let held = try #require(try await other.run())
        #expect(held.state == .held && held.held?.causes == [.shared] && held.held?.shared == 5)
        #expect(held.error?.contains("5 items would be there twice") == true)
        #expect(world.calendar.live.count == 5)
        let alone = Hold(causes: [.missing, .shared], deletions: 0, missing: 1, shared: 1).sentence
        #expect(alone.contains(": 1 item would be there twice."))
        #expect(alone.hasSuffix(" 1 event is suddenly missing from the calendar."))
        // The other one goes on, and nobody is asked twice.
        world.edit(Self.item) { $0.title = "New" }
        #expect(try await world.run()?.status == .success)
        try await other.approve()
        #expect(world.calendar.live.count == 10)
        #expect(try await other.run()?.status == .success)
        #expect(world.calendar.live.filter { $0.entry.title == "New" }.count == 2)
    }

    @Test("What one connection has taken over after a lost database is no other one's", arguments: [true, false])
    func lostBesideAnother(sharesIt: Bool) async throws {
        let world = try await World.stage(appointments: 3, linked: false)
        world.switchCalendar()
        try await world.run()
        world.store.records = SimulatedStore.Records()
        for id in world.calendar.events.keys { world.calendar.events[id]?.mark?.connection = "former" }
        try await world.run()
        #expect(world.calendar.live.count == 3)
        let other = World(world.circle, connection: "n2")
        (other.brake, other.sharesIt) = (DeletionLimit(), sharesIt)
        world.other = other
        other.switchCalendar()
        let run = try #require(try await other.run())
        #expect(run.held?.causes == (sharesIt ? nil : [.shared]))
        try await other.approve()
        #expect(world.calendar.live.count == 6)
        let ids = [world, other].flatMap { $0.store.links.values.compactMap(\.externalID) }
        #expect(ids.count == 6 && Set<ByteString>(ids).count == 6)
    }

    @Test("Two connections on one calendar never change or delete what the other has made")
    func twoConnections() async throws {
        let world = try await World.stage(appointments: 3, tasks: 2, linked: false)
        let other = World(world.circle, connection: "n2")
        other.brake = DeletionLimit()
        world.other = other
        world.switchCalendar()
        other.switchCalendar()
        #expect(world.calendar === other.calendar)
        for _ in 0..<3 {
            try await world.run()
            try await other.run()
        }
        #expect(world.calendar.live.count == 10)
        #expect(world.calendar.deletions.isEmpty)
        // A person moves one of the two events: the item moves, and the other event follows.
        world.editThere(Self.item) { $0.span = World.span(30) }
        let moved = try #require(world.event(Self.item))
        for _ in 0..<2 {
            try await world.run()
            try await other.run()
        }
        #expect(world.store.items[Self.item]?.entry.span == World.span(30))
        let events = world.calendar.live.filter { $0.mark?.item == Self.item }
        #expect(events.count == 2 && events.allSatisfy { $0.entry.span == World.span(30) })
        #expect(events.contains { $0.id == moved.id })
        // What goes, goes twice; what one person takes away stays for the other.
        world.store.items[Self.task]?.isHidden = true
        try await world.settle()
        #expect(world.calendar.live.count == 8)
        #expect(world.calendar.trespasses.isEmpty)
    }

    @Test("A calendar that is not there for a while loses no event, and its connection no link")
    func calendarMissing() async throws {
        let world = try await World.stage(appointments: 4)
        let links = world.store.links
        for _ in 0..<3 {
            world.calendar.faults = [.missingCalendar]
            let record = try await world.run()
            #expect(record?.state == .failed && record?.status == .failed)
            #expect(world.store.links == links && world.open.isEmpty)
        }
        world.edit(Self.item) { $0.title = "Edited meanwhile" }
        let record = try await world.run()
        #expect(record?.status == .success && record?.counts.updated == 1)
        #expect(world.calendar.live.count == 4 && world.calendar.deletions.isEmpty)
    }

    @Test("A calendar that is missing for a write keeps what is wanted, and nothing is made elsewhere")
    func calendarMissingForWrites() async throws {
        let world = try await World.stage(appointments: 2)
        world.edit(Self.item) { $0.title = "Edited" }
        world.calendar.faults = [.missingForWrites]
        let record = try await world.run()
        #expect(record?.counts.failed == 1 && record?.status != .success)
        #expect(world.event(Self.item)?.entry.title == "Title of a0")
        try await world.run()
        #expect(world.event(Self.item)?.entry.title == "Edited")
        #expect(world.calendar.live.count == 2)
    }
}
