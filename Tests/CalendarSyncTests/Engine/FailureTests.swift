// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Testing

@testable import CalendarSync

/// Failures that other engines had.
@Suite struct FailureTests {
    static let item = ItemKey(.appointments, "a0")
    static let task = ItemKey(.tasks, "t0")

    @Test("A first run over our own events creates no duplicates, without any stored state")
    func firstRun() async throws {
        let world = try await World.stage(appointments: 5)
        world.store.links = [:]
        world.store.position = nil
        world.store.operations = [:]
        let record = try await world.run()
        #expect(record?.counts.created == 0)
        #expect(world.calendar.live.count == 5)
        #expect(world.store.links.values.allSatisfy { $0.state == .linked })
    }

    @Test("An answer that was lost is found out before anything is made again")
    func lostAnswer() async throws {
        let world = try await World.stage(appointments: 1, linked: false)
        world.calendar.faults = [.lostAnswer]
        try await world.run()
        #expect(world.store.links[Self.item]?.externalID == nil)
        try await world.run()
        #expect(world.calendar.live.count == 1)
        #expect(world.calendar.writes == 1)
        #expect(world.store.links[Self.item]?.state == .linked)
    }

    @Test("Where ids do not follow from marks, what was made is found by its mark before anything is sent again")
    func lostAnswerWithoutIdentity() async throws {
        let world = try await World.stage(appointments: 1, linked: false)
        world.calendar.hasIdentities = false
        world.calendar.faults = [.lostAnswer]
        try await world.run()
        world.edit(Self.item) { $0.title = "Edited since" }
        try await world.run()
        #expect(world.calendar.live.count == 1)
        #expect(world.event(Self.item)?.entry.title == "Edited since")
        #expect(world.store.conflicts.isEmpty)
    }

    @Test("A process that is killed between the create and its mapping makes no second event", arguments: 0..<8)
    func killed(commits: Int) async throws {
        let world = try await World.stage(appointments: 3, linked: false)
        world.store.commitsLeft = commits
        try await world.run()
        world.store.commitsLeft = nil
        try await world.run()
        try await world.run()
        #expect(world.calendar.live.count == 3)
        #expect(world.calendar.writes == 3)
    }

    @Test("A new connection adopts the events of the one that it follows")
    func reconnected() async throws {
        let world = try await World.stage(appointments: 3)
        world.store.links = [:]
        world.store.position = nil
        for (id, stored) in world.calendar.events {
            var stored = stored
            stored.mark?.connection = "former"
            world.calendar.events[id] = stored
        }
        var policy = world.policy()
        policy.formerConnections = ["former"]
        let run = SyncRun(
            provider: world.calendar, store: world.store, policy: policy,
            now: { [clock = world.clock] in Instant(seconds: clock) }, makeID: { world.fresh("id") })
        let outcome = try await run.run(RunRecord(id: "x", trigger: .first, startedAt: Instant(seconds: world.clock)))
        #expect(outcome.record.counts.created == 0)
        #expect(world.calendar.live.count == 3)
    }

    @Test("After a lost database all events are found by their marks, whatever connection made them")
    func lostDatabase() async throws {
        let world = try await World.stage(appointments: 3, tasks: 2)
        world.store.records = SimulatedStore.Records()
        for (id, stored) in world.calendar.events {
            world.calendar.events[id]?.mark?.connection = "lost"
            world.calendar.events[id]?.isOurs = stored.isOurs
        }
        let run = try #require(try await world.run())
        #expect(run.counts.created + run.counts.updated == 0 && run.counts.unchanged == 5)
        #expect(world.calendar.live.count == 5)
        #expect(world.store.links.values.allSatisfy { $0.state == .linked })
        // Another connection of the circle is not lost: what it wrote stays its own.
        for id in world.calendar.events.keys { world.calendar.events[id]?.mark?.connection = "n2" }
        world.store.records = SimulatedStore.Records()
        #expect(try await world.run()?.counts.created == 5)
    }

