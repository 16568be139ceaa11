// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import Testing

@testable import CalendarSync

@Suite("What happens to very many occurrences at once")
struct ManyOccurrencesTests {
    private static let item = ItemKey(.appointments, "a")

    /// A daily series in step, and the starts of its second to last occurrence.
    private static func series(_ count: Int) async throws -> (World, [Instant]) {
        let world = try await World.stage()
        world.add(item, repetition: Repetition(rrule: "FREQ=DAILY;COUNT=\(count)"))
        try await world.run()
        return (world, (1..<count).map { World.span(0).start.adding(seconds: $0 * World.day) })
    }

    private static func size(_ record: some Encodable) throws -> Int { try JSONEncoder().encode(record).count }

    @Test("A thousand occurrences that were deleted there are one conflict, which is decided at once")
    func deleted() async throws {
        for keep in [Resolution.Keep.kalends, .calendar] {
            let (world, starts) = try await Self.series(1_200)
            let deleted = Array(starts.prefix(1_000))
            world.editThere(Self.item) { entry in for start in deleted { entry.occurrences[start] = .cancelled } }
            try await world.run()
            let conflict = try #require(world.open.first)
            #expect(world.open.count == 1 && conflict.kind == .deletedThere)
            #expect(conflict.occurrence == deleted.first && conflict.starts == deleted)
            #expect(conflict.fields.count == ConflictRecord.mostFields)
            #expect(conflict.fields.map(\.occurrence) == deleted.prefix(ConflictRecord.mostFields).map { $0 })
            #expect(world.lastRun()?.counts.conflicts == 1)
            // It grows with the occurrences, and not with their square.
            #expect(try Self.size(conflict) < 100 * deleted.count)
            try await world.resolve(conflict, keep)
            try await world.run()
            #expect(world.open.isEmpty)
            let (ours, theirs) = (
                world.store.items[Self.item]?.entry.canonical, world.event(Self.item)?.entry.canonical
            )
            for start in deleted {
                #expect((ours?.effective(at: start) == nil) == (keep == .calendar))
                #expect((theirs?.effective(at: start) == nil) == (keep == .calendar))
            }
            #expect(ours?.effective(at: try #require(starts.last)) != nil)
        }
    }

    @Test("Once the occurrences that a conflict lists are back, it lists others")
    func listedAreBack() async throws {
        let (world, starts) = try await Self.series(160)
        let deleted = Array(starts.prefix(150))
        world.editThere(Self.item) { entry in for start in deleted { entry.occurrences[start] = .cancelled } }
        try await world.run()
        let back = Array(deleted.prefix(ConflictRecord.mostFields))
        let rest = try #require(world.open.first?.without(back, at: Instant(seconds: world.clock)))
        #expect(rest.starts == Array(deleted.dropFirst(back.count)))
        #expect(rest.fields.map(\.occurrence) == rest.starts.map { $0 })
        #expect(rest.fields.allSatisfy { $0.kalends != nil && $0.calendar == nil })
    }

    @Test("Occurrences that are deleted later join the open conflict of their series, and are nothing new again")
    func later() async throws {
        let (world, starts) = try await Self.series(10)
        for part in [starts.prefix(1), starts.prefix(3), starts.prefix(3)] {
            world.clock += 1_000
            world.editThere(Self.item) { entry in
                entry.notes += "."
                for start in part { entry.occurrences[start] = .cancelled }
            }
            try await world.run()
        }
        let conflict = try #require(world.open.first { $0.kind == .deletedThere })
        #expect(world.open.count { $0.kind == .deletedThere } == 1)
        #expect(conflict.starts == Array(starts.prefix(3)))
        #expect(conflict.fields.map(\.occurrence) == starts.prefix(3).map { $0 })
        try await world.resolve(conflict, .calendar)
        #expect(!world.open.contains { $0.kind == .deletedThere })
        let ours = world.store.items[Self.item]?.entry.canonical
        #expect(starts.map { ours?.effective(at: $0) == nil } == starts.indices.map { $0 < 3 })
    }

