// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import ICalBridge
import Testing

@Suite struct EntryTests {
    @Test("Entries that mean the same are equal, however their lists were written")
    func normalised() {
        let span = TimeSpan.timed(start: Instant(seconds: 0), end: Instant(seconds: 60), zone: "Europe/Berlin")
        let one = Entry(
            title: "x", span: span,
            repetition: Repetition(
                rrule: "FREQ=DAILY", exdates: [Instant(seconds: 9), Instant(seconds: 3), Instant(seconds: 9)]),
            reminders: [30, 10, 30])
        let other = Entry(
            title: "x", span: span,
            repetition: Repetition(rrule: "FREQ=DAILY", exdates: [Instant(seconds: 3), Instant(seconds: 9)]),
            reminders: [10, 30])
        #expect(one == other)
    }

    @Test("A provider's code is kept only when it is short and plain")
    func plainCodes() {
        #expect(ProviderFailure(.refused, "x", code: "quotaExceeded").code == "quotaExceeded")
        #expect(ProviderFailure(.refused, "x", code: "ya29.secret token").code == nil)
        #expect(ProviderFailure(.refused, "x", code: String(repeating: "a", count: 65)).code == nil)
    }

    @Test("An entry's text is the same whatever the order of a dictionary, and comes back as it was")
    func coding() throws {
        let day = 86_400
        let span = TimeSpan.timed(start: Instant(seconds: 0), end: Instant(seconds: 60), zone: "Europe/Berlin")
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        func entry(_ days: [Int]) -> Entry {
            var occurrences: [Instant: CalendarSync.Occurrence] = [:]
            for number in days {
                let moved = Entry(
                    title: "x", notes: "n", location: "",
                    span: .timed(start: Instant(seconds: 7), end: Instant(seconds: 9), zone: "UTC"), status: .tentative)
                occurrences[Instant(seconds: number * day)] = number % 3 == 0 ? .cancelled : .changed(moved)
            }
            return Entry(
                title: "Ä", span: span, repetition: Repetition(rrule: "FREQ=DAILY"), occurrences: occurrences,
                reminders: [10], status: .tentative, availability: .free)
        }
        let text = try encoder.encode(entry(Array(1...40)))
        #expect(text == (try encoder.encode(entry((1...40).reversed()))))
        #expect(try JSONDecoder().decode(Entry.self, from: text) == entry(Array(1...40)))
        let starts = String(decoding: text, as: UTF8.self).components(separatedBy: "\"start\":").dropFirst()
            .compactMap { Int($0.prefix { $0.isNumber }) }.filter { $0 >= day }
        #expect(starts == (1...40).filter { $0 % 3 != 0 }.map { $0 * day })
        let cancelled = (1...40).filter { $0 % 3 == 0 }.map { "\($0 * day)" }.joined(separator: ",")
        #expect(String(decoding: text, as: UTF8.self).contains("\"cancelled\":[\(cancelled)]"))

        let bare = Entry(
            title: "", span: .days(first: CivilDate(daysSinceEpoch: 0), until: CivilDate(daysSinceEpoch: 1)))
        #expect(try JSONDecoder().decode(Entry.self, from: encoder.encode(bare)) == bare)
    }

    @Test("An occurrence is read alike whether its text names the parts that are empty or usual or leaves them out")
    func wholeOccurrences() throws {
        let span = TimeSpan.timed(start: Instant(seconds: 0), end: Instant(seconds: 60), zone: "UTC")
        let time = String(decoding: try JSONEncoder().encode(span), as: UTF8.self)
        let texts = [#","notes":"","location":"","status":"confirmed""#, ""].map { rest in
            #"{"title":"t","span":\#(time),"repetition":{"rrule":"FREQ=DAILY","exdates":[],"rdates":[]},"#
                + #""occurrences":[{"start":9,"occurrence":{"changed":{"_0":{"title":"x","span":\#(time)\#(rest)}}}}]}"#
        }
        let entry = Entry(
            title: "t", span: span, repetition: Repetition(rrule: "FREQ=DAILY"),
            occurrences: [Instant(seconds: 9): .changed(Entry(title: "x", span: span))])
        for text in texts { #expect(try JSONDecoder().decode(Entry.self, from: Data(text.utf8)) == entry) }
    }

    @Test("Another spelling of a letter is an edit of an entry, and of a changed occurrence")
    func spelling() {
        let span = TimeSpan.timed(start: Instant(seconds: 0), end: Instant(seconds: 60), zone: "Europe/Berlin")
        func entry(_ title: String, notes: String) -> Entry {
            let changed = Entry(title: "x", notes: notes, location: "", span: span, status: .confirmed)
            return Entry(
                title: title, span: span, repetition: Repetition(rrule: "FREQ=DAILY"),
                occurrences: [Instant(seconds: 0): .changed(changed)])
        }
        #expect(entry("\u{E9}", notes: "n") != entry("e\u{301}", notes: "n"))
        #expect(entry("t", notes: "\u{E9}") != entry("t", notes: "e\u{301}"))
        #expect(entry("e\u{301}", notes: "\u{E9}") == entry("e\u{301}", notes: "\u{E9}"))
    }
}
