// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import TestSupport
import Testing

@testable import CalendarSync

/// The decoder must read what is stored of a connection just as Foundation's decoder reads it.
@Suite("Records of the engine, read from JSON")
struct RecordDecodingTests {
    private static let item = ItemKey(.followUps, "f")
    private static let entry = Entry(
        title: "Tëa \"now\"", notes: "n\n", location: "\\",
        span: .timed(start: Instant(seconds: -7), end: Instant(seconds: 9_000_000_000), zone: "Europe/Berlin"),
        repetition: Repetition(rrule: "FREQ=DAILY", exdates: [Instant(seconds: 1)], rdates: [Instant(seconds: 2)]),
        occurrences: [
            Instant(seconds: 3): .cancelled,
            Instant(seconds: 4): .changed(
                Entry(
                    title: "", notes: "", location: "",
                    span: .days(first: CivilDate(daysSinceEpoch: 0), until: CivilDate(daysSinceEpoch: 20_000)))),
        ],
        reminders: [10, 0], status: .tentative, availability: .free)
    private static let bare = Entry(
        title: "", span: .days(first: CivilDate(daysSinceEpoch: -1), until: CivilDate(daysSinceEpoch: 1)))

    private static func check<Record: Codable & Equatable>(_ samples: [Record]) throws {
        let outcome = try DecodingOracle.compare(samples)
        #expect(outcome.differences == [])
        #expect(outcome.read >= samples.count && outcome.refused > 0)
    }

    @Test("Foundation's decoder reads the same links, operations and conflicts, and refuses the same changes of them")
    func state() throws {
        try Self.check([Self.entry, Self.bare])
        try Self.check([
            Link(
                item: Self.item, generation: 2, externalID: "e", lastID: "l", etag: "\"1\"",
                stamp: Instant(seconds: 5), agreed: Agreement(ours: Self.entry, theirs: Self.bare), state: .conflict,
                reason: "r", refused: Self.bare, direction: .in, lastSyncedAt: Instant(seconds: 6),
                since: Instant(seconds: 7), leftovers: [Leftover(id: "x", etag: nil, generation: 1)],
                flips: [ObservedFieldEdit(field: "title", value: "v", at: Instant(seconds: 8))]),
            Link(item: ItemKey(.officeDays, "o"), state: .linked, since: Instant(seconds: 0)),
        ])
        let kinds: [CalendarSync.Operation.Kind] = [
            .create, .update(id: "i", etag: nil, from: Self.entry), .delete(id: "i", etag: "t"),
            .clear(Leftover(id: "x", etag: "t", generation: 3)),
        ]
        try Self.check(
            kinds.map {
                CalendarSync.Operation(
                    key: "k", run: "r", item: Self.item, generation: 0, kind: $0, ours: Self.bare, wanted: nil,
                    before: nil, reason: "", createdAt: Instant(seconds: 1))
            })
        try Self.check([
            ConflictRecord(
                id: "c", item: Self.item, occurrence: Instant(seconds: 1), at: Instant(seconds: 2), kind: .bothChanged,
                fields: [.init(field: .times, base: nil, kalends: "a", calendar: "b", kept: .calendar)],
                ours: Self.bare, theirs: nil, state: .resolved, outcome: .dismissed, resolvedAt: Instant(seconds: 3))
        ])
    }

    @Test("Foundation's decoder reads the same journals, runs, positions and accounts")
    func beside() throws {
        try Self.check([
            JournalEntry(
                id: "j", run: "r", at: Instant(seconds: 1), direction: .out, change: .adopt, item: Self.item,
                generation: 1, externalID: nil, reason: "x", before: nil, after: Self.bare)
        ])
        var run = RunRecord(id: "r", trigger: .push, startedAt: Instant(seconds: 1))
        run.counts.pulled = 4
        run.held = Hold(causes: [.empty, .restored], deletions: 1, missing: 2)
        (run.endedAt, run.status, run.error, run.state) = (Instant(seconds: 2), .partial, "e", .held)
        try Self.check([run, RunRecord(id: "", trigger: .first, startedAt: Instant(seconds: 0))])
        let window = TimeRange(from: Instant(seconds: 0), to: Instant(seconds: 1))
        let fingerprint = Fingerprint(
            account: "a", calendar: "c", pastDays: 1, futureDays: 2, filter: "f", mapping: 3)
        try Self.check([Position(cursor: "\"", fingerprint: fingerprint, listed: window)])
        try Self.check([WatchChannel(id: "w", resourceID: "r", expiresAt: Instant(seconds: 9))])
        try Self.check([
            CalDAVAccount(principal: "https://a/p", homes: ["https://a/h/"], name: nil, entrance: "https://a")
        ])
        try Self.check([DeletionCount(out: 1, missing: 2)])
    }
}
