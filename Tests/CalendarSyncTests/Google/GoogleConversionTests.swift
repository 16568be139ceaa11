// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import ICalBridge
import TestSupport
import Testing

@testable import CalendarSync

@Suite struct GoogleConversionTests {
    typealias Bench = GoogleBench

    private static let words = [
        "Haircut", " ", "\n", "<b>", "</b>", "&amp;", "&", "<br>", "a<b", "🙂", "Müller", "\t", "\r\n", "\"", "\\", "é",
        "e\u{301}", "1 < 2", "<span>", "--batch", "<a href=\"x\">link</a>", "\u{200B}", "\n\n\n", "0",
    ]
    private static let zones = [
        "Europe/Berlin", "America/New_York", "UTC", "Asia/Kolkata", "Australia/Lord_Howe", "Mars/Base",
    ]
    private static let rules = [
        "FREQ=DAILY;COUNT=12", "FREQ=WEEKLY;INTERVAL=2;COUNT=9", "FREQ=WEEKLY;COUNT=15;BYDAY=MO,WE,FR",
        "FREQ=MONTHLY;COUNT=6", "FREQ=MONTHLY;COUNT=5;BYDAY=-1TH", "FREQ=DAILY;UNTIL=20270401T120000Z",
    ]

    private func text(_ random: inout SplitMix, _ most: Int) -> String {
        (0..<Int.random(in: 0...most, using: &random)).map { _ in Self.words.randomElement(using: &random) ?? "" }
            .joined()
    }

