// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import TestSupport
import Testing

@testable import CalendarSync

@Suite("The last run of a connection whose events are to be removed")
struct RemovalTests {
    private static let item = ItemKey(.appointments, "a0")

    @discardableResult
    private static func remove(_ world: World, following former: Set<ByteString> = []) async throws -> RunRecord {
        var policy = world.policy()
        policy.purpose = .removal(from: nil)
        policy.formerConnections = former
        world.calendar.clock = world.clock
        let run = SyncRun(
            provider: world.calendar, store: world.store, policy: policy,
            now: { [clock = world.clock] in Instant(seconds: clock) }, makeID: { world.fresh("id") })
        return try await run.run(world.freshRun()).record
    }

    @Test("An event that left the window is removed too, but not one that a person has changed since")
    func leftWindow() async throws {
        let world = try await World.stage(appointments: 4)
        let all = world.window
        // Of the first two nobody looks any more.
        world.window = TimeRange(from: World.span(2).start, to: all.to)
        try await world.run()
        #expect(world.store.links.values.count { $0.state == .untracked } == 2)
        world.editThere(ItemKey(.appointments, "a1")) { $0.title = "Mine now" }
        let record = try await Self.remove(world)
        #expect(record.status == .success && record.counts.deleted == 3)
        #expect(world.calendar.live.map(\.entry.title) == ["Mine now"])
    }

    @Test("An event of an earlier generation goes with the one that took its place")
    func leftovers() async throws {
        // Killed at some step, a run leaves the earlier generation beside the next one.
        var found: World?
        for commits in 0..<16 where found == nil {
            let world = try await World.stage(appointments: 1)
            world.calendar.faults = [.needsNewGeneration]
            world.edit(Self.item) { $0.title = "Other" }
            world.store.commitsLeft = commits
            try await world.run()
            world.store.commitsLeft = nil
            let isLeft = world.store.links[Self.item]?.leftovers.count == 1 && world.calendar.live.count == 2
            if isLeft { found = world }
        }
        let world = try #require(found)
        #expect(try await Self.remove(world).status == .success)
        #expect(world.calendar.live.isEmpty)
        #expect(world.store.links[Self.item]?.leftovers.isEmpty == true)
    }

    @Test("Events that only their marks show to be ours are removed, whichever database wrote them; foreign ones stay")
    func unknown() async throws {
        let world = try await World.stage(appointments: 4)
        world.store.links[Self.item] = nil
        world.store.links[ItemKey(.appointments, "a1")] = nil
        for (id, stored) in world.calendar.events {
            guard let name = stored.mark?.item.id else { continue }
            var stored = stored
            if name == "a1" { stored.mark?.connection = "former" }
            if name == "a2" {
                // A person's copy with the mark, and an event of somebody else's Kalends.
                var copy = stored
                (copy.id, copy.isOurs) = ("copy", false)
                world.calendar.put(copy)
                copy.id = "foreign"
                copy.mark?.installation = "other"
                world.calendar.put(copy)
            }
            world.calendar.events[id] = stored
        }
        #expect(try await Self.remove(world, following: ["former"]).status == .success)
        #expect(world.calendar.live.map(\.id) == ["copy", "foreign"])
        #expect(world.calendar.trespasses.isEmpty)
    }

    @Test("A lost answer is made up for by the next try")
    func lostAnswer() async throws {
        let world = try await World.stage(appointments: 3)
        world.calendar.faults = [.lostAnswer]
        #expect(try await Self.remove(world).status != .success)
        #expect(try await Self.remove(world).status == .success)
        #expect(world.calendar.live.isEmpty)
    }

    @Test("After any history, no event of ours stays unless a person made it theirs", arguments: 0..<4)
    func histories(part: Int) async throws {
        var removed = 0
        for seed in stride(from: part + 1, to: 200, by: 4) {
            let history = History(seed: UInt64(seed))
            let world = World()
            world.configure(history.server)
            for move in history.moves { try await world.perform(move) }
            try await world.settle()
            let (before, links) = (world.calendar.live, world.store.links)
            for _ in 0..<2 { try await Self.remove(world) }
            removed += before.count - world.calendar.live.count
            try world.check(deletedBefore: 0, linked: nil)
            for stored in world.calendar.live where world.isMine(stored) {
                let link = stored.mark.flatMap { links[$0.item] }
                let isChanged = link?.agreed?.theirs.canonical != stored.entry.canonical
                // Changed after the connection dropped it, or put back by a person after it was removed.
                let isTheirs =
                    link?.state == .untracked && isChanged
                    || link?.externalID != stored.id && link?.lastID == stored.id
                // Only a listing could find what a lost database knew, and it does not reach so far.
                if world.wasRestored, link == nil, !stored.entry.overlaps(world.window) { continue }
                #expect(isTheirs, "Seed \(seed): \(stored.id) stays: \(link.map { "\($0)" } ?? "no link")")
            }
        }
        #expect(removed > 100)
    }
}
