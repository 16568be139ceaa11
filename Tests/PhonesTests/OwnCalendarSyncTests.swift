// SPDX-License-Identifier: Apache-2.0

import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Changes of a person's own calendars")
struct OwnCalendarSyncTests {
    /// What an app that goes on from changes has of a calendar.
    private struct Copy {
        var etags: [ByteString: String] = [:]
        var number = 0

        mutating func take(_ changes: CollectionChanges) {
            for member in changes.changed { etags[ByteString(member.name)] = member.etag }
            for name in changes.removed { etags[ByteString(name)] = nil }
            number = changes.number
        }

        /// - Parameter between: what happens while only a part is known.
        mutating func catchUp(
            _ bench: OwnBench, _ segment: String, limit: () -> Int, between: () async throws -> Void = {}
        ) async throws {
            while true {
                let most = limit()
                let changes = try await bench.own.changes(
                    of: try await bench.found(segment), after: number, limit: most)
                #expect(changes.changed.count + changes.removed.count <= most)
                let changed = changes.changed.map { ByteString($0.name) }
                #expect(Set(changes.removed.map { ByteString($0) }).isDisjoint(with: changed))
                take(changes)
                guard changes.isTruncated else { return }
                try await between()
            }
        }
    }

    private static func move(
        _ bench: OwnBench, _ name: String, _ from: String, to newName: String, _ target: String, isMove: Bool = true,
        overwrites: Bool = false, if conditions: WriteConditions = WriteConditions()
    ) async throws -> Bool {
        try await bench.own.transfer(
            name, of: try await bench.found(from), to: newName, in: try await bench.found(target), isMove: isMove,
            overwrites: overwrites, if: conditions, for: bench.ann)
    }

    @Test("Whatever is written, whoever goes on from any earlier number, in parts of any length, has what is there")
    func random() async throws {
        try await OwnBench.run { bench in
            var random = SplitMix(seed: 11)
            let segments = ["work", "play"]
            for segment in segments { try await bench.make(segment) }
            // Copies from different times, and what a number stood for then.
            var copies: [[Copy]] = [[], []]
            for position in segments.indices {
                copies[position] = [Copy(number: try await bench.found(segments[position]).number)]
            }
            func write(_ random: inout SplitMix) async throws {
                let position = random.below(2)
                let (name, title) = ("\(random.below(12)).ics", "T\(random.below(4))")
                switch random.below(6) {
                case 0, 1, 2: try await bench.put(name, OwnBench.event("u-\(name)", title), in: segments[position])
                case 3, 4: _ = await fault { try await bench.delete(name, from: segments[position]) }
                default:
                    _ = await fault {
                        try await Self.move(
                            bench, name, segments[position], to: name, segments[1 - position], overwrites: true)
                    }
                }
            }
            for round in 0..<150 {
                try await write(&random)
                let position = random.below(2)
                if round % 4 == 0 {
                    var copy = Copy()
                    copy.etags = try await bench.list(segments[position])
                    copy.number = try await bench.found(segments[position]).number
                    copies[position].append(copy)
                }
                guard round % 3 == 0 else { continue }
                var copy = copies[position][random.below(copies[position].count)]
                var (limits, others) = (SplitMix(seed: UInt64(round)), SplitMix(seed: UInt64(round + 1000)))
                try await copy.catchUp(bench, segments[position], limit: { 1 + limits.below(4) }) {
                    if others.below(3) == 0 { try await write(&others) }
                }
                #expect(try await copy.etags == bench.list(segments[position]), "round \(round)")
                #expect(try await copy.number == bench.found(segments[position]).number)
                // Nothing is left to be said.
                let rest = try await bench.own.changes(
                    of: try await bench.found(segments[position]), after: copy.number, limit: 10)
                #expect(rest.changed.isEmpty && rest.removed.isEmpty && !rest.isTruncated)
            }
        }
    }