    @Test("An event of a lost connection is the same one when it comes out of the bin", arguments: [true, false])
    func lostAndRescued(isEdited: Bool) async throws {
        let world = try await World.stage(appointments: 2)
        world.store.records = SimulatedStore.Records()
        for id in world.calendar.events.keys { world.calendar.events[id]?.mark?.connection = "former" }
        try await world.run()
        world.deleteThere(Self.item)
        try await world.run()
        #expect(world.open.map(\.kind) == [.deletedThere])
        if isEdited { world.edit(Self.item) { $0.title = "Changed since" } }
        var rescued = try #require(world.calendar.events.values.first { $0.mark?.item == Self.item })
        rescued.isLive = true
        world.calendar.put(rescued)
        try await world.run()
        #expect(world.calendar.live.count == 2 && world.open.isEmpty)
        #expect(world.event(Self.item)?.entry == world.store.items[Self.item]?.entry)
        #expect(world.store.links[Self.item]?.externalID == rescued.id)
    }

    @Test("When all events of a calendar get other ids, they are the same events", arguments: [1, 3])
    func otherIDs(_ count: Int) async throws {
        let world = try await World.stage(appointments: count)
        for (id, stored) in world.calendar.events {
            var (moved, gone) = (stored, stored)
            moved.id = "moved-\(id)"
            gone.isLive = false
            // Of a single event that is a copy which a person made, and whose original was deleted.
            if count == 1 { moved.isOurs = false }
            world.calendar.put(moved)
            world.calendar.put(gone)
        }
        world.calendar.faults = [.deadCursor]
        try await world.run()
        #expect(world.calendar.live.count == count)
        #expect(world.store.links[Self.item]?.state == (count == 1 ? .conflict : .linked))
        guard count > 1 else { return }
        world.edit(Self.item) { $0.title = "Changed since" }
        let run = try #require(try await world.run())
        #expect(run.counts.created == 0 && run.counts.updated == 1)
        #expect(world.calendar.live.count == count)
    }

    @Test("When all events of a calendar get other ids, a copy that a person made of one stays somebody else's")
    func otherIDsBesideCopy() async throws {
        let world = try await World.stage(appointments: 3)
        var copy = try #require(world.event(Self.item))
        (copy.id, copy.isOurs, copy.entry.title) = ("a-copy", false, "Copy")
        world.calendar.put(copy)
        try await world.run()
        world.calendar.moveMailbox(keepsMarks: true)
        world.edit(Self.item) { $0.title = "New" }
        let run = try #require(try await world.run())
        #expect(run.counts.updated == 1 && world.calendar.trespasses.isEmpty)
        #expect(world.calendar.live.map(\.entry.title).sorted() == ["Copy", "New", "Title of a1", "Title of a2"])
    }

    @Test("Edits on both sides are merged, and neither is lost silently")
    func mismatch() async throws {
        let world = try await World.stage(appointments: 1)
        world.edit(Self.item) { $0.notes = "Bring the letter" }
        world.calendar.faults = [.race]
        try await world.run()
        #expect(world.event(Self.item)?.entry.notes == "Bring the letter")
        #expect(world.event(Self.item)?.entry.title == "Title of a0")
        let values = world.store.conflicts.values.flatMap(\.fields).compactMap(\.calendar)
        #expect(values.contains { $0.hasPrefix("c") })
    }

    @Test("A write names the etag of the state that it was merged with, never a fresh one")
    func etags() async throws {
        let world = try await World.stage(appointments: 1)
        let etag = try #require(world.store.links[Self.item]?.etag)
        world.edit(Self.item) { $0.title = "Other" }
        try await world.run()
        let operation = try #require(world.store.operations.values.first { $0.reason == "edited" })
        guard case .update(_, let sent, _) = operation.kind else {
            Issue.record("not an update")
            return
        }
        #expect(sent == etag)
    }

    @Test("An update names only the fields that differ")
    func fields() async throws {
        let world = try await World.stage(appointments: 1)
        world.edit(Self.item) { $0.title = "Other" }
        try await world.run()
        let operation = try #require(world.store.operations.values.first { $0.reason == "edited" })
        guard case .update(_, _, let from) = operation.kind, let wanted = operation.wanted else {
            Issue.record("not an update")
            return
        }
        #expect(EntryField.ofEvents.filter { from[$0] != wanted[$0] } == [.title])
    }

