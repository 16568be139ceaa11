// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import ICalBridge
import Testing

@testable import CalendarSync

/// The engine over Google's calendars: whole runs against the emulator.
@Suite struct GoogleRunTests {
    struct Side {
        let bench: GoogleBench
        let store = SimulatedStore()

        init() async throws { bench = try await GoogleBench() }

        func put(_ id: String, _ entry: Entry) {
            store.clock += 1
            let key = ItemKey(.appointments, id)
            let revision = (store.items[key]?.revision ?? 0) + 1
            store.items[key] = SimulatedStore.Item(
                entry: entry, revision: revision, changedAt: Instant(seconds: Int(Date().timeIntervalSince1970)))
        }

        func entry(_ id: String) -> Entry? { store.items[ItemKey(.appointments, id)]?.entry }
        func link(_ id: String) -> Link? { store.links[ItemKey(.appointments, id)] }

        /// Makes a run, and returns it with the requests that it took.
        @discardableResult
        func run(through other: GoogleCalendar? = nil) async throws -> (record: RunRecord, requests: Int) {
            bench.http.takeSent()
            let policy = SyncPolicy(
                installation: "inst", connection: "conn", circle: "circle",
                fingerprint: Fingerprint(
                    account: "a", calendar: bench.calendar, pastDays: 30, futureDays: 400, filter: "", mapping: 1),
                window: GoogleBench.window)
            let now: @Sendable () -> Instant = { Instant(seconds: Int(Date().timeIntervalSince1970)) }
            let sync = SyncRun(
                provider: other ?? bench.provider, store: store, policy: policy, now: now, makeID: { UUID().uuidString }
            )
            let record = RunRecord(id: UUID().uuidString, trigger: .schedule, startedAt: now())
            let outcome = try await sync.run(record)
            return (outcome.record, bench.http.takeSent().count)
        }

        /// Returns an item's current entry at Google, as the provider reads it.
        func there(_ id: String) async throws -> Entry? {
            let external = try #require(link(id)?.externalID)
            let look = try await bench.provider.look(at: [external], in: bench.calendar)[0].look
            return if case .present(let event) = look { event.entry } else { nil }
        }
    }

