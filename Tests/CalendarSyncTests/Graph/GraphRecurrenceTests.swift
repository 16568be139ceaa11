// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import TestSupport
import Testing

@testable import CalendarSync

/// Expands patterns by counting days, as Microsoft's documents describe them, without any RFC 5545.
private enum Days {
    /// Returns the first days of a pattern, up to a last one.
    static func of(_ recurrence: GraphRecurrence, through last: CivilDate) -> [CivilDate] {
        var days: [CivilDate] = []
        var day = recurrence.start
        let firstMonth = day.year * 12 + day.month
        let weekStart = (recurrence.weekStart ?? .monday).index
        func week(_ date: CivilDate) -> Int { (date.daysSinceEpoch + 4 - weekStart).floorDivided(by: 7) }
        let firstWeek = week(day)
        while day <= last {
            let months = day.year * 12 + day.month - firstMonth
            let length = CivilDate.daysInMonth(day.month, year: day.year)
            let weekday = RecurrenceRule.Weekday.allCases[day.weekday]
            let isIn: Bool
            switch recurrence.kind {
            case .daily:
                isIn = (day.daysSinceEpoch - recurrence.start.daysSinceEpoch) % recurrence.interval == 0
            case .weekly:
                isIn = (week(day) - firstWeek) % recurrence.interval == 0 && recurrence.days.contains(weekday)
            case .absoluteMonthly:
                isIn = months % recurrence.interval == 0 && day.day == min(recurrence.dayOfMonth ?? 0, length)
            case .absoluteYearly:
                isIn =
                    (day.year - recurrence.start.year) % recurrence.interval == 0 && day.month == recurrence.month
                    && day.day == min(recurrence.dayOfMonth ?? 0, length)
            case .relativeMonthly, .relativeYearly:
                let fits = (1...length).filter { number in
                    let date = CivilDate(year: day.year, month: day.month, day: number) ?? day
                    return recurrence.days.contains(RecurrenceRule.Weekday.allCases[date.weekday])
                }
                let wanted: Int? =
                    switch recurrence.index ?? .first {
                    case .first: fits.first
                    case .second: fits.count > 1 ? fits[1] : nil
                    case .third: fits.count > 2 ? fits[2] : nil
                    case .fourth: fits.count > 3 ? fits[3] : nil
                    case .last: fits.last
                    }
                let isInTurn =
                    recurrence.kind == .relativeMonthly
                    ? months % recurrence.interval == 0
                    : (day.year - recurrence.start.year) % recurrence.interval == 0 && day.month == recurrence.month
                isIn = isInTurn && wanted == day.day
            }
            switch recurrence.end {
            case .on(let end) where day > end: return days
            case .after(let count) where days.count == count: return days
            default: break
            }
            if isIn { days.append(day) }
            day = day.adding(days: 1)
        }
        return days
    }
}

@Suite(.ownThread) struct GraphRecurrenceTests {
    private let clock = SystemTimeZones.shared.zone("Europe/Berlin")

    private func first(_ date: String) throws -> CivilDateTime {
        let day = try #require(CivilDate(iso: date))
        return try #require(CivilDateTime(date: day, hour: 9, minute: 30))
    }

    /// Returns the days of a rule by the calendar library.
    private func days(_ rule: RecurrenceRule, _ first: CivilDateTime, through last: CivilDate) throws -> [CivilDate] {
        let zone = try #require(TimeZoneReference("Europe/Berlin"))
        let times = rule.times(
            startingAt: .zoned(first, zone), through: CivilDateTime(date: last, hour: 23, minute: 59),
            limits: ExpansionLimits(maximumOccurrences: 20_000, maximumSteps: 10_000_000))
        #expect(times.isComplete)
        return times.walls.map(\.date)
    }

