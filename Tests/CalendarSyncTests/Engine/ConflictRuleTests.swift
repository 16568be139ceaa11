// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Testing

@testable import CalendarSync

/// The rules for conflicts, journals and runs, through the whole engine.
@Suite struct ConflictRuleTests {
    static let item = ItemKey(.appointments, "a0")
    static let task = ItemKey(.tasks, "t0")

    @Test("An appointment that was moved there moves here, and an edit of its text there is put back and recorded")
    func moves() async throws {
        let world = try await World.stage(appointments: 1)
        world.editThere(Self.item) {
            $0.span = World.span(7)
            $0.title = "Theirs"
        }
        let record = try await world.run()
        #expect(world.store.items[Self.item]?.entry.span == World.span(7))
        #expect(world.event(Self.item)?.entry.title == "Title of a0")
        #expect(record?.counts.pulled == 1)
        #expect(record?.counts.conflicts == 1)
        let conflict = try #require(world.store.conflicts.values.first)
        #expect(conflict.kind == .editedThere && conflict.state == .resolved && conflict.outcome == .kalends)
        try await world.resolve(conflict, .calendar)
        try await world.run()
        #expect(world.event(Self.item)?.entry.title == "Theirs")
        #expect(world.store.items[Self.item]?.entry.title == "Theirs")
    }

    @Test(
        "Both moved it: the edit that is more than 5 minutes later is kept, else the calendar's; the other is a word away",
        arguments: [(301, EditSide.kalends), (300, .calendar), (-400, .calendar)])
    func bothMoved(seconds: Int, kept: EditSide) async throws {
        for keep in [Resolution.Keep.kalends, .calendar, .both] {
            let world = try await World.stage(appointments: 1)
            world.clock += 5_000
            world.editThere(Self.item) { $0.span = World.span(7) }
            world.clock += seconds
            world.edit(Self.item) { $0.span = World.span(9) }
            world.clock += 1_000
            try await world.run()
            let first = kept == .kalends ? World.span(9) : World.span(7)
            #expect(world.store.items[Self.item]?.entry.span == first)
            #expect(world.event(Self.item)?.entry.span == first)
            let conflict = try #require(world.open.first)
            #expect(conflict.kind == .bothChanged)
            #expect(conflict.fields.map(\.kept) == [kept])
            #expect(conflict.fields.map(\.kalends) == [World.span(9).text])
            #expect(conflict.fields.map(\.calendar) == [World.span(7).text])
            try await world.resolve(conflict, keep)
            try await world.run()
            let spans = Set(world.calendar.live.map(\.entry.span))
            switch keep {
            case .kalends: #expect(spans == [World.span(9)])
            case .calendar: #expect(spans == [World.span(7)])
            case .both: #expect(spans == [World.span(7), World.span(9)])
            }
            #expect(world.open.isEmpty)
        }
    }

