// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Testing

@testable import CalendarSync

@Suite("A series that a provider cannot express is single events")
struct SplitSeriesTests {
    private static let item = ItemKey(.appointments, "a0")
    private static let sayable = Repetition(rrule: "FREQ=DAILY;COUNT=5")
    private static let unsayable = Repetition(rrule: "FREQ=DAILY;INTERVAL=2;COUNT=5")

    private static func start(_ number: Int) -> Instant {
        World.span(0).start.adding(seconds: number * 2 * World.day)
    }

    private static func part(_ number: Int) -> ItemKey { ItemKey(.appointments, "a0", at: start(number)) }

    private static func moved(_ number: Int, hours: Int) -> TimeSpan {
        let begin = start(number).adding(seconds: hours * 3_600)
        return .timed(start: begin, end: begin.adding(seconds: 1_800), zone: "Europe/Berlin")
    }

    private static func stage(_ repetition: Repetition = unsayable) async throws -> World {
        let world = try await World.stage()
        world.calendar.isNarrow = true
        world.add(item, repetition: repetition)
        try await world.run()
        return world
    }

    private static func change(_ world: World, to repetition: Repetition) {
        world.clock += 60
        world.edit(item) {
            $0.repetition = repetition
            $0.occurrences = [:]
        }
    }

    /// The starts of all events of the item, in order.
    private static func starts(_ world: World) -> [Instant] {
        world.calendar.live.filter { $0.mark?.item.whole == item }.map(\.entry.span.start).sorted()
    }

    private static func isQuiet(_ world: World) async throws -> Bool {
        let writes = world.calendar.writes
        try await world.run()
        return world.calendar.writes == writes && world.lastRun()?.status == .success
    }

    @Test("Each occurrence has an event of its own, and a further run writes nothing")
    func written() async throws {
        let world = try await Self.stage()
        #expect(world.lastRun()?.status == .success && world.lastRun()?.counts.created == 5)
        #expect(Self.starts(world) == (0..<5).map(Self.start))
        #expect(world.calendar.live.allSatisfy { $0.entry.repetition == nil && $0.entry.reminders == [10] })
        #expect(world.event(Self.part(3))?.entry.span.start == Self.start(3))
        #expect(try await Self.isQuiet(world))
    }

    @Test("What is moved there is moved here, the occurrence alone; what is moved here is moved there, in place")
    func moves() async throws {
        let world = try await Self.stage()
        let ids = Set(world.calendar.live.map { ByteString($0.id) })
        world.clock += 60
        world.editThere(Self.part(1)) { $0.span = Self.moved(1, hours: 3) }
        world.editThere(Self.part(2)) { $0.span = Self.moved(2, hours: 4) }
        try await world.run()
        #expect(world.lastRun()?.counts.pulled == 2 && world.lastRun()?.status == .success)
        let entry = try #require(world.store.items[Self.item]?.entry)
        #expect(entry.effective(at: Self.start(1))?.span == Self.moved(1, hours: 3))
        #expect(entry.effective(at: Self.start(2))?.span == Self.moved(2, hours: 4))
        #expect(entry.span == World.span(0) && entry.occurrences.count == 2)
        #expect(try await Self.isQuiet(world))
        world.clock += 60
        world.edit(Self.item) { entry in
            var own = entry.plain(at: Self.start(3))
            own.span = Self.moved(3, hours: 5)
            entry.occurrences[Self.start(3)] = .changed(own)
        }
        try await world.run()
        #expect(world.event(Self.part(3))?.entry.span == Self.moved(3, hours: 5))
        #expect(Set(world.calendar.live.map { ByteString($0.id) }) == ids)
        #expect(try await Self.isQuiet(world))
    }

