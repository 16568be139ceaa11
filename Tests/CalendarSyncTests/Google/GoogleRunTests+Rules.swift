// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Testing

@testable import CalendarSync

/// Series whose rule changes in the interval in which an occurrence does.
extension GoogleRunTests {
    private static let daily = Repetition(rrule: "FREQ=DAILY;COUNT=10")

    private static func series(_ change: (inout Entry) -> Void = { _ in }) -> Entry {
        var entry = GoogleBench.single("Walk")
        entry.repetition = daily
        var other = entry.plain(at: GoogleBench.day(4))
        change(&other)
        if other != entry.plain(at: GoogleBench.day(4)) { entry.occurrences = [GoogleBench.day(4): .changed(other)] }
        return entry
    }

    private static func moved(_ day: Int) -> JSONValue {
        let start = GoogleBench.day(day).adding(seconds: 18_000)
        return [
            "start": ["dateTime": .string(start.description)],
            "end": ["dateTime": .string(start.adding(seconds: 3600).description)],
        ]
    }

    @Test("An occurrence that is as its series again is so there when the rule changes with it", arguments: [0, 1, 2])
    func overrideTakenBack(_ way: Int) async throws {
        let side = try await Side()
        side.put(
            "s",
            Self.series {
                switch way {
                case 0: $0.location = "Elsewhere"
                case 1: $0.notes = "Only this time"
                default:
                    $0.span = .timed(
                        start: GoogleBench.day(4).adding(seconds: 7200), end: GoogleBench.day(4).adding(seconds: 9000),
                        zone: "Europe/Berlin")
                }
            })
        for _ in 0..<2 { try await side.run() }
        var entry = Self.series()
        entry.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=8")
        side.put("s", entry)
        #expect(try await side.run().record.status == .success)
        #expect(try await side.there("s")?.canonical == entry.canonical)
        #expect(side.store.conflicts.isEmpty)
        #expect(try await side.run().record.counts.updated == 0)
        #expect(try await side.there("s")?.canonical == entry.canonical)
    }

    @Test("A person's move of an occurrence there holds when the rule changes here, and what the rule ends is reported")
    func ruleHereOccurrenceThere() async throws {
        let side = try await Side()
        side.put("s", Self.series())
        for _ in 0..<2 { try await side.run() }
        let id = try #require(side.link("s")?.externalID)
        try await Task.sleep(for: .milliseconds(1100))
        for day in [2, 8] {
            try await side.bench.edit("PATCH", GoogleBench.instanceID(id, GoogleBench.day(day)), Self.moved(day))
        }
        var entry = Self.series()
        entry.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=5")
        side.put("s", entry)
        for _ in 0..<2 { try await side.run() }
        let here = try #require(side.entry("s")?.canonical)
        #expect(here.repetition?.rrule == "FREQ=DAILY;COUNT=5")
        #expect(here.effective(at: GoogleBench.day(2))?.span.start == GoogleBench.day(2).adding(seconds: 18_000))
        #expect(here.occurrences.count == 1)
        #expect(try await side.there("s")?.canonical == here)
        #expect(side.store.conflicts.values.flatMap(\.starts) == [GoogleBench.day(8)])
        #expect(try await side.run().record.counts.updated == 0)
    }

    @Test("A move of an occurrence between our look and our write is not lost when its series gets another rule here")
    func movedBeforeWrite() async throws {
        let side = try await Side()
        side.put("s", Self.series { $0.location = "Elsewhere" })
        for _ in 0..<2 { try await side.run() }
        let (bench, id) = (side.bench, try #require(side.link("s")?.externalID))
        var entry = Self.series { $0.location = "Somewhere" }
        entry.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=8")
        side.put("s", entry)
        try await Task.sleep(for: .milliseconds(1100))
        let provider = bench.provider(after: "GET") {
            try await bench.edit("PATCH", GoogleBench.instanceID(id, GoogleBench.day(4)), Self.moved(4))
        }
        try await side.run(through: provider)
        for _ in 0..<2 { try await side.run() }
        let here = try #require(side.entry("s")?.canonical)
        let found = try #require(here.effective(at: GoogleBench.day(4)))
        #expect(found.span.start == GoogleBench.day(4).adding(seconds: 18_000) && found.location == "Somewhere")
        #expect(try await side.there("s")?.canonical == here)
        let listed = try await bench.changes(since: nil)
        for case .event(let event) in listed.changes { #expect(!event.isUnfinished) }
    }

    @Test("What a person puts back between our look and our write stays so when its series gets another rule here")
    func putBackBeforeWrite() async throws {
        let side = try await Side()
        let (start, day) = (GoogleBench.day(4).adding(seconds: 7200), GoogleBench.day(4))
        func moved(_ entry: inout Entry) {
            entry.span = .timed(start: start, end: start.adding(seconds: 1800), zone: "Europe/Berlin")
        }
        side.put("s", Self.series(moved))
        for _ in 0..<2 { try await side.run() }
        let (bench, id) = (side.bench, try #require(side.link("s")?.externalID))
        var entry = Self.series(moved)
        entry.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=8")
        side.put("s", entry)
        try await Task.sleep(for: .milliseconds(1100))
        let provider = bench.provider(after: "GET") {
            guard let plain = side.entry("s")?.plain(at: day).span.bounds else { return }
            try await bench.edit(
                "PATCH", GoogleBench.instanceID(id, day),
                [
                    "start": ["dateTime": .string(plain.start.description)],
                    "end": ["dateTime": .string(plain.end.description)],
                ])
        }
        try await side.run(through: provider)
        for _ in 0..<2 { try await side.run() }
        let here = try #require(side.entry("s")?.canonical)
        #expect(here.repetition?.rrule == "FREQ=DAILY;COUNT=8")
        #expect(here.effective(at: day)?.span.start == day && side.store.conflicts.isEmpty)
        #expect(try await side.there("s")?.canonical == here)
    }

    @Test("A series that is cut there keeps what was done to an earlier occurrence, whoever is right about the cut")
    func cutThere() async throws {
        let side = try await Side()
        side.put("s", Self.series())
        for _ in 0..<2 { try await side.run() }
        let id = try #require(side.link("s")?.externalID)
        try await Task.sleep(for: .milliseconds(1100))
        try await side.bench.edit("PATCH", GoogleBench.instanceID(id, GoogleBench.day(2)), Self.moved(2))
        try await side.bench.edit("DELETE", GoogleBench.instanceID(id, GoogleBench.day(3)))
        try await side.bench.edit("PATCH", "/" + id, ["recurrence": ["RRULE:FREQ=DAILY;COUNT=6"]])
        for _ in 0..<2 { try await side.run() }
        let here = try #require(side.entry("s")?.canonical)
        #expect(here.repetition?.rrule == "FREQ=DAILY;COUNT=10")
        #expect(here.effective(at: GoogleBench.day(2))?.span.start == GoogleBench.day(2).adding(seconds: 18_000))
        let open = side.store.conflicts.values.filter { $0.state == .open }
        #expect(Set(open.map(\.kind)) == [.editedThere, .deletedThere])
        #expect(try await side.run().record.counts.updated == 0)
    }
}