    @Test("A thousand items are there after at most 25 requests, an unchanged run is one, and a change two")
    func cost() async throws {
        let side = try await Side()
        for number in 0..<1000 { side.put("i\(number)", GoogleBench.single("E\(number)", hours: number % 300)) }
        side.put("series", GoogleBench.series("Walk"))
        let first = try await side.run()
        #expect(first.record.counts.created == 1001 && first.record.status == .success)
        #expect(first.requests <= 25 + 5, "\(first.requests) requests, of which a series with a changed day takes five")
        #expect(try await side.bench.stored().count == 1001)
        let echo = try await side.run()
        #expect(echo.record.counts.created + echo.record.counts.updated + echo.record.counts.pulled == 0)
        #expect(try await side.run().requests == 1)

        side.put("i7", GoogleBench.single("Renamed", hours: 7))
        let ours = try await side.run()
        #expect(ours.record.counts.updated == 1 && ours.requests == 2)
        #expect(try await side.run().requests == 1)
        try await Task.sleep(for: .milliseconds(1100))
        let id = try #require(side.link("i9")?.externalID)
        try await side.bench.edit(
            "PATCH", "/" + id,
            [
                "start": ["dateTime": "2026-12-17T14:00:00+01:00"], "end": ["dateTime": "2026-12-17T15:00:00+01:00"],
            ])
        let theirs = try await side.run()
        #expect(theirs.record.counts.pulled == 1 && theirs.requests <= 2)
        let start = try #require(Instant(rfc3339: "2026-12-17T13:00:00Z"))
        #expect(
            side.entry("i9")?.span == .timed(start: start, end: start.adding(seconds: 3600), zone: "Europe/Berlin"))
        #expect(try await side.run().requests == 1)
    }

    @Test("A series goes out whole, a moved occurrence comes in, and a deleted one comes back when it is wanted")
    func series() async throws {
        let side = try await Side()
        side.put("s", GoogleBench.series("Walk"))
        #expect(try await side.run().record.counts.created == 1)
        #expect(try await side.there("s")?.canonical == GoogleBench.series("Walk").canonical)
        try await side.run()
        try await Task.sleep(for: .milliseconds(1100))
        let id = try #require(side.link("s")?.externalID)
        let moved = GoogleBench.day(6).adding(seconds: 18_000)
        try await side.bench.edit(
            "PATCH", GoogleBench.instanceID(id, GoogleBench.day(6)),
            [
                "start": ["dateTime": .string(moved.description)],
                "end": ["dateTime": .string(moved.adding(seconds: 3600).description)],
            ])
        #expect(try await side.run().record.counts.pulled == 1)
        let found = try #require(side.entry("s")?.canonical.effective(at: GoogleBench.day(6)))
        #expect(found.span == .timed(start: moved, end: moved.adding(seconds: 3600), zone: "Europe/Berlin"))

        var back = try #require(side.entry("s"))
        back.repetition?.exdates = []
        back.occurrences = back.occurrences.filter { $0.value != .cancelled }
        side.put("s", back)
        for _ in 0..<3 { try await side.run() }
        #expect(side.link("s")?.externalID == id)
        #expect(try await side.there("s")?.canonical == back.canonical)
        #expect(try await side.run().requests == 1)
    }

    @Test("A series that a person moves between our write and the look at what became of it moves here, too")
    func movedMeanwhile() async throws {
        let side = try await Side()
        var entry = GoogleBench.single("Walk")
        entry.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=10")
        side.put("s", entry)
        for _ in 0..<2 { try await side.run() }
        let (bench, id) = (side.bench, try #require(side.link("s")?.externalID))
        entry.title = "Long walk"
        side.put("s", entry)
        let start = GoogleBench.morning.adding(seconds: 3600)
        let provider = bench.provider(after: "PATCH") {
            try await bench.edit(
                "PATCH", "/" + id,
                [
                    "start": ["dateTime": .string(start.description)],
                    "end": ["dateTime": .string(start.adding(seconds: 3600).description)],
                ])
        }
        #expect(try await side.run(through: provider).record.counts.updated == 1)
        #expect(side.entry("s") == entry)
        #expect(try await side.run().record.counts.pulled == 1)
        entry.span = .timed(start: start, end: start.adding(seconds: 3600), zone: "Europe/Berlin")
        #expect(side.entry("s")?.canonical == entry.canonical)
        #expect(try await side.there("s")?.canonical == entry.canonical)
        #expect(try await side.run().requests == 1)
    }

    @Test("An occurrence that a person moves while its series is being made is moved here by the next run")
    func movedWhileMade() async throws {
        let side = try await Side()
        side.put("s", GoogleBench.series("Walk"))
        let (bench, id) = (side.bench, GoogleMark.eventID(GoogleBench.mark("s")))
        let moved = GoogleBench.day(6).adding(seconds: 18_000)
        // The first PATCH is that of the changed occurrence.
        let provider = bench.provider(after: "PATCH") {
            try await bench.edit(
                "PATCH", GoogleBench.instanceID(id, GoogleBench.day(6)),
                [
                    "start": ["dateTime": .string(moved.description)],
                    "end": ["dateTime": .string(moved.adding(seconds: 3600).description)],
                ])
        }
        #expect(try await side.run(through: provider).record.counts.created == 1)
        #expect(side.link("s")?.externalID == id)
        #expect(try await side.run().record.counts.pulled == 1)
        let found = try #require(side.entry("s")?.canonical.effective(at: GoogleBench.day(6)))
        #expect(found.span == .timed(start: moved, end: moved.adding(seconds: 3600), zone: "Europe/Berlin"))
        #expect(try await side.there("s")?.canonical == side.entry("s")?.canonical)
    }

    @Test("A conference that a person adds to an event stays, and is no edit of it")
    func conference() async throws {
        let side = try await Side()
        side.put("a", GoogleBench.single("A"))
        for _ in 0..<2 { try await side.run() }
        let id = try #require(side.link("a")?.externalID)
        try await Task.sleep(for: .milliseconds(1100))
        let conference: JSONValue = [
            "conferenceId": "abc-defg-hij", "conferenceSolution": ["key": ["type": "hangoutsMeet"]],
            "entryPoints": [["entryPointType": "video", "uri": "https://meet.google.com/abc-defg-hij"]],
        ]
        try await side.bench.edit("PATCH", "/\(id)?conferenceDataVersion=1", ["conferenceData": conference])
        #expect(try await side.run().record.counts.updated == 0)
        var entry = GoogleBench.single("B")
        (entry.notes, entry.location) = ("Other notes", "Elsewhere")
        side.put("a", entry)
        #expect(try await side.run().record.counts.updated == 1)
        #expect(try await side.bench.stored().first?["conferenceData"] == conference)
        #expect(try await side.there("a") == entry)
        #expect(side.store.conflicts.isEmpty)
    }

    @Test("An event that a person deletes leaves a question, and the appointment as it was")
    func deletedThere() async throws {
        let side = try await Side()
        for name in ["a", "b"] { side.put(name, GoogleBench.single(name)) }
        try await side.run()
        try await side.run()
        try await side.bench.edit("DELETE", "/" + (try #require(side.link("a")?.externalID)))
        for _ in 0..<3 { try await side.run() }
        #expect(side.entry("a")?.title == "a")
        #expect(side.store.conflicts.values.map(\.kind) == [.deletedThere])
        #expect(try await side.bench.stored().count == 1)
    }

    @Test(
        "Whatever happens to a request, runs end with one event for each item, equal on both sides",
        arguments: [
            ["method": "batch", "unanswered": "after"], ["method": "batch", "unanswered": "before"],
            ["method": "batch", "unanswered": "after", "skip": 1],
            ["method": "batch", "unanswered": "after", "skip": 2],
            ["method": "batch", "cut": true], ["method": "batch", "body": "garbage"],
            ["method": "batch", "status": 503], ["method": "batch", "status": 429, "retryAfter": 90],
            ["method": "events.list", "status": 503, "times": 3],
            ["method": "events.list", "status": 410, "reason": "fullSyncRequired"],
            ["method": "events.list", "empty": true], ["method": "events.list", "cut": true],
            ["method": "events.insert", "unanswered": "after"], ["method": "events.patch", "unanswered": "after"],
            ["method": "events.patch", "unanswered": "before", "times": 2],
            ["method": "events.insert", "status": 403, "reason": "quotaExceeded", "times": 2],
            ["method": "events.*", "status": 403, "reason": "rateLimitExceeded", "times": 7],
            ["method": "events.patch", "status": 409, "reason": "conflict", "times": 4],
            ["method": "events.get", "status": 500, "times": 5],
            ["method": "events.patch", "status": 412, "reason": "conditionNotMet"],
        ] as [JSONValue], [["lag": 0], ["lag": 2], ["rewrites": true, "emptyPages": 2]] as [JSONValue])
    func faults(_ fault: JSONValue, _ knobs: JSONValue) async throws {
        let side = try await Side()
        try await side.bench.knob(knobs.object ?? [:])
        var series = GoogleBench.series("Walk")
        side.put("s", series)
        side.put("a", GoogleBench.single("A"))
        side.put("b", GoogleBench.single("B"))
        try await side.bench.control("fault", fault)
        for _ in 0..<4 { try await side.run() }
        #expect(try await side.bench.stored().count == 3)
        side.put("a", GoogleBench.single("A again"))
        series.repetition?.exdates = [GoogleBench.day(7)]
        side.put("s", series)
        try await side.bench.control("fault", fault)
        for _ in 0..<4 { try await side.run() }
        try await side.bench.control("clear", [:])
        let last = try await side.run()
        #expect(try await side.bench.stored().count == 3)
        for (id, wanted) in [("s", series), ("a", GoogleBench.single("A again")), ("b", GoogleBench.single("B"))] {
            #expect(try await side.there(id)?.canonical == wanted.canonical)
            #expect(side.entry(id)?.canonical == wanted.canonical)
        }
        #expect(side.store.conflicts.values.allSatisfy { $0.state == .resolved })
        #expect(last.record.counts.updated + last.record.counts.created + last.record.counts.pulled == 0)
    }
}