    @Test("An edit here beats a deletion there")
    func editBeatsDeletion() async throws {
        let world = try await World.stage(appointments: 1, tasks: 1)
        for item in [Self.item, Self.task] {
            world.deleteThere(item)
            world.edit(item) { $0.title = "Still on" }
        }
        // A person deleted all of the calendar.
        try await world.run()
        try await world.approve()
        #expect(world.event(Self.item)?.entry.title == "Still on")
        #expect(world.event(Self.task)?.entry.title == "Still on")
        #expect(world.event(Self.item)?.mark?.generation == 1)
    }

    @Test("A foreign event with the same title and time is not mistaken for ours")
    func foreign() async throws {
        let world = try await World.stage(appointments: 1, linked: false)
        let entry = try #require(world.store.items[Self.item]?.entry)
        world.calendar.put(
            SimulatedCalendar.Stored(
                id: "x", mark: nil, entry: entry, etag: 0, change: 0, updatedAt: Instant(seconds: 0), isOurs: false))
        try await world.run()
        #expect(world.calendar.live.count == 2)
        #expect(world.calendar.trespasses.isEmpty)
    }

    @Test("129 of 225 events that are missing at once hold the run, and so do 94 of 96 on the next day")
    func massDeletion() async throws {
        let world = try await World.stage(appointments: 225)
        for index in 0..<129 { world.deleteThere(ItemKey(.appointments, "a\(index)")) }
        let record = try await world.run()
        #expect(record?.state == .held)
        #expect(record?.held?.causes == [.missing])
        #expect(record?.held?.missing == 129)
        #expect(world.store.links.values.allSatisfy { $0.state == .linked })
        let writes = world.calendar.writes
        for index in 0..<129 { world.store.items[ItemKey(.appointments, "a\(index)")]?.isHidden = true }
        for index in 129..<223 { world.store.items[ItemKey(.appointments, "a\(index)")]?.isHidden = true }
        #expect(try await world.run()?.held?.causes.contains(.deletions) == true)
        #expect(world.calendar.writes == writes)
    }

    @Test("Deletions in small runs are counted over a day")
    func rollingDay() async throws {
        let world = try await World.stage(tasks: 40)
        func hide(_ range: Range<Int>) {
            for index in range { world.store.items[ItemKey(.tasks, "t\(index)")]?.isHidden = true }
        }
        hide(0..<8)
        #expect(try await world.run()?.counts.deleted == 8)
        hide(8..<12)
        #expect(try await world.run()?.state == .held)
        world.clock += World.day + 1
        #expect(try await world.run()?.counts.deleted == 4)
    }

    @Test("A calendar that answers empty is held, and an approval of it lets the run go on")
    func empty() async throws {
        let world = try await World.stage(appointments: 4)
        world.calendar.faults = [.deadCursor, .emptyListing]
        let record = try await world.run()
        #expect(record?.held?.causes == [.empty])
        try await world.run()
        #expect(world.store.links.values.allSatisfy { $0.state == .linked })
        #expect(world.calendar.live.count == 4)
    }

    @Test("An event that a listing omits is looked at, and is not gone")
    func omitted() async throws {
        let world = try await World.stage(appointments: 6)
        world.calendar.mayOmit = { _ in true }
        world.calendar.faults = [.deadCursor, .shortListing]
        let record = try await world.run()
        #expect(record?.state == .done)
        #expect(record?.counts.unchanged == 6)
        world.calendar.faults = [.deadCursor, .brokenListing]
        #expect(try await world.run()?.counts.unchanged == 6)
        #expect(world.store.position?.cursor != nil)
    }

    @Test("An event that leaves the window stays where it is, and comes back with the window")
    func window() async throws {
        let world = try await World.stage(appointments: 2)
        world.window = TimeRange(from: Instant(seconds: 40 * World.day), to: Instant(seconds: 90 * World.day))
        let record = try await world.run()
        #expect(record?.counts.deleted == 0)
        #expect(world.calendar.live.count == 2)
        #expect(world.store.links.values.allSatisfy { $0.state == .untracked })
        world.editThere(Self.item) { $0.title = "Theirs" }
        world.window = TimeRange(from: Instant(seconds: 0), to: Instant(seconds: 90 * World.day))
        try await world.run()
        #expect(world.store.links.values.allSatisfy { $0.state == .linked })
        #expect(world.calendar.live.count == 2)
        #expect(world.event(Self.item)?.entry.title == "Title of a0")
    }
}