    private func entry(_ random: inout SplitMix) throws -> Entry {
        let zone = Self.zones.randomElement(using: &random) ?? "UTC"
        // The offsets of Lord Howe and Berlin change within these months, by half an hour and an hour.
        let start = Bench.morning.adding(seconds: Int.random(in: 0..<(150 * 96), using: &random) * 900)
        let length = [0, 900, 3600, 90_000].randomElement(using: &random) ?? 0
        var entry = Entry(
            title: text(&random, 4), notes: text(&random, 8), location: text(&random, 2),
            span: .timed(start: start, end: start.adding(seconds: length), zone: zone),
            reminders: (0..<Int.random(in: 0...7, using: &random)).map { _ in
                [0, 5, 15, 60, 1440, 40_320, 40_321, -5, 30].randomElement(using: &random) ?? 0
            }, status: Bool.random(using: &random) ? .confirmed : .tentative,
            availability: Bool.random(using: &random) ? .busy : .free)
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            let first = try #require(CivilDate(iso: "2027-02-27")).adding(days: Int.random(in: 0..<40, using: &random))
            entry.span = .days(first: first, until: first.adding(days: Int.random(in: 1...5, using: &random)))
        case 1: try repeating(&entry, start, length, zone, &random)
        default: break
        }
        return entry
    }

    private func repeating(
        _ entry: inout Entry, _ start: Instant, _ length: Int, _ zone: String, _ random: inout SplitMix
    ) throws {
        guard let reference = TimeZoneReference(zone) else { return }
        let text = Self.rules.randomElement(using: &random) ?? ""
        let rule = try RecurrenceRule(text)
        let starts = rule.instants(
            startingAt: .zoned(reference.rules.civil(at: start), reference), floatingIn: FixedOffset.utc
        ).instants
        var repetition = Repetition(rrule: text)
        for original in starts.dropFirst() {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: repetition.exdates.append(original)
            case 1: entry.occurrences[original] = .cancelled
            case 2:
                let begin = original.adding(seconds: Int.random(in: -20...20, using: &random) * 900)
                entry.occurrences[original] = .changed(
                    Entry(
                        title: self.text(&random, 3), notes: self.text(&random, 3), location: entry.location,
                        span: .timed(start: begin, end: begin.adding(seconds: length), zone: zone)))
            case 3:
                // As the series: no difference at all.
                entry.occurrences[original] = .changed(
                    Entry(
                        title: entry.title, notes: entry.notes, location: entry.location,
                        span: .timed(start: original, end: original.adding(seconds: length), zone: zone),
                        status: entry.status))
            default: break
            }
        }
        // An exception at a time that the series does not have.
        repetition.exdates.append(start.adding(seconds: 60))
        if Bool.random(using: &random) { repetition.rdates = [start.adding(seconds: 77 * 86_400)] }
        repetition.exdates.sort()
        entry.repetition = repetition
    }

    @Test("What is written is what comes back, for any entry, created or changed into another", arguments: 1...6)
    func roundTrip(_ seed: Int) async throws {
        let bench = try await Bench()
        var random = SplitMix(seed: UInt64(seed))
        let entries = try (0..<50).map { ("item\($0)", try entry(&random)) }
        let answers = await bench.create(entries)
        for ((item, entry), answer) in zip(entries, answers) {
            let kept = bench.provider.expressible(entry).entry
            #expect(bench.provider.expressible(kept).entry == kept)
            try #require(answer.written?.entry == kept, "\(item): \(answer) is not \(kept)")
        }
        let others = try (0..<50).map { _ in bench.provider.expressible(try entry(&random)).entry }
        let updates = zip(entries, zip(answers, others)).map { item, pair in
            WriteRequest(
                key: "u" + item.0, mark: Bench.mark(item.0),
                kind: .update(
                    id: pair.0.written?.id ?? "", etag: pair.0.written?.etag, from: pair.0.written?.entry ?? pair.1,
                    to: pair.1))
        }
        for (answer, other) in zip(await bench.provider.write(updates, in: bench.calendar), others) {
            try #require(answer.written?.entry == other, "\(answer) is not \(other)")
        }
        let listed = try await bench.changes(since: nil).events
        #expect(Set(listed.compactMap(\.entry)) == Set(others))
    }

    @Test("Limitations of Google are reported")
    func limitations() throws {
        let provider = GoogleCalendar(
            http: ScriptedHTTP([]), tokens: FixedToken(token: "t"), now: { Instant(seconds: 0) })
        func fields(_ change: (inout Entry) -> Void) -> [EntryField?] {
            var entry = Bench.single("A")
            change(&entry)
            return provider.expressible(entry).limitations.map(\.field)
        }
        #expect(fields { _ in } == [])
        #expect(fields { $0.reminders = [1, 2, 3, 4, 5, 6] } == [.reminders])
        #expect(fields { $0.reminders = [40_321] } == [.reminders])
        #expect(
            fields { $0.span = .timed(start: Bench.morning, end: Bench.morning, zone: "Mars/Base") } == [.times])
        #expect(
            fields { entry in
                entry.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=3")
                entry.occurrences = [Bench.day(7): .changed(Bench.later("x", day: 7))]
            } == [.recurrence])
    }

    @Test("Marks of any text and length come back, and only those that a Kalends wrote")
    func marks() async throws {
        let bench = try await Bench()
        let odd = ["a/b", "ä ö", "", "%2F", "👩‍👩‍👧", String(repeating: "ü", count: 400), "x\ny"]
        let marks = odd.enumerated().map { number, text in
            EventMark(
                installation: text, connection: "c", circle: text, item: ItemKey(.followUps, text), generation: number)
        }
        let answers = await bench.provider.write(
            marks.map { WriteRequest(key: "k", mark: $0, kind: .create(Bench.single("A"))) }, in: bench.calendar)
        #expect(answers.map { $0.written?.mark } == marks)
        #expect(try await bench.provider.find(marks, in: bench.calendar).map(\.mark) == marks)
        for text in [
            "1/a/b/c/tasks/x/-1", "2/a/b/c/tasks/x/0", "1/a/b/c/x/x/0", "1/a/b/c/tasks/x", "1/%61/b/c/tasks/x/0",
        ] {
            #expect(GoogleMark.read(["kalends": .string(text)]) == nil)
        }
    }
}