    @Test("`both` is only for two times of one appointment")
    func notBoth() async throws {
        let world = try await World.stage(appointments: 2)
        world.deleteThere(Self.item)
        try await world.run()
        let conflict = try #require(world.open.first)
        #expect(throws: Resolution.Problem.notBoth) {
            try conflict.resolution(.both, link: nil, item: nil, at: Instant(seconds: 0))
        }
        try await world.resolve(conflict, .calendar)
        #expect(world.store.items[Self.item]?.isHidden == true)
        #expect(world.store.items[Self.item]?.isDeleted == false)
    }

    @Test("With `twoWay: false` a move there is put back")
    func oneWay() async throws {
        let world = try await World.stage(appointments: 1)
        world.twoWay = false
        world.editThere(Self.item) { $0.span = World.span(7) }
        try await world.run()
        #expect(world.event(Self.item)?.entry.span == World.span(0))
        #expect(world.store.conflicts.values.map(\.kind) == [.editedThere])
    }

    @Test("One occurrence that was moved or deleted there is merged by itself")
    func occurrences() async throws {
        let world = try await World.stage()
        world.add(Self.item, repetition: Repetition(rrule: "FREQ=DAILY;COUNT=5"))
        try await world.run()
        let second = World.span(0).start.adding(seconds: World.day)
        let third = second.adding(seconds: World.day)
        world.editThere(Self.item) {
            var changed = $0.plain(at: second)
            changed.span = World.span(30)
            $0.occurrences[second] = .changed(changed)
            $0.occurrences[third] = .cancelled
        }
        try await world.run()
        #expect(world.store.items[Self.item]?.entry.effective(at: second)?.span == World.span(30))
        #expect(world.store.items[Self.item]?.entry.effective(at: third) != nil)
        let conflict = try #require(world.open.first)
        #expect(conflict.kind == .deletedThere && conflict.occurrence == third)
        try await world.resolve(conflict, .kalends)
        try await world.run()
        #expect(world.event(Self.item)?.entry.canonical.effective(at: third) != nil)
    }

    @Test("Of deleted occurrences, those that take place again there are decided no more")
    func rescuedInPart() async throws {
        let world = try await World.stage()
        world.add(Self.item, repetition: Repetition(rrule: "FREQ=DAILY;COUNT=5"))
        try await world.run()
        let starts = (1...3).map { World.span(0).start.adding(seconds: $0 * World.day) }
        world.editThere(Self.item) { for start in starts { $0.occurrences[start] = .cancelled } }
        try await world.run()
        #expect(world.open.map(\.starts) == [starts])
        let rest = try #require(world.open.first?.without([starts[0]], at: Instant(seconds: world.clock)))
        #expect(rest.starts == Array(starts[1...]) && rest.state == .open && rest.fields.count == 2)
        for (back, left) in [(starts[1], [starts[0], starts[2]]), (starts[0], [starts[2]])] {
            world.editThere(Self.item) { $0.occurrences[back] = nil }
            let record = try await world.run()
            #expect(world.open.map(\.starts) == [left] && record?.counts.conflicts == 0)
        }
        let conflict = try #require(world.open.first)
        #expect(conflict.fields.count == 1 && conflict.fields.first?.occurrence == nil)
        try await world.resolve(conflict, .calendar)
        try await world.run()
        let entry = try #require(world.store.items[Self.item]?.entry.canonical)
        #expect(entry.occurrences == [starts[2]: .cancelled] && world.event(Self.item)?.entry.canonical == entry)
        #expect(world.open.isEmpty)
    }

    @Test("A deleted event that is there again once its item is gone leaves no conflict open")
    func rescuedWithoutItem() async throws {
        let world = try await World.stage(appointments: 2)
        world.deleteThere(Self.item)
        try await world.run()
        #expect(world.open.map(\.kind) == [.deletedThere])
        world.store.items[Self.item]?.isDeleted = true
        var stored = try #require(world.calendar.events.values.first { $0.mark?.item == Self.item })
        stored.isLive = true
        world.calendar.put(stored)
        try await world.run()
        #expect(world.open.isEmpty && world.event(Self.item) != nil)
    }

    @Test("A deleted event that is there again and cannot be read is one conflict, not two")
    func rescuedUnreadable() async throws {
        let world = try await World.stage(appointments: 2)
        world.deleteThere(Self.item)
        try await world.run()
        #expect(world.open.map(\.kind) == [.deletedThere])
        var stored = try #require(world.calendar.events.values.first { $0.mark?.item == Self.item })
        (stored.isLive, stored.isUnreadable) = (true, true)
        world.calendar.put(stored)
        try await world.run()
        #expect(world.open.map(\.kind) == [.unreadable])
    }

    @Test("An appointment that was deleted here and moved there waits for a person", arguments: [true, false])
    func editOutlivesItem(isKept: Bool) async throws {
        let world = try await World.stage(appointments: 2)
        world.store.items[Self.item]?.isDeleted = true
        world.editThere(Self.item) { $0.span = World.span(7) }
        try await world.run()
        try await world.run()
        #expect(world.event(Self.item) != nil)
        let conflict = try #require(world.open.first)
        try await world.resolve(conflict, isKept ? .calendar : .kalends)
        try await world.run()
        #expect((world.event(Self.item) != nil) == isKept)
    }

    @Test("A restored backup is noticed before anything is written")
    func restored() async throws {
        let world = try await World.stage(appointments: 2)
        let (links, position) = (world.store.links, world.store.position)
        world.add(ItemKey(.appointments, "later"), hour: 9)
        try await world.run()
        world.store.links = links
        world.store.position = position
        world.edit(Self.item) { $0.title = "From the backup" }
        let writes = world.calendar.writes
        let record = try await world.run()
        #expect(record?.held?.causes == [.restored])
        #expect(world.calendar.writes == writes)
        try await world.approve()
        #expect(world.calendar.live.count == 3)
        #expect(world.event(Self.item)?.entry.title == "From the backup")
    }

    @Test("A run is undone from its journal, and the next one does not do it again")
    func undo() async throws {
        let world = try await World.stage(appointments: 3, tasks: 1)
        world.edit(Self.item) { $0.title = "Renamed" }
        world.store.items[Self.task]?.isHidden = true
        world.add(ItemKey(.tasks, "t9"), hour: 9)
        world.editThere(ItemKey(.appointments, "a1")) { $0.span = World.span(12) }
        let record = try #require(try await world.run())
        #expect(record.counts.deleted == 1 && record.counts.created == 1 && record.counts.updated == 1)
        let undoing = RunRecord(id: "undo", trigger: .manual, startedAt: Instant(seconds: world.clock))
        let outcome = try await world.sync().undo(run: record.id, as: undoing)
        #expect(outcome.record.status == .success)
        world.undone.formUnion(world.store.journal.filter { $0.reason == RunSession.undone }.map(\.item))
        for _ in 0..<2 {
            #expect(world.event(Self.item)?.entry.title == "Title of a0")
            #expect(world.event(Self.task) != nil)
            #expect(world.event(ItemKey(.tasks, "t9")) == nil)
            #expect(world.store.items[ItemKey(.appointments, "a1")]?.entry.span == World.span(1))
            try await world.run()
        }
        #expect(world.event(ItemKey(.appointments, "a1"))?.entry.span == World.span(1))
    }

    @Test("The last run removes events from a day on, and leaves those before")
    func removal() async throws {
        let world = try await World.stage(appointments: 30)
        var policy = world.policy()
        policy.purpose = .removal(from: World.span(20).start)
        let run = SyncRun(
            provider: world.calendar, store: world.store, policy: policy,
            now: { [clock = world.clock] in Instant(seconds: clock) }, makeID: { world.fresh("id") })
        let record = RunRecord(id: "x", trigger: .manual, startedAt: Instant(seconds: world.clock))
        #expect(try await run.run(record).record.counts.deleted == 10)
        #expect(world.calendar.live.count == 20)
    }

    @Test("One event that the provider refuses is held back with its reason, and no other")
    func quarantine() async throws {
        let world = try await World.stage(appointments: 3, linked: false)
        world.edit(Self.item) { $0.location = "nowhere" }
        let record = try await world.run()
        #expect(record?.status == .partial)
        #expect(world.calendar.live.count == 2)
        #expect(world.store.links[Self.item]?.state == .quarantined)
        #expect(world.store.links[Self.item]?.reason == "There is no such place.")
        world.edit(Self.item) { $0.location = "" }
        #expect(try await world.run()?.status == .success)
        #expect(world.calendar.live.count == 3)
    }

    @Test(
        "An event that no entry can say is left, and a person decides", arguments: [Resolution.Keep.kalends, .calendar])
    func unreadable(keep: Resolution.Keep) async throws {
        let world = try await World.stage(appointments: 2)
        var stored = try #require(world.event(Self.item))
        stored.isUnreadable = true
        world.calendar.put(stored)
        let writes = world.calendar.writes
        try await world.run()
        try await world.run()
        #expect(world.calendar.writes == writes)
        let conflict = try #require(world.open.first)
        #expect(conflict.kind == .unreadable)
        try await world.resolve(conflict, keep)
        try await world.run()
        #expect(world.event(Self.item)?.isUnreadable == (keep == .calendar))
        #expect(world.calendar.live.count == 2)
    }

    @Test("A move there keeps the item's own zone where the provider knows it by another name")
    func zones() async throws {
        let world = try await World.stage(appointments: 1)
        func span(_ hour: Int, _ zone: String) -> TimeSpan {
            let start = World.span(hour).start
            return .timed(start: start, end: start.adding(seconds: 900), zone: zone)
        }
        world.edit(Self.item) { $0.span = span(3, "Europe/Vienna") }
        try await world.run()
        world.editThere(Self.item) { $0.span = span(5, "Europe/Berlin") }
        let writes = world.calendar.writes
        try await world.run()
        try await world.run()
        #expect(world.store.items[Self.item]?.entry.span == span(5, "Europe/Vienna"))
        #expect(world.calendar.writes == writes)
        world.editThere(Self.item) { $0.span = span(6, "Europe/Lisbon") }
        try await world.run()
        #expect(world.store.items[Self.item]?.entry.span == span(6, "Europe/Lisbon"))
    }

    @Test("An unchanged run is one request, a change here two, and a change there two")
    func requests() async throws {
        let world = try await World.stage(appointments: 50)
        func cost() async throws -> Int {
            let before = world.calendar.requests
            try await world.run()
            return world.calendar.requests - before
        }
        #expect(try await cost() == 1)
        world.edit(Self.item) { $0.title = "Other" }
        #expect(try await cost() == 2)
        world.clock += 60
        world.editThere(Self.item) { $0.span = World.span(60) }
        #expect(try await cost() <= 2)
        #expect(try await cost() == 1)
    }
}
