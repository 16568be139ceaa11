// SPDX-License-Identifier: Apache-2.0

import Calendar
import Foundation
import Testing

@testable import Pages

struct TimesTests {
    private func times(_ language: Language) -> TimeWords {
        TimeWords(words: .of(language), zone: Samples.berlin, now: Samples.now)
    }

    @Test(
        "An instant is said as people say it",
        arguments: [
            (0.0, "just now", "gerade eben"), (-0.017, "a minute ago", "vor einer Minute"),
            (-0.5, "30 minutes ago", "vor 30 Minuten"), (0.25, "in 15 minutes", "in 15 Minuten"),
            (-3, "today at 12:04 pm", "heute um 12:04 Uhr"), (-16, "yesterday at 11:04 pm", "gestern um 23:04 Uhr"),
            (9, "tomorrow at 12:04 am", "morgen um 0:04 Uhr"), (48, "on Friday at 3:04 pm", "am Freitag um 15:04 Uhr"),
            (-96, "on Saturday at 3:04 pm", "am Samstag um 15:04 Uhr"),
            (-240, "on January 11 at 3:04 pm", "am 11. Januar um 15:04 Uhr"),
            (-24 * 40, "on December 12, 2025 at 3:04 pm", "am 12. Dezember 2025 um 15:04 Uhr"),
        ] as [(Double, String, String)])
    func relative(_ hours: Double, _ english: String, _ german: String) {
        #expect(times(.english).relative(Samples.hours(hours)) == english)
        #expect(times(.german).relative(Samples.hours(hours)) == german)
    }

    @Test("The hour follows the zone over a change of its clocks")
    func summerTime() {
        // 2026-03-29 00:59:59 and 01:00:00 in UTC.
        #expect(Samples.berlin.local(1_774_745_999_000).iso == "2026-03-29T01:59:59+01:00")
        #expect(Samples.berlin.local(1_774_746_000_000).iso == "2026-03-29T03:00:00+02:00")
    }

    @Test("Days are those of Foundation's Gregorian calendar, over four hundred years")
    func days() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for number in stride(from: -20_000, through: 130_000, by: 97) {
            let date = Date(timeIntervalSince1970: TimeInterval(number) * 86_400)
            let parts = calendar.dateComponents([.year, .month, .day, .weekday], from: date)
            let day = CivilDate(daysSinceEpoch: number)
            #expect(day.year == parts.year && day.month == parts.month && day.day == parts.day)
            #expect((day.mondayBasedWeekday + 1) % 7 + 1 == parts.weekday)
            #expect(CivilDate(iso: day.description) == day)
        }
        for text in ["2026-02-29", "2026-13-01", "2026-1-01", "2026-01-00", "abcd-01-01", "2026-01-01 "] {
            #expect(CivilDate(iso: text) == nil)
        }
    }

    @Test(
        "The language is the best that the browser takes",
        arguments: [
            ("de-AT,de;q=0.9,en;q=0.8", Language.german), ("en-US,en;q=0.9,de;q=0.8", .english),
            ("ja,de;q=0.5", .german), ("fr-CA, en;q=0.5", Language(rawValue: "fr") ?? .english),
            ("", .english), ("ja", .english), ("*", .english), ("en;q=0.2, de;q=0.8", .german), ("de;q=0", .english),
            ("DE", .german), ("de;q=nan", .german),
        ])
    func accepting(_ field: String, _ language: Language) {
        #expect(Language(accepting: field) == language)
    }

    @Test("Numbers have their groups, and a share is never rounded up to all of it")
    func numbers() {
        #expect(Words.of(.english).number(1_234_567) == "1,234,567")
        #expect(Words.of(.german).number(-1234) == "-1.234")
        #expect(Words.of(.english).percent(99_999, of: 100_000) == "99.9%")
        #expect(Words.of(.german).percent(1, of: 8) == "12,5\u{A0}%")
        #expect(Words.of(.english).percent(0, of: 0) == "–")
    }
}