    @Test(
        "A rule and its pattern give the same days, and the pattern's rule is the canonical text",
        arguments: [
            ("FREQ=DAILY", "2026-11-23", "FREQ=DAILY"), ("FREQ=DAILY;INTERVAL=3;COUNT=40", "2026-11-23", nil),
            ("FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR", "2026-11-23", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
            ("FREQ=WEEKLY", "2026-11-25", "FREQ=WEEKLY;BYDAY=WE"),
            ("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,TU;WKST=SU", "2026-11-24", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU"),
            ("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,TU", "2026-11-24", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU"),
            (
                "FREQ=WEEKLY;BYDAY=MO,TH;UNTIL=20270301T083000Z", "2026-11-23",
                "FREQ=WEEKLY;UNTIL=20270301T083000Z;BYDAY=MO,TH"
            ),
            (
                "FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301T080000Z", "2026-11-23",
                "FREQ=WEEKLY;UNTIL=20270228T083000Z;BYDAY=MO"
            ),
            ("FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301", "2026-11-23", "FREQ=WEEKLY;UNTIL=20270301T083000Z;BYDAY=MO"),
            ("FREQ=WEEKLY;BYDAY=MO;UNTIL=20260701T000000Z", "2026-11-23", "FREQ=WEEKLY;COUNT=1;BYDAY=MO"),
            ("FREQ=MONTHLY", "2026-11-15", "FREQ=MONTHLY;BYMONTHDAY=15"),
            ("FREQ=MONTHLY;BYMONTHDAY=-1", "2026-11-30", "FREQ=MONTHLY;BYMONTHDAY=-1"),
            (
                "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1", "2026-11-30",
                "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1"
            ),
            ("FREQ=MONTHLY;BYMONTHDAY=28,29;BYSETPOS=-1;INTERVAL=3", "2026-11-29", nil),
            ("FREQ=MONTHLY;BYDAY=2TU", "2026-12-08", "FREQ=MONTHLY;BYDAY=2TU"),
            ("FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2", "2026-12-08", "FREQ=MONTHLY;BYDAY=2TU"),
            ("FREQ=MONTHLY;BYDAY=-1FR;INTERVAL=2;COUNT=30", "2026-11-27", nil),
            (
                "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "2026-11-30",
                "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"
            ),
            ("FREQ=MONTHLY;BYDAY=SA,SU;BYSETPOS=3", "2026-11-08", nil),
            ("FREQ=MONTHLY;BYDAY=MO,WE;BYSETPOS=1", "2026-12-02", nil),
            ("FREQ=MONTHLY;BYDAY=TU", "2026-11-24", "FREQ=WEEKLY;BYDAY=TU"),
            ("FREQ=YEARLY", "2026-11-23", "FREQ=YEARLY;BYMONTHDAY=23;BYMONTH=11"),
            ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1", "2027-02-28", "FREQ=YEARLY;BYMONTHDAY=-1;BYMONTH=2"),
            (
                "FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=-1;INTERVAL=2", "2027-04-30",
                "FREQ=YEARLY;INTERVAL=2;BYMONTHDAY=30;BYMONTH=4"
            ),
            ("FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "2027-03-28", "FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3"),
            ("FREQ=YEARLY;BYMONTH=5;BYDAY=SU,MO,TU,WE,TH,FR,SA;BYSETPOS=-1", "2027-05-31", nil),
            ("FREQ=DAILY;COUNT=1500", "2026-11-23", "FREQ=DAILY;UNTIL=20301231T083000Z"),
            ("FREQ=WEEKLY;BYDAY=WE;BYHOUR=9;BYMINUTE=30;BYSECOND=0", "2026-11-25", "FREQ=WEEKLY;BYDAY=WE"),
        ] as [(String, String, String?)])
    func sameDays(_ text: String, _ start: String, _ canonical: String?) throws {
        let clock = try #require(clock)
        let first = try first(start)
        let last = try #require(CivilDate(year: 2036, month: 12, day: 31))
        let rule = try RecurrenceRule(text)
        let pattern = try GraphRecurrence(rule, first: first, clock: clock)
        let wanted = try days(rule, first, through: last)
        #expect(Days.of(pattern, through: last) == wanted)
        let back = try pattern.rule(first: first, clock: clock)
        #expect(try days(back, first, through: last) == wanted)
        if let canonical { #expect(back.description == canonical) }
        // A second turn changes nothing, and neither does the way over JSON.
        let again = try GraphRecurrence(back, first: first, clock: clock)
        #expect(try again.rule(first: first, clock: clock).description == back.description)
        let json = try GraphRecurrence(json: pattern.json(zone: "W. Europe Standard Time"))
        #expect(try json.rule(first: first, clock: clock).description == back.description)
    }

    @Test("Any pattern of Graph's gives the same days as the rule that it is read as")
    func everyPattern() throws {
        let clock = try #require(clock)
        var generator = SplitMix(seed: 7)
        var compared = 0
        for _ in 0..<150 {
            let start = try #require(CivilDate(year: 2026, month: 1, day: 1)).adding(days: generator.below(800))
            var pattern = GraphRecurrence(kind: .daily, interval: 1 + generator.below(4), start: start)
            switch generator.below(6) {
            case 0: break
            case 1:
                pattern.kind = .weekly
                pattern.weekStart = [.monday, .sunday, .saturday][generator.below(3)]
                let days = RecurrenceRule.Weekday.allCases.filter { _ in generator.below(3) == 0 }
                pattern.days = (days + [RecurrenceRule.Weekday.allCases[start.weekday]]).inOrder
            case 2:
                pattern.kind = .absoluteMonthly
                pattern.dayOfMonth = start.day == CivilDate.daysInMonth(start.month, year: start.year) ? 31 : start.day
            case 3:
                pattern.kind = .absoluteYearly
                pattern.month = start.month
                pattern.dayOfMonth = start.day
            case let kind:
                pattern.kind = kind == 4 ? .relativeMonthly : .relativeYearly
                pattern.month = start.month
                pattern.days = [RecurrenceRule.Weekday.allCases[start.weekday]]
                pattern.index = GraphRecurrence.Index.allCases[min((start.day - 1) / 7, 4)]
                // A fifth one is the last one.
                if pattern.index != .last, start.day + 7 > CivilDate.daysInMonth(start.month, year: start.year),
                    generator.below(2) == 0
                {
                    pattern.index = .last
                }
            }
            switch generator.below(3) {
            case 0: pattern.end = .after(1 + generator.below(30))
            case 1: pattern.end = .on(start.adding(days: generator.below(2000)))
            default: break
            }
            let first = try #require(CivilDateTime(date: start, hour: 2, minute: 30))
            let last = start.adding(days: 1500)
            let rule = try pattern.rule(first: first, clock: clock)
            #expect(try days(rule, first, through: last) == Days.of(pattern, through: last), "\(pattern) \(rule)")
            let back = try GraphRecurrence(rule, first: first, clock: clock)
            #expect(try back.rule(first: first, clock: clock) == rule)
            compared += 1
        }
        #expect(compared == 150)
    }

    @Test(
        "What Outlook cannot repeat is refused with a reason",
        arguments: [
            ("FREQ=HOURLY", "2026-11-23"), ("FREQ=DAILY;BYHOUR=9,15", "2026-11-23"),
            ("FREQ=MONTHLY;BYMONTHDAY=31", "2026-12-31"), ("FREQ=MONTHLY", "2026-12-30"),
            ("FREQ=MONTHLY;BYMONTHDAY=1,15", "2026-12-01"), ("FREQ=MONTHLY;BYMONTHDAY=-2", "2026-11-29"),
            ("FREQ=MONTHLY;BYDAY=5MO", "2026-11-30"), ("FREQ=MONTHLY;BYDAY=1MO,3MO", "2026-12-07"),
            ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-2", "2026-11-23"), ("FREQ=MONTHLY;BYDAY=MO,WE;BYSETPOS=2", "2026-12-07"),
            ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "2026-11-13"), ("FREQ=YEARLY", "2028-02-29"),
            ("FREQ=YEARLY;BYWEEKNO=20", "2027-05-17"), ("FREQ=YEARLY;BYYEARDAY=100", "2027-04-10"),
            ("FREQ=YEARLY;BYMONTH=1,7", "2027-01-23"), ("FREQ=DAILY;BYMONTH=1", "2027-01-01"),
            ("FREQ=WEEKLY;BYDAY=MO", "2026-11-24"), ("FREQ=WEEKLY;INTERVAL=200", "2026-11-23"),
            ("FREQ=DAILY;INTERVAL=2;BYDAY=MO", "2026-11-23"),
        ])
    func refused(_ text: String, _ start: String) throws {
        let clock = try #require(clock)
        let first = try first(start)
        let rule = try RecurrenceRule(text)
        #expect(throws: NotExpressible.self) { _ = try GraphRecurrence(rule, first: first, clock: clock) }
        let instant = clock.instant(of: first)
        let entry = Entry(
            title: "x", span: .timed(start: instant, end: instant.adding(seconds: 3600), zone: "Europe/Berlin"),
            repetition: Repetition(rrule: text))
        let limitation = try #require(GraphExpression(entry).limitations.first)
        #expect(limitation.preventsWriting && limitation.field == .recurrence && limitation.message.hasSuffix("."))
    }

    @Test(
        "A recurrence of the wrong shape is refused, and never trusted",
        arguments: [
            #"{}"#, #"{"pattern":{"type":"daily"},"range":{"type":"noEnd","startDate":"2026-01-01"}}"#,
            #"{"pattern":{"type":"daily","interval":0},"range":{"type":"noEnd","startDate":"2026-01-01"}}"#,
            #"{"pattern":{"type":"daily","interval":9223372036854775807},"range":{"type":"noEnd","startDate":"2026-01-01"}}"#,
            #"{"pattern":{"type":"hourly","interval":1},"range":{"type":"noEnd","startDate":"2026-01-01"}}"#,
            #"{"pattern":{"type":"weekly","interval":1,"daysOfWeek":[]},"range":{"type":"noEnd","startDate":"2026-01-01"}}"#,
            #"{"pattern":{"type":"weekly","interval":1,"daysOfWeek":["moonday"]},"range":{"type":"noEnd","startDate":"2026-01-01"}}"#,
            #"{"pattern":{"type":"absoluteMonthly","interval":1,"dayOfMonth":-3},"range":{"type":"noEnd","startDate":"2026-01-01"}}"#,
            #"{"pattern":{"type":"daily","interval":1},"range":{"type":"numbered","startDate":"2026-01-01","numberOfOccurrences":-1}}"#,
            #"{"pattern":{"type":"daily","interval":1},"range":{"type":"endDate","startDate":"2026-01-01","endDate":"0000-00-00"}}"#,
            #"{"pattern":{"type":"daily","interval":1},"range":{"type":"for ever","startDate":"2026-01-01"}}"#,
            #"{"pattern":{"type":"daily","interval":1},"range":{"type":"noEnd","startDate":"2026-02-30"}}"#,
            #"{"pattern":[],"range":7}"#,
        ])
    func hostile(_ text: String) throws {
        let json = try JSONValue(parsing: text.utf8)
        #expect(throws: NotExpressible.self) { _ = try GraphRecurrence(json: json) }
    }
}