    @Test("Pitfall 5: removals are forgotten in time, and a number from before is refused, as is one of the future")
    func tooOld() async throws {
        try await OwnBench.run { bench in
            try await bench.make()
            for index in 0..<5 { try await bench.put("\(index).ics", OwnBench.event("u\(index)")) }
            let old = try await bench.found().number
            try await bench.delete("0.ics")
            try await bench.put("1.ics", OwnBench.event("u1", "Concert"))
            let (work, store, own) = (try await bench.found(), bench.server.services.store, bench.own)
            for number in [work.number + 1, .max, 0, -1, .min] {
                let refused = await fault { try await own.changes(of: work, after: number, limit: 9) }
                #expect(refused == "token", "\(number)")
            }
            #expect(try await own.changes(of: work, after: old, limit: 9).removed == ["0.ics"])
            // After 90 days nobody goes on from there, whether or not what was removed is still known.
            bench.server.clock.advance(seconds: 91 * 86_400)
            #expect(await fault { try await own.changes(of: work, after: old, limit: 9) } == "token")
            try await store.record { _ = try $0.pruneOwnRemovals(before: bench.server.clock.now - 1, limit: 9) }
            #expect(await fault { try await own.changes(of: work, after: old, limit: 9) } == "token")
            #expect(try await store.read { try $0.ownRemovals(of: Self.id(work), after: 0, limit: 9) }.isEmpty)
            #expect(try await own.changes(of: work, after: work.number, limit: 9).changed.isEmpty)
            // Who knows the latest goes on, over what is changed from now on.
            try await bench.delete("2.ics")
            let changes = try await own.changes(of: try await bench.found(), after: work.number, limit: 9)
            #expect(changes.removed == ["2.ics"] && changes.number == work.number + 1)
        }
    }

