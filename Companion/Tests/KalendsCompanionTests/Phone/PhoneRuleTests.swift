// SPDX-License-Identifier: Apache-2.0

import Calendar
import OfficeDays
import Testing

@testable import KalendsCompanion

@Suite("Companion: rules of phones") struct PhoneRuleTests {
    static let rules = [
        "FREQ=DAILY", "FREQ=DAILY;INTERVAL=3;COUNT=9", "FREQ=DAILY;BYMONTH=2,3;BYDAY=MO,FR",
        "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE,SU", "FREQ=WEEKLY;UNTIL=20260401T070000Z",
        "FREQ=WEEKLY;COUNT=5;BYDAY=TU,TH",
        "FREQ=MONTHLY", "FREQ=MONTHLY;BYMONTHDAY=31", "FREQ=MONTHLY;BYMONTHDAY=-1,15;COUNT=7", "FREQ=MONTHLY;BYDAY=2TU",
        "FREQ=MONTHLY;BYDAY=-1FR;INTERVAL=2", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
        "FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR", "FREQ=YEARLY", "FREQ=YEARLY;BYMONTH=1,6;BYDAY=1MO",
        "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=30,31", "FREQ=YEARLY;BYDAY=20MO",
        "FREQ=YEARLY;BYDAY=SU;BYMONTH=10;BYSETPOS=-1",
    ]

    /// On the clock of a phone in Berlin, against the occurrences of the same series with a zone of its own.
    @Test("The starts of a rule within a window are those of the series", arguments: rules)
    func moments(text: String) throws {
        let zone = try #require(TimeZoneReference("Europe/Berlin"))
        let zones = Zones(device: { "Europe/Berlin" })
        let rule = try #require(RecurrenceRule(ofPhone: text))
        #expect(RecurrenceRule(ofPhone: rule.description) == rule)
        for dayOfYear in stride(from: 0, to: 360, by: 31) {
            let first = Day(daysSinceEpoch: 20_454 + dayOfYear)
            let wall = WallTime(first, second: 9 * 3600)
            var event = Event(uid: "u", start: .zoned(CivilDateTime(wallSeconds: wall.total), zone))
            event.recurrence.rules = [try RecurrenceRule(text)]
            let window = TimeRange(
                seconds: first.daysSinceEpoch * 86_400..<(first.daysSinceEpoch + 900) * 86_400)
            let expected = Set(
                Series(master: event, overrides: []).occurrences(
                    from: window.from, to: window.to, floatingIn: zone.rules
                ).occurrences.map { EventMoment.instant($0.start.instant(floatingIn: zone.rules).seconds) })
            let span = EventSpan.timed(
                start: wall, end: WallTime(total: wall.total + 3600), zone: "Europe/Berlin")
            var found = Set(rule.moments(of: span, in: window, zones))
            // The series counts a first occurrence that its rule would not have, and phones do not.
            let start = zones.moment(of: span)
            if !found.contains(start), rule.count != nil { continue }
            found.insert(start)
            #expect(found == expected, "\(text) from \(first)")
        }
    }

    @Test("Whole days end on the day of UNTIL, and a window in the middle of a series shows what is in it")
    func wholeDays() throws {
        let zones = Zones(device: { "Europe/Berlin" })
        let first = try #require(Day(iso: "2026-01-05"))
        let rule = try #require(RecurrenceRule(ofPhone: "FREQ=DAILY;UNTIL=20260203"))
        let from = try #require(Day(iso: "2026-02-01"))
        let window = TimeRange(
            seconds: zones.instant(
                WallTime(from, second: 0), in: nil)..<zones.instant(
                    WallTime(from.adding(days: 30), second: 0), in: nil))
        let found = rule.moments(of: .allDay(first: first, last: first), in: window, zones)
        #expect(found == (0..<3).map { .day(from.adding(days: $0)) })
    }

    @Test(
        "A rule that no phone's calendar can represent is not mistaken for another",
        arguments: [
            "FREQ=HOURLY", "FREQ=DAILY;BYHOUR=9,12", "FREQ=YEARLY;BYWEEKNO=3", "FREQ=YEARLY;BYYEARDAY=100", "COUNT=3",
            "",
            "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU", "FREQ=DAILY;COUNT=2;UNTIL=20260101", "FREQ=DAILY;BYDAY=XX",
            "FREQ=YEARLY;BYMONTHDAY=-3",
        ])
    func others(text: String) {
        #expect(RecurrenceRule(ofPhone: text) == nil)
    }
}
