// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Testing

@testable import CalendarSync

/// Failures of series, marks, identities, and what servers do to the events that they are given.
extension FailureTests {
    @Test(
        "An event that comes out of the bin settles its conflict, and stays whatever a person says of it",
        arguments: [true, false])
    func bin(_ isSeen: Bool) async throws {
        let world = try await World.stage(appointments: 1)
        world.deleteThere(Self.item)
        try await world.run()
        let conflict = try #require(world.open.first)
        #expect(conflict.kind == .deletedThere)
        var stored = try #require(world.calendar.events.values.first)
        stored.isLive = true
        world.calendar.put(stored)
        if isSeen {
            try await world.run()
            #expect(world.open.isEmpty)
            #expect(world.store.links[Self.item]?.state == .linked)
            #expect(world.store.links[Self.item]?.externalID == stored.id)
            return
        }
        try await world.resolve(conflict, .calendar)
        try await world.run()
        try await world.run()
        #expect(world.calendar.live.map(\.id) == [stored.id])
        #expect(world.calendar.deletions.isEmpty)
    }

    @Test("An occurrence that comes back there settles the conflict about it")
    func occurrenceFromBin() async throws {
        let world = try await World.stage()
        world.add(Self.item, repetition: Repetition(rrule: "FREQ=DAILY;COUNT=5"))
        try await world.run()
        let second = World.span(0).start.adding(seconds: World.day)
        world.editThere(Self.item) { $0.occurrences[second] = .cancelled }
        try await world.run()
        #expect(world.open.map(\.starts) == [[second]])
        world.editThere(Self.item) { $0.occurrences[second] = nil }
        try await world.run()
        #expect(world.open.isEmpty)
        #expect(world.store.items[Self.item]?.entry.canonical.occurrences.isEmpty == true)
    }

