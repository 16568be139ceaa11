// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Testing

@testable import CalendarSync

/// Series whose rule changes in the interval in which an occurrence does.
extension GraphRunTests {
    private static let second = "2026-12-10T08:00:00Z"
    private static let ninth = "2027-01-28T08:00:00Z"

    private static func move(_ day: String) -> JSONValue {
        [
            "start": ["dateTime": .string("\(day)T13:00:00"), "timeZone": "UTC"],
            "end": ["dateTime": .string("\(day)T14:00:00"), "timeZone": "UTC"],
        ]
    }

    @Test(
        "An occurrence that is as its series again is so there when the rule changes with it", arguments: [true, false])
    func overrideTakenBack(_ resets: Bool) async throws {
        let bench = try await Bench()
        try await bench.room.emulator.settings(["resetsExceptions": .bool(resets)])
        bench.put("s", .series().changing(Self.second) { $0.location = "Elsewhere" })
        for _ in 0..<2 { try await bench.run() }
        let entry = Entry.series(rule: "FREQ=WEEKLY;COUNT=8;BYDAY=TH")
        bench.put("s", entry)
        for _ in 0..<2 { try await bench.run() }
        let id = try #require(bench.link("s")?.externalID)
        #expect(try await bench.room.looked(id)?.whole?.canonical == entry.canonical)
        #expect(bench.store.conflicts.isEmpty)
    }

    @Test(
        "A person's move of an occurrence there holds when the rule changes here, and what the rule ends is reported",
        arguments: [true, false])
    func ruleHereOccurrenceThere(_ resets: Bool) async throws {
        let bench = try await Bench()
        try await bench.room.emulator.settings(["resetsExceptions": .bool(resets)])
        bench.put("s", .series())
        for _ in 0..<2 { try await bench.run() }
        let id = try #require(bench.link("s")?.externalID)
        try await Task.sleep(for: .milliseconds(1100))
        for day in ["2026-12-10", "2027-01-28"] {
            try await bench.room.emulator.person("PATCH", "\(id).OCC.\(day)", Self.move(day))
        }
        bench.put("s", .series(rule: "FREQ=WEEKLY;COUNT=5;BYDAY=TH"))
        for _ in 0..<3 { try await bench.run() }
        let here = try #require(bench.entry("s")?.canonical)
        #expect(here.repetition?.rrule == "FREQ=WEEKLY;COUNT=5;BYDAY=TH")
        #expect(here.effective(at: .at(Self.second))?.span.start == .at("2026-12-10T13:00:00Z"))
        #expect(here.occurrences.count == 1)
        let external = try #require(bench.link("s")?.externalID)
        let there = try #require(try await bench.room.looked(external)?.whole?.canonical)
        #expect(there == here)
        #expect(bench.store.conflicts.values.flatMap(\.starts) == [.at(Self.ninth)])
    }

    @Test("A series that is cut there keeps what was done to an earlier occurrence, whoever is right about the cut")
    func cutThere() async throws {
        let bench = try await Bench()
        bench.put("s", .series())
        for _ in 0..<2 { try await bench.run() }
        let id = try #require(bench.link("s")?.externalID)
        try await Task.sleep(for: .milliseconds(1100))
        try await bench.room.emulator.settings(["resetsExceptions": false])
        try await bench.room.emulator.person("PATCH", "\(id).OCC.2026-12-10", Self.move("2026-12-10"))
        let stored = try #require(try await bench.events().first)
        var range = stored["recurrence"]?["range"]?.object ?? [:]
        range["numberOfOccurrences"] = 6
        try await bench.room.emulator.person(
            "PATCH", id,
            ["recurrence": ["pattern": stored["recurrence"]?["pattern"] ?? .null, "range": .object(range)]])
        for _ in 0..<2 { try await bench.run() }
        let here = try #require(bench.entry("s")?.canonical)
        #expect(here.repetition?.rrule == "FREQ=WEEKLY;COUNT=10;BYDAY=TH")
        #expect(here.effective(at: .at(Self.second))?.span.start == .at("2026-12-10T13:00:00Z"))
        #expect(bench.store.conflicts.values.filter { $0.state == .open }.map(\.kind) == [.editedThere])
        #expect(try await bench.run().record.counts.updated == 0)
    }
}