    @Test("Occurrences that were moved on both sides are one conflict; both times are kept of a hundred at most")
    func moved() async throws {
        for count in [3, 101] {
            let (world, starts) = try await Self.series(count + 2)
            let moved = Array(starts.prefix(count))
            func move(_ entry: inout Entry, by hours: Int) {
                for start in moved {
                    var own = entry.plain(at: start)
                    own.span = own.span.moved(to: start.adding(seconds: hours * 3_600))
                    entry.occurrences[start] = .changed(own)
                }
            }
            world.edit(Self.item) { move(&$0, by: 2) }
            world.clock += 1_000
            world.editThere(Self.item) { move(&$0, by: 5) }
            try await world.run()
            let conflict = try #require(world.open.first)
            #expect(world.open.count == 1 && conflict.kind == .bothChanged && conflict.starts == moved)
            #expect(Set(conflict.fields.map(\.kept)) == [.calendar])
            if count > Resolution.mostCopies {
                #expect(throws: Resolution.Problem.tooManyCopies) {
                    try conflict.resolution(
                        .both, link: nil, item: world.store.ours(Self.item), at: Instant(seconds: 0))
                }
            }
            try await world.resolve(conflict, .kalends)
            try await world.run()
            let theirs = try #require(world.event(Self.item)?.entry.canonical)
            for start in moved {
                #expect(theirs.effective(at: start)?.span.moved(to: start) == theirs.plain(at: start).span)
                #expect(theirs.effective(at: start)?.span.text.hasPrefix("\(start.adding(seconds: 7_200))") == true)
            }
        }
    }

    @Test("An event of more than 1 MiB is held back with its reason, on either side, and nothing of it is stored")
    func heavy() async throws {
        let (world, starts) = try await Self.series(400)
        let heavy = { (entry: inout Entry) in
            for start in starts {
                var own = entry.plain(at: start)
                own.notes = String(repeating: "n", count: 4_000)
                entry.occurrences[start] = .changed(own)
            }
        }
        world.editThere(Self.item, heavy)
        try await world.run()
        #expect(world.store.links[Self.item]?.state == .quarantined)
        #expect(world.open.map(\.kind) == [.unreadable])
        let stored = try Self.size(world.store.links[Self.item]) + Self.size(world.store.conflicts.values.map { $0 })
        #expect(stored < 20_000)

        let (other, _) = try await Self.series(400)
        other.edit(Self.item, heavy)
        try await other.run()
        #expect(other.store.links[Self.item]?.state == .quarantined)
        #expect(other.store.links[Self.item]?.reason == Entry.tooHeavy)
        #expect(try Self.size(other.store.links[Self.item]) < 20_000)
    }

    @Test(
        "Twenty thousand occurrences that an app leaves out are compared in one walk of the rule, whatever the rule",
        arguments: ["FREQ=SECONDLY", "FREQ=DAILY;BYHOUR=1,2,3,4,5,6,7,8,9,10;COUNT=19000", "FREQ=DAILY"])
    func leftOut(rule: String) throws {
        let start = try #require(Instant(basic: "20260301T010000Z"))
        let series = Entry(
            title: "Visit", span: .timed(start: start, end: start.adding(seconds: 60), zone: "UTC"),
            repetition: Repetition(rrule: "FREQ=DAILY"))
        var sent = series
        // Half of them are times that no rule gives.
        let starts = (1...10_000).flatMap {
            [start.adding(seconds: $0 * 86_400), start.adding(seconds: $0 * 86_400 + 1_800)]
        }
        sent.repetition = Repetition(rrule: rule, exdates: starts)
        let began = ContinuousClock.now
        let edits = series.edits(to: sent)
        // Followed for each by itself, the rule takes minutes.
        #expect(ContinuousClock.now - began < .seconds(60))
        let cancelled = edits.compactMap { if case .occurrenceCancelled(let start) = $0 { start } else { nil } }
        let expected = starts.enumerated().filter { index, _ in
            switch rule {
            case "FREQ=SECONDLY": true
            case "FREQ=DAILY": index.isMultiple(of: 2)
            default: index.isMultiple(of: 2) && index / 2 < 1_899
            }
        }
        #expect(cancelled == expected.map(\.element))
    }

    @Test("A stored entry lists cancelled occurrences as starts only")
    func coding() throws {
        let start = Instant(seconds: 1_800_000_000)
        var entry = Entry(
            title: "Visit", span: .timed(start: start, end: start.adding(seconds: 60), zone: "UTC"),
            repetition: Repetition(rrule: "FREQ=DAILY"))
        for day in 1...1_000 { entry.occurrences[start.adding(seconds: day * 86_400)] = .cancelled }
        let data = try JSONEncoder().encode(entry)
        #expect(data.count < 12_000)
        #expect(try JSONDecoder().decode(Entry.self, from: data) == entry)
    }
}
