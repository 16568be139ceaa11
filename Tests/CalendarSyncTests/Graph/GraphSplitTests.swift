// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Testing

@testable import CalendarSync

/// Series that Outlook has no pattern for, against the emulator.
@Suite struct GraphSplitTests {
    private static func entry(_ rule: String?, rdates: [String] = [], start: String = "2026-12-01T08:00:00Z") -> Entry {
        var entry = Entry.single(start: start)
        entry.repetition = Repetition(rrule: rule, rdates: rdates.map(Instant.at))
        return entry
    }

    private static let cases: [(entry: Entry, starts: [String])] = [
        (entry("FREQ=MONTHLY;BYMONTHDAY=1,15;COUNT=4"), ["2026-12-01", "2026-12-15", "2027-01-01", "2027-01-15"]),
        (
            entry("FREQ=WEEKLY;COUNT=3", rdates: ["2026-12-04T08:00:00Z"]),
            ["2026-12-01", "2026-12-04", "2026-12-08", "2026-12-15"]
        ),
        (
            entry("FREQ=MONTHLY;BYMONTHDAY=31;COUNT=3", start: "2026-12-31T08:00:00Z"),
            ["2026-12-31", "2027-01-31", "2027-03-31"]
        ),
        (entry("FREQ=MONTHLY;BYDAY=1TU,3TU;COUNT=3"), ["2026-12-01", "2026-12-15", "2027-01-05"]),
        (
            entry("FREQ=WEEKLY;COUNT=3").changing("2026-12-08T08:00:00Z") {
                $0.span = Entry.single(start: "2026-12-17T08:00:00Z").span
            }, ["2026-12-01", "2026-12-15", "2026-12-17"]
        ),
    ]

    private static func days(_ bench: GraphRunTests.Bench) async throws -> [String] {
        try await bench.events().compactMap { try? GraphTimes.instant($0["start"]).description.prefix(10) }
            .map { String($0) }.sorted()
    }

    private static func isQuiet(_ bench: GraphRunTests.Bench) async throws -> Bool {
        let counts = try await bench.run().record.counts
        return counts.created + counts.updated + counts.deleted + counts.pulled == 0
    }

    @Test("Each occurrence is a single event; a move there comes in, a deletion is asked about", arguments: 0..<5)
    func singles(_ number: Int) async throws {
        let (entry, starts) = Self.cases[number]
        let bench = try await GraphRunTests.Bench()
        #expect(bench.room.graph.expressible(entry).limitations.contains { $0.isOfSeries })
        bench.put("s", entry)
        let first = try await bench.run()
        #expect(first.record.status == .success && first.record.counts.created == starts.count)
        #expect(try await Self.days(bench) == starts)
        #expect(try await Self.isQuiet(bench))

        let links = bench.store.links.values.filter { $0.item.occurrence != nil }.sorted { $0.item < $1.item }
        let start = try #require(links[0].item.occurrence)
        try await Task.sleep(for: .milliseconds(1100))
        try await bench.room.emulator.person(
            "PATCH", try #require(links[0].externalID),
            [
                "start": ["dateTime": "2026-12-02T13:00:00", "timeZone": "UTC"],
                "end": ["dateTime": "2026-12-02T14:00:00", "timeZone": "UTC"],
            ])
        try await bench.room.emulator.person("DELETE", try #require(links[1].externalID))
        #expect(try await bench.run().record.counts.pulled == 1)
        let moved = try #require(bench.entry("s")?.canonical.effective(at: start))
        #expect(moved.span.start == .at("2026-12-02T13:00:00Z"))
        #expect(bench.entry("s")?.span == entry.span)
        let open = bench.store.conflicts.values.filter { $0.state == .open }
        #expect(open.map(\.kind) == [.deletedThere] && open.first?.item == links[1].item)
        #expect(try await Self.isQuiet(bench))

        // A pattern expresses it now, and then none again.
        bench.put("s", .series(rule: "FREQ=WEEKLY;COUNT=3;BYDAY=TH"))
        #expect(try await bench.run().record.status == .success)
        #expect(try await Self.days(bench) == ["2026-12-03"])
        #expect(try await Self.isQuiet(bench))
        bench.put("s", entry)
        #expect(try await bench.run().record.status == .success)
        #expect(try await Self.days(bench) == starts)
        #expect(try await Self.isQuiet(bench))
    }

    @Test("A series that Outlook refuses although nothing is known against it becomes single events, and stays so")
    func refused() async throws {
        let bench = try await GraphRunTests.Bench()
        let third = "2026-12-17T08:00:00Z"
        let entry = Entry.series(rule: "FREQ=WEEKLY;COUNT=3;BYDAY=TH").changing(third) {
            $0.span = Entry.single(start: "2026-12-18T08:00:00Z").span
        }
        #expect(bench.room.graph.expressible(entry).limitations.allSatisfy { !$0.preventsWriting })
        bench.put("s", entry)
        try await bench.room.emulator.fault([
            "method": "PATCH", "level": "item", "status": 400, "code": "ErrorOccurrenceCrossingBoundary",
        ])
        #expect(try await bench.run().record.counts.failed == 1)
        let whole = ItemKey(.appointments, "s")
        #expect(bench.store.links[whole]?.state == .quarantined && bench.store.links[whole]?.reason != nil)
        #expect(try await bench.run().record.status == .success)
        #expect(try await Self.days(bench) == ["2026-12-03", "2026-12-10", "2026-12-18"])
        #expect(bench.store.links[whole]?.state != .quarantined)
        #expect(try await Self.isQuiet(bench))
        // Another title, which the changed occurrence does not share, changes nothing about that; another rule does.
        var renamed = entry
        renamed.title = "Long walk"
        bench.put("s", renamed)
        #expect(try await bench.run().record.counts.updated == 2)
        #expect(try await Self.days(bench) == ["2026-12-03", "2026-12-10", "2026-12-18"])
        bench.put("s", .series(rule: "FREQ=WEEKLY;COUNT=2;BYDAY=TH"))
        #expect(try await bench.run().record.status == .success)
        #expect(try await Self.days(bench) == ["2026-12-03"])
        #expect(bench.store.links[whole]?.refusedSeries == nil)
    }

    @Test("A run that is killed while the form changes doubles and loses nothing; a lost database finds all by marks")
    func killed() async throws {
        let (entry, starts) = Self.cases[0]
        for commits in 0..<7 {
            let bench = try await GraphRunTests.Bench()
            bench.put("s", .series())
            try await bench.run()
            bench.put("s", entry)
            bench.store.commitsLeft = commits
            _ = try? await bench.run()
            bench.store.commitsLeft = nil
            try await bench.run()
            #expect(try await Self.days(bench) == starts, "\(commits)")
            #expect(try await Self.isQuiet(bench))
            bench.store.records = SimulatedStore.Records()
            #expect(try await bench.run().record.counts.created == 0)
            #expect(try await Self.days(bench) == starts)
        }
    }
}
