// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import TestSupport
import Testing

@Suite("Zones that a file defines")
struct DefinedTimeZoneTests {
    private static func wall(_ text: String) -> CivilDateTime { CivilDateTime(basic: text) ?? .init(wallSeconds: 0) }

    private static func part(
        _ start: String, _ from: Int, _ to: Int, _ rule: String? = nil, _ additions: [String] = []
    ) throws -> TimeZoneDefinition.Observance {
        TimeZoneDefinition.Observance(
            isDaylight: to > from, start: wall(start), offsetFrom: from * 3600, offsetTo: to * 3600,
            rule: try rule.map { try RecurrenceRule($0) }, additions: additions.map(wall))
    }

    @Test("Asked often, they give the offsets that their definition gives")
    func same() throws {
        let definitions = [
            [
                try Self.part("19700329T020000", 1, 2, "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU"),
                try Self.part("19701025T030000", 2, 1, "FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU"),
            ],
            [
                try Self.part("19700101T000000", -5, -5),
                try Self.part("20070311T020000", -5, -4, "FREQ=YEARLY;BYMONTH=3;BYDAY=2SU;UNTIL=20150308T070000Z"),
                try Self.part("20071104T020000", -4, -5, "FREQ=YEARLY;BYMONTH=11;BYDAY=1SU;COUNT=9"),
            ],
            [
                try Self.part("20200101T000000", 3, 4, nil, ["20210601T000000", "20190101T000000", "20220101T020000"]),
                try Self.part("20200701T000000", 4, 3, nil, ["20210701T000000"]),
                try Self.part("20200701T000000", 4, 5, nil, ["20231231T233000"]),
            ],
            [
                try Self.part("20000101T003000", 14, -11, "FREQ=YEARLY;INTERVAL=3"),
                try Self.part("20001231T233000", -11, 14, "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=31;INTERVAL=2"),
            ],
            [try Self.part("20100301T000000", 0, 1, "FREQ=YEARLY;BYMONTH=3,5;BYDAY=SU;BYMONTHDAY=8,9,10,11,12,13,14")],
        ]
        for (index, observances) in definitions.enumerated() {
            let definition = TimeZoneDefinition(identifier: "Own", observances: observances)
            let rules = TimeZoneReference(definition).rules
            for seconds in stride(from: -200_000_000, to: 2_000_000_000, by: 1_234_567) {
                let instant = Instant(seconds: seconds)
                #expect(rules.offset(at: instant) == definition.offset(at: instant), "\(index) at \(instant)")
            }
        }
    }

    @Test("What Apple's iCal wrote as the offset before a zone that it cut off is not the zone's")
    func cutOff() throws {
        // Anchorage in iCal 1.0; the first part is at its time in UTC.
        let observances = [
            try Self.part("20021027T100000", 0, -9), try Self.part("20030406T020000", -9, -8),
            try Self.part("20031026T020000", -8, -9),
        ]
        let definition = TimeZoneDefinition(identifier: "Own", observances: observances)
        let (before, summer) = (Instant(seconds: 1_000_000_000), Instant(seconds: 1_055_000_000))
        for rules in [definition, TimeZoneReference(definition).rules] as [any TimeZoneRules] {
            #expect(rules.offset(at: before) == -9 * 3600 && rules.offset(at: summer) == -8 * 3600)
        }
        // Near UTC it may have been so: London in winter.
        let london = TimeZoneDefinition(identifier: "Own", observances: [try Self.part("20260329T010000", 0, 1)])
        #expect(london.offset(at: before) == 0)
    }

    @Test("A zone that no longer changes is not one that never did")
    func former() throws {
        let definition = TimeZoneDefinition(
            identifier: "Own",
            observances: [
                try Self.part("19671029T020000", -4, -5, "FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU"),
                try Self.part("19870405T020000", -5, -4, "FREQ=YEARLY;BYMONTH=4;BYDAY=1SU;UNTIL=19980404T070000Z"),
            ])
        #expect(definition.findIdentical() == nil)
        let fixed = TimeZoneDefinition(
            identifier: "Own", observances: [try Self.part("19700101T000000", -5, -5, "FREQ=YEARLY")])
        #expect(fixed.findIdentical()?.rules.offset(at: Instant(seconds: 0)) == -5 * 3600)
    }

    @Test("A zone of many parts, changes and days is asked ten thousand times within a second")
    func absurd() throws {
        var rule = RecurrenceRule(.yearly)
        rule.byMonth = Array(1...12)
        rule.byDay = RecurrenceRule.Weekday.allCases.flatMap { day in (1...5).map { .init(day, ordinal: $0) } }
        let additions = (0..<500).map { CivilDateTime(wallSeconds: 900_000_000 + $0 * 400_000) }
        let observances = (0..<60).map { number in
            TimeZoneDefinition.Observance(
                isDaylight: false, start: CivilDateTime(wallSeconds: number * 1000), offsetFrom: 0,
                offsetTo: number * 60, rule: rule, additions: additions)
        }
        let zone = TimeZoneReference(TimeZoneDefinition(identifier: "Own", observances: observances))
        var event = Event(uid: "a", start: .zoned(Self.wall("20260101T090000"), zone))
        event.recurrence.rules = [RecurrenceRule(.daily)]
        event.recurrence.exclusions = (0..<10_000).map {
            .zoned(Self.wall("20260101T090000").adding(seconds: $0 * 3600), zone)
        }
        let series = Series(master: event, overrides: [])
        var budget = RecurrenceBudget(steps: 100_000)
        let took = effort {
            let from = Instant(seconds: 1_767_225_600)
            _ = series.overlaps(
                from: from, to: from.adding(seconds: 400 * 86_400), floatingIn: FixedOffset.utc, budget: &budget)
        }
        // Each part's rules and changes were looked at for each date before: minutes.
        #if DEBUG
        #expect(took < .seconds(20), "\(took)")
        #else
        #expect(took < .seconds(1), "\(took)")
        #endif
    }
}