    @Test("So many changes of a calendar are known, and no more than that is stored")
    func tooMany() async throws {
        try await OwnBench.run { bench in
            try await bench.make()
            var numbers: [Int] = []
            for index in 0..<6 {
                try await bench.put("\(index).ics", OwnBench.event("u\(index)"))
                try await bench.delete("\(index).ics")
                numbers.append(try await bench.found().number)
            }
            let (work, store) = (try await bench.found(), bench.server.services.store)
            #expect(try await store.read { try $0.ownCalendarsWithManyRemovals(4) } == [Self.id(work)])
            try await store.recordRepeatedly { try $0.pruneOwnRemovals(of: Self.id(work), keeping: 4, limit: $1) }
            #expect(try await store.read { try $0.ownCalendarsWithManyRemovals(4) }.isEmpty)
            #expect(try await store.read { try $0.ownRemovals(of: Self.id(work), after: 0, limit: 9) }.count == 2)
            #expect(await fault { try await bench.own.changes(of: work, after: numbers[2], limit: 9) } == "token")
            #expect(
                try await bench.own.changes(of: work, after: numbers[3], limit: 9).removed == ["4.ics", "5.ics"])
        }
    }

    @Test("A calendar that is made again under its name is another one, and no earlier number holds there")
    func madeAgain() async throws {
        try await OwnBench.run { bench in
            let first = try await bench.make()
            #expect(await fault { try await bench.make() } == "exists")
            for index in 0..<3 { try await bench.put("\(index).ics", OwnBench.event("u\(index)")) }
            let old = try await bench.found().number
            try await bench.own.remove(try await bench.found(), for: bench.ann)
            #expect(try await bench.own.collection("work", of: bench.ann) == nil)
            #expect(await fault { try await bench.own.members(of: first, after: nil, limit: 1) } == "missing")
            #expect(await fault { try await bench.own.remove(first, for: bench.ann) } == "missing")
            let second = try await bench.make()
            #expect(second.kind != first.kind && second.number > old)
            for number in 1...old {
                #expect(
                    await fault { try await bench.own.changes(of: second, after: number, limit: 9) } == "token")
            }
            #expect(try await bench.own.changes(of: second, after: second.number, limit: 9).changed.isEmpty)
            try await bench.put("0.ics", OwnBench.event("u0"))
            #expect(try await bench.list().count == 1)
            // What was left of the first is gone soon.
            await bench.server.services.turns.settle()
            let store = bench.server.services.store
            let left = try await store.read { transaction in
                try ["own_calendars", "own_resources", "own_removals"].map {
                    try transaction.rows("SELECT 1 AS value FROM \($0)", []).count
                }
            }
            #expect(left == [1, 1, 0])
        }
    }

    @Test("A resource is moved and copied within what is allowed, as one change on either side")
    func transfers() async throws {
        try await OwnBench.run { bench in
            try await bench.make("work")
            try await bench.make("play")
            try await bench.make("tasks", [.task])
            let put = try await bench.put("a.ics", OwnBench.event("u"))
            let before = (try await bench.found("work").number, try await bench.found("play").number)
            #expect(try await !Self.move(bench, "a.ics", "work", to: "b.ics", "play"))
            #expect(try await bench.text("b.ics", in: "play") == OwnBench.event("u"))
            #expect(try await bench.list("play").values.map { $0 } == [put.etag])
            let work = try await bench.own.changes(of: try await bench.found("work"), after: before.0, limit: 9)
            let play = try await bench.own.changes(of: try await bench.found("play"), after: before.1, limit: 9)
            #expect(work.removed == ["a.ics"] && work.changed.isEmpty)
            #expect(play.changed.map(\.name) == ["b.ics"] && play.removed.isEmpty)
            // Within a calendar it gets another name.
            #expect(try await !Self.move(bench, "b.ics", "play", to: "c.ics", "play"))
            #expect(try await Set(bench.list("play").keys) == ["c.ics"])
            // A copy has the same UID, which is possible in another calendar alone.
            #expect(
                await fault { try await Self.move(bench, "c.ics", "play", to: "d.ics", "play", isMove: false) }
                    == "uid play/c.ics")
            #expect(try await !Self.move(bench, "c.ics", "play", to: "c.ics", "work", isMove: false))
            #expect(try await bench.list("play").count == 1)
            #expect(try await bench.list("work").count == 1)
            // What is there is replaced if that is wanted, and only by the same UID.
            try await bench.put("c.ics", OwnBench.event("u", "Concert"), in: "work")
            #expect(
                await fault { try await Self.move(bench, "c.ics", "play", to: "c.ics", "work") } == "precondition")
            #expect(try await Self.move(bench, "c.ics", "play", to: "c.ics", "work", overwrites: true))
            #expect(try await bench.text("c.ics") == OwnBench.event("u"))
            try await bench.put("x.ics", OwnBench.event("x"), in: "play")
            #expect(
                await fault { try await Self.move(bench, "x.ics", "play", to: "c.ics", "work", overwrites: true) }
                    == "uid work/c.ics")
            // Refusals.
            #expect(await fault { try await Self.move(bench, "none", "play", to: "y", "work") } == "missing")
            #expect(await fault { try await Self.move(bench, "x.ics", "play", to: "x.ics", "play") } == "forbidden")
            #expect(await fault { try await Self.move(bench, "x.ics", "play", to: "x.ics", "tasks") } == "component")
            var conditions = WriteConditions()
            conditions.ifMatch = ["other"]
            let held = conditions
            #expect(
                await fault { try await Self.move(bench, "x.ics", "play", to: "x.ics", "work", if: held) }
                    == "precondition")
            var circle = try await bench.found("play")
            circle.kind = .events(circle: "c")
            let other = circle
            #expect(
                await fault {
                    try await bench.own.transfer(
                        "x.ics", of: other, to: "x.ics", in: try await bench.found("work"), isMove: true,
                        overwrites: false, if: WriteConditions(), for: bench.ann)
                } == "forbidden")
            let usage = try await bench.server.services.store.read { try $0.ownCalendars(of: "ann").map(\.usage) }
            #expect(usage.map(\.count) == [1, 0, 1])
            #expect(usage.map(\.bytes) == [OwnBench.event("x").utf8.count, 0, OwnBench.event("u").utf8.count])
        }
    }

    private static func id(_ collection: CalendarCollection) -> String {
        if case .own(let id) = collection.kind { id } else { "" }
    }
}