    @Test("A series of more than a thousand occurrences that is ended here ends there, and one cut there waits")
    func lateEnds() async throws {
        let world = try await World.stage()
        world.add(Self.item, repetition: Repetition(rrule: "FREQ=DAILY"))
        try await world.run()
        world.edit(Self.item) { $0.repetition = Repetition(rrule: "FREQ=DAILY;UNTIL=20261130T000000Z") }
        try await world.run()
        #expect(world.event(Self.item)?.entry.repetition?.rrule == "FREQ=DAILY;UNTIL=20261130T000000Z")
        world.editThere(Self.item) { $0.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=1100") }
        let writes = world.calendar.writes
        try await world.run()
        #expect(world.calendar.writes == writes)
        #expect(world.open.map(\.kind) == [.editedThere])
        #expect(world.open.first?.fields.map(\.field) == [.recurrence])
    }

    @Test("An occurrence cancelled as an EXDATE is the same as one that is named cancelled")
    func exdates() {
        let start = World.span(0).start.adding(seconds: World.day)
        let one = Entry(
            title: "x", span: World.span(0), repetition: Repetition(rrule: "FREQ=DAILY;COUNT=5", exdates: [start]))
        let other = Entry(
            title: "x", span: World.span(0), repetition: Repetition(rrule: "FREQ=DAILY;COUNT=5"),
            occurrences: [start: .cancelled])
        #expect(one.canonical == other.canonical)
    }

    @Test("A value that comes back three times within an hour is left, and waits for a person")
    func pingPong() async throws {
        let world = try await World.stage(tasks: 1)
        for round in 1...3 {
            world.editThere(Self.task) { $0.title = "The other program's" }
            world.clock += 300
            try await world.run()
            #expect(world.event(Self.task)?.entry.title == (round < 3 ? "Title of t0" : "The other program's"))
        }
        #expect(world.open.map(\.kind) == [.editedThere])
        let conflict = try #require(world.open.first)
        try await world.resolve(conflict, .kalends)
        world.clock += 7_200
        try await world.run()
        #expect(world.event(Self.task)?.entry.title == "Title of t0")
    }

    @Test("A mark of another installation, or of another circle, is foreign")
    func strangers() async throws {
        let world = try await World.stage(appointments: 1)
        for (id, installation, circle) in [("x1", "other", "c"), ("x2", "i", "other")] {
            let mark = EventMark(
                installation: installation, connection: "n", circle: circle, item: Self.item, generation: 7)
            world.calendar.put(
                SimulatedCalendar.Stored(
                    id: id, mark: mark, entry: Entry(title: "s", span: World.span(3)), etag: 0, change: 0,
                    updatedAt: Instant(seconds: 0), isOurs: false))
        }
        world.store.items[Self.item]?.isHidden = true
        #expect(try await world.run()?.state == .done)
        #expect(world.calendar.live.map(\.id) == ["x1", "x2"])
    }

    @Test("Of two events with one mark the recorded one is ours, and the copy is never touched")
    func copies() async throws {
        let world = try await World.stage(appointments: 1)
        var copy = try #require(world.event(Self.item))
        copy.id = "a-copy"
        copy.isOurs = false
        world.calendar.put(copy)
        world.edit(Self.item) { $0.title = "New" }
        try await world.run()
        world.store.items[Self.item]?.isHidden = true
        try await world.run()
        #expect(world.calendar.live.map(\.id) == ["a-copy"])
        #expect(world.calendar.trespasses.isEmpty)
    }

    @Test("A change is written in place, and nothing is deleted for it")
    func inPlace() async throws {
        let world = try await World.stage(appointments: 1)
        world.edit(Self.item) { $0.span = World.span(5) }
        try await world.run()
        #expect(world.calendar.deletions.isEmpty)
        #expect(world.event(Self.item)?.mark?.generation == 0)
    }

    @Test("An event that cannot be changed in place is created again, and the old one is removed last")
    func madeAgain() async throws {
        let world = try await World.stage(appointments: 1)
        world.edit(Self.item) { $0.title = "New" }
        world.calendar.faults = [.needsNewGeneration]
        let record = try await world.run()
        #expect(world.calendar.live.count == 1)
        #expect(world.event(Self.item)?.mark?.generation == 1)
        #expect(world.event(Self.item)?.entry.title == "New")
        #expect(record?.counts.updated == 1)
        #expect(record?.counts.deleted == 0)
    }

    @Test("A run of which nothing succeeds has failed, and stops asking")
    func throttled() async throws {
        let world = try await World.stage(appointments: 6, linked: false)
        world.calendar.faults = [.throttledWrite]
        let record = try await world.run()
        #expect(record?.status == .failed)
        #expect(world.calendar.requests == 2)
        #expect(world.store.position == nil)
        try await world.run()
        #expect(world.calendar.live.count == 6)
    }

    @Test("A dead cursor leads to a full listing, which finds the events that were removed")
    func deadCursor() async throws {
        let world = try await World.stage(appointments: 3, tasks: 1)
        world.deleteThere(Self.task)
        world.calendar.faults = [.deadCursor]
        try await world.run()
        #expect(world.store.links[Self.task]?.state == .ignored)
        #expect(world.calendar.live.count == 3)
    }

    @Test("What a person deletes stays away until its item changes, or the person asks for it")
    func staysAway() async throws {
        let world = try await World.stage(appointments: 2, tasks: 2)
        world.deleteThere(Self.task)
        world.deleteThere(Self.item)
        for _ in 0..<3 { try await world.run() }
        #expect(world.event(Self.task) == nil)
        #expect(world.event(Self.item) == nil)
        #expect(world.store.items[Self.item]?.isHidden == false)
        let conflict = try #require(world.open.first)
        #expect(world.open.count == 1)
        #expect(conflict.kind == .deletedThere)
        try await world.resolve(conflict, .kalends)
        world.edit(Self.task) { $0.title = "Changed" }
        try await world.run()
        #expect(world.event(Self.item) != nil)
        #expect(world.event(Self.task)?.entry.title == "Changed")
    }

    @Test("An identity that stays taken gives way to the next generation")
    func tombstones() async throws {
        let world = try await World.stage(tasks: 2)
        world.store.items[Self.task]?.isHidden = true
        try await world.run()
        world.store.links[Self.task] = nil
        world.store.items[Self.task]?.isHidden = false
        try await world.run()
        #expect(world.event(Self.task)?.mark?.generation == 1)
    }

    @Test("Another calendar under an old base deletes nothing")
    func otherCalendar() async throws {
        let world = try await World.stage(appointments: 3)
        let other = SimulatedCalendar()
        var policy = world.policy()
        policy.fingerprint.calendar = "other"
        let run = SyncRun(
            provider: other, store: world.store, policy: policy,
            now: { [clock = world.clock] in Instant(seconds: clock) }, makeID: { world.fresh("id") })
        let record = RunRecord(id: "x", trigger: .manual, startedAt: Instant(seconds: world.clock))
        let outcome = try await run.run(record)
        #expect(outcome.record.state == .done)
        #expect(other.live.count == 3)
        #expect(world.calendar.live.count == 3)
    }

    @Test("Links to a former calendar are let go in steps, and a kill between them loses and doubles nothing")
    func otherCalendarInSteps() async throws {
        let tasks = 11
        for (kills, isBackAgain) in [(0..<14, false), (2..<9, true)] {
            for commits in kills {
                let world = try await World.stage(tasks: tasks)
                let other = SimulatedCalendar("other")
                func run(in calendar: SimulatedCalendar, killedAfter commits: Int? = nil) async throws {
                    world.clock += 60
                    var policy = world.policy()
                    policy.fingerprint.calendar = calendar.name
                    policy.batch = 2
                    let run = SyncRun(
                        provider: calendar, store: world.store, policy: policy,
                        now: { [clock = world.clock] in Instant(seconds: clock) }, makeID: { world.fresh("id") })
                    world.store.commitsLeft = commits
                    defer { world.store.commitsLeft = nil }
                    let record = RunRecord(
                        id: world.fresh("run"), trigger: .manual, startedAt: Instant(seconds: world.clock))
                    do {
                        let outcome = try await run.run(record)
                        #expect(outcome.record.status == .success)
                    } catch is SimulatedStore.Killed {}
                }
                world.store.mostLinks = 0
                try await run(in: other, killedAfter: commits)
                // Whoever chooses the first calendar again finds its events.
                if isBackAgain { try await run(in: world.calendar, killedAfter: commits % 5) }
                try await run(in: other)
                #expect(world.store.mostLinks <= 2)
                for calendar in [world.calendar, other] {
                    #expect(Set(calendar.live.compactMap(\.mark?.item)).count == tasks, "\(commits)")
                    #expect(calendar.live.count == tasks, "\(commits)")
                }
                let links = world.store.links.values
                #expect(links.count == tasks && links.allSatisfy { $0.state == .linked })
                #expect(world.store.position?.leaving == nil)
                #expect(Set(links.compactMap { $0.externalID.map { ByteString($0) } }).count == tasks)
                let writes = [world.calendar.writes, other.writes]
                try await run(in: other)
                #expect([world.calendar.writes, other.writes] == writes)
            }
        }
    }

    @Test("After a change of the filter a run deletes nothing, and the next one does")
    func otherFilter() async throws {
        let world = try await World.stage(tasks: 3)
        world.filter = "fewer"
        world.store.items[Self.task]?.isHidden = true
        #expect(try await world.run()?.counts.deleted == 0)
        #expect(try await world.run()?.counts.deleted == 1)
    }

    @Test("A server's rewriting is not an edit, and neither is a new etag")
    func rewriting() async throws {
        let world = try await World.stage()
        world.calendar.rewrites = true
        world.add(Self.item)
        try await world.run()
        let writes = world.calendar.writes
        world.editThere(Self.item) { _ in }
        try await world.run()
        try await world.run()
        #expect(world.calendar.writes == writes)
        #expect(world.store.conflicts.isEmpty)
    }
}