    @Test("An occurrence that is deleted there waits for a person, who cancels it here or has it written again")
    func deletions() async throws {
        for keep in [Resolution.Keep.calendar, .kalends] {
            let world = try await Self.stage()
            world.deleteThere(Self.part(1))
            try await world.run()
            #expect(world.open.map(\.kind) == [.deletedThere] && world.open.first?.item == Self.part(1))
            #expect(world.store.items[Self.item]?.entry.occurrences.isEmpty == true)
            try await world.resolve(try #require(world.open.first), keep)
            try await world.run()
            #expect(world.open.isEmpty)
            let isCancelled = world.store.items[Self.item]?.entry.occurrences[Self.start(1)] == .cancelled
            #expect(isCancelled == (keep == .calendar))
            #expect(Self.starts(world).count == (keep == .calendar ? 4 : 5))
            #expect(try await Self.isQuiet(world))
        }
    }

    @Test("A text that is typed there is put back, and can be taken over for the occurrence")
    func texts() async throws {
        let world = try await Self.stage()
        world.editThere(Self.part(1)) { $0.title = "Typed" }
        try await world.run()
        #expect(world.event(Self.part(1))?.entry.title == "Title of a0")
        let conflict = try #require(world.store.conflicts.values.first)
        #expect(conflict.kind == .editedThere && conflict.item == Self.part(1))
        try await world.resolve(conflict, .calendar)
        #expect(world.store.items[Self.item]?.entry.title == "Title of a0")
        #expect(world.store.items[Self.item]?.entry.effective(at: Self.start(1))?.title == "Typed")
        try await world.run()
        #expect(world.event(Self.part(1))?.entry.title == "Typed")
    }

    @Test("A series that becomes sayable is one event again, and the reverse; no brake holds either")
    func forms() async throws {
        let world = try await Self.stage()
        world.brake = DeletionLimit(events: 0, fraction: 1)
        for round in 0..<3 {
            Self.change(world, to: Self.sayable)
            try await world.run()
            #expect(world.lastRun()?.status == .success, "\(round)")
            #expect(Self.starts(world) == [Self.start(0)] && world.event(Self.item)?.entry.repetition != nil)
            #expect(try await Self.isQuiet(world))
            Self.change(world, to: Self.unsayable)
            try await world.run()
            #expect(world.lastRun()?.status == .success, "\(round)")
            #expect(Self.starts(world) == (0..<5).map(Self.start) && world.event(Self.item) == nil)
            #expect(try await Self.isQuiet(world))
        }
    }

    @Test("An item that is no longer shown takes its single events along, and a last run all of them")
    func removal() async throws {
        let world = try await Self.stage()
        world.store.items[Self.item]?.isDeleted = true
        try await world.run()
        #expect(world.calendar.live.isEmpty && world.lastRun()?.counts.deleted == 5)
        let other = try await Self.stage()
        var policy = other.policy()
        policy.purpose = .removal(from: nil)
        let run = SyncRun(
            provider: other.calendar, store: other.store, policy: policy,
            now: { [clock = other.clock] in Instant(seconds: clock) }, makeID: { other.fresh("id") })
        #expect(try await run.run(other.freshRun()).record.status == .success)
        #expect(other.calendar.live.isEmpty)
    }

    @Test("Whenever a run is killed while the form changes, nothing is missing or doubled in the end")
    func killed() async throws {
        for commits in 0..<24 {
            for (before, after) in [(Self.unsayable, Self.sayable), (Self.sayable, Self.unsayable)] {
                let world = try await Self.stage(before)
                Self.change(world, to: after)
                if commits % 2 == 1 { world.calendar.faults = [.lostAnswer] }
                world.store.commitsLeft = commits
                try await world.run()
                world.store.commitsLeft = nil
                for _ in 0..<3 { try await world.run() }
                let isSplit = after == Self.unsayable
                #expect(Self.starts(world) == (isSplit ? (0..<5).map(Self.start) : [Self.start(0)]), "\(commits)")
                #expect(try await Self.isQuiet(world))
            }
        }
    }

    @Test("A single event with guests outlives a move of the series, and is named until a person decides")
    func guests() async throws {
        for isKilled in [false, true] {
            let world = try await Self.stage()
            for number in [1, 2] {
                var stored = try #require(world.event(Self.part(number)))
                stored.hasGuests = true
                world.calendar.put(stored)
            }
            try await world.run()
            #expect(world.store.links[Self.part(1)]?.hasGuests == true)
            world.clock += 60
            world.edit(Self.item) { $0.span = World.span(2) }
            world.store.commitsLeft = isKilled ? 3 : nil
            try await world.run()
            world.store.commitsLeft = nil
            for _ in 0..<2 { try await world.run() }
            let kept = try #require(world.store.links[Self.part(1)])
            #expect(kept.state == .quarantined && kept.reason == Planner.guestsReason)
            #expect(kept.agreed?.ours.title == "Title of a0")
            #expect(Self.starts(world).count == 7 && Self.starts(world).contains(Self.start(2)))
            #expect(world.lastRun()?.status == .partial && world.lastRun()?.counts.failed == 2)
            // It is as new a problem as on the first day.
            world.clock += 3 * World.day
            try await world.run()
            #expect(world.store.links[Self.part(1)]?.since == kept.since)
            // The guests of one are removed, the other event is deleted.
            var stored = try #require(world.event(Self.part(1)))
            stored.hasGuests = false
            world.calendar.put(stored)
            world.deleteThere(Self.part(2))
            try await world.run()
            #expect(Self.starts(world) == (0..<5).map { Self.start($0).adding(seconds: 7200) })
            #expect(try await Self.isQuiet(world))
        }
    }

    @Test("A single event of an occurrence that is cancelled here goes, whoever was invited")
    func cancelledWithGuests() async throws {
        let world = try await Self.stage()
        var stored = try #require(world.event(Self.part(1)))
        stored.hasGuests = true
        world.calendar.put(stored)
        try await world.run()
        world.clock += 60
        world.edit(Self.item) { $0.occurrences[Self.start(1)] = .cancelled }
        try await world.run()
        #expect(world.event(Self.part(1)) == nil && world.lastRun()?.status == .success)
    }

    @Test("What there is too much of is named with the reason, and follows as time passes")
    func horizon() async throws {
        let world = try await Self.stage(Repetition(rrule: "FREQ=DAILY;INTERVAL=2;BYHOUR=1,3,5,7,9,11,13,15"))
        let link = try #require(world.store.links[Self.item])
        #expect(link.state == .quarantined && link.externalID == nil && link.refused?.title == "Title of a0")
        let reason = "There is no such rule. Its occurrences are single events, and those after 1970-04-"
        #expect(link.reason?.hasPrefix(reason) == true)
        #expect(world.lastRun()?.status == .partial && world.lastRun()?.counts.failed == 1)
        let first = Self.starts(world)
        #expect(first.count == SeriesParts.most && first.first == Self.start(0))
        world.clock += 60 * World.day
        try await world.run()
        let second = Self.starts(world)
        #expect(Set(second).isSuperset(of: first) && second.count > first.count)
        #expect(world.store.links[Self.item]?.reason != link.reason)
        // Enough of it ends, and all the rest is there.
        Self.change(world, to: Self.unsayable)
        for _ in 0..<3 {
            try await world.run()
            try await world.approve()
        }
        #expect(world.store.links[Self.item]?.state == .deleted)
        #expect(try await Self.isQuiet(world))
    }

    @Test("A database that was lost finds the single events by their marks, and in a calendar that moved as well")
    func marks() async throws {
        let lost = try await Self.stage()
        let ids = lost.calendar.live.map(\.id)
        lost.store.records = SimulatedStore.Records()
        try await lost.run()
        #expect(lost.calendar.live.map(\.id) == ids && lost.lastRun()?.status == .success)
        #expect(try await Self.isQuiet(lost))

        let moved = try await Self.stage()
        for (number, stored) in moved.calendar.live.enumerated() {
            moved.calendar.events[stored.id] = nil
            var other = stored
            other.id = "other\(number)"
            moved.calendar.put(other)
        }
        moved.calendar.faults = [.deadCursor]
        try await moved.run()
        #expect(Self.starts(moved) == (0..<5).map(Self.start) && moved.calendar.live.count == 5)
        #expect(moved.open.isEmpty)
        #expect(try await Self.isQuiet(moved))
    }

    @Test("An older copy of the database, from before the form changed, takes nothing away and doubles nothing")
    func olderCopy() async throws {
        for (before, after) in [(Self.unsayable, Self.sayable), (Self.sayable, Self.unsayable)] {
            let world = try await Self.stage(before)
            let (records, items) = (world.store.records, world.store.items)
            Self.change(world, to: after)
            try await world.run()
            (world.store.records, world.store.items) = (records, items)
            #expect(try await world.run()?.held?.causes.contains(.restored) == true)
            try await world.approve()
            for _ in 0..<2 { try await world.run() }
            let isSplit = before == Self.unsayable
            #expect(Self.starts(world) == (isSplit ? (0..<5).map(Self.start) : [Self.start(0)]))
            #expect(world.open.isEmpty)
            #expect(try await Self.isQuiet(world))
        }
    }

    @Test("An undone run leaves the form as it is, because the item decides it")
    func undone() async throws {
        let world = try await Self.stage(Self.sayable)
        Self.change(world, to: Self.unsayable)
        let run = try #require(try await world.run())
        world.calendar.clock = world.clock
        let record = try await world.sync().undo(run: run.id, as: world.freshRun()).record
        #expect(record.counts.failed > 0)
        #expect(Self.starts(world) == (0..<5).map(Self.start))
        #expect(try await Self.isQuiet(world))
    }
}
