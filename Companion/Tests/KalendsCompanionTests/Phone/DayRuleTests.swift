// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import OfficeDays
import Testing

@testable import KalendsCompanion

@Suite("Companion: rules of days") struct DayRuleTests {
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

    @Test("Days of a rule are those that the calendar language's expander finds", arguments: rules)
    func days(text: String) throws {
        let zone = try #require(TimeZoneReference("Europe/Berlin"))
        let zones = Zones(device: { "Europe/Berlin" })
        let rule = try #require(DayRule(text))
        let written = try #require(DayRule(rule.text))
        #expect(written == rule)
        for dayOfYear in stride(from: 0, to: 360, by: 31) {
            let number = 20_454 + dayOfYear
            let wall = CivilDateTime(wallSeconds: number * 86_400 + 9 * 3600)
            var event = Event(uid: "u", start: .zoned(wall, zone))
            event.recurrence.rules = [try RecurrenceRule(text)]
            let from = Instant(seconds: number * 86_400)
            let to = from.adding(seconds: 900 * 86_400)
            let expected = Set(
                Series(master: event, overrides: []).occurrences(from: from, to: to, floatingIn: zone.rules)
                    .occurrences.map { $0.start.civilDate.daysSinceEpoch })
            let first = Day(daysSinceEpoch: number)
            var found = Set(
                rule.days(from: first, through: Day(daysSinceEpoch: number + 899)) { day in
                    .instant(zones.instant(WallTime(day, second: 9 * 3600), in: "Europe/Berlin"))
                }.map(\.daysSinceEpoch))
            // The language counts a first occurrence that its rule would not have.
            let isFirstExtra = !found.contains(number)
            if isFirstExtra, rule.end.map({ if case .count = $0 { true } else { false } }) ?? false { continue }
            found.insert(number)
            #expect(found == expected, "\(text) from \(first)")
        }
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
        #expect(DayRule(text) == nil)
    }
}
