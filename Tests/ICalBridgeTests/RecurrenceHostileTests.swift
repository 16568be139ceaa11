// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import TestSupport
import Testing

/// Rules that keep other engines busy for seconds or for ever.
private let hostile = [
    "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=SECONDLY;BYMONTH=12", "FREQ=SECONDLY;BYMONTHDAY=-1", "FREQ=SECONDLY", "FREQ=SECONDLY;COUNT=10000000",
    "FREQ=SECONDLY;BYHOUR=3;COUNT=10000000", "FREQ=SECONDLY;INTERVAL=60;BYSECOND=17",
    "FREQ=SECONDLY;INTERVAL=3600;BYMINUTE=17", "FREQ=SECONDLY;INTERVAL=86400;BYHOUR=1",
    "FREQ=MINUTELY;INTERVAL=1440;BYMINUTE=1", "FREQ=HOURLY;INTERVAL=24;BYHOUR=1", "FREQ=HOURLY;INTERVAL=25;BYHOUR=1",
    "FREQ=SECONDLY;INTERVAL=86399;BYHOUR=1;BYMINUTE=1;BYSECOND=1;BYMONTH=2;BYMONTHDAY=29",
    "FREQ=SECONDLY;INTERVAL=61;BYYEARDAY=366;BYDAY=SU;BYMONTH=12", "FREQ=DAILY;INTERVAL=7;BYDAY=TU",
    "FREQ=DAILY;INTERVAL=7;BYDAY=TU;COUNT=10000000", "FREQ=MONTHLY;INTERVAL=12;BYMONTH=2;BYMONTHDAY=31",
    "FREQ=YEARLY;INTERVAL=100000;BYDAY=53MO", "FREQ=YEARLY;BYMONTH=3;BYDAY=6MO", "FREQ=YEARLY;BYWEEKNO=53;BYMONTH=6",
    "FREQ=YEARLY;BYWEEKNO=1,53;BYMONTHDAY=15;COUNT=10000000", "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6",
    "FREQ=YEARLY;BYYEARDAY=366;BYMONTHDAY=1;BYDAY=MO", "FREQ=DAILY;BYMONTHDAY=-1;COUNT=10000000",
    "FREQ=DAILY;COUNT=10000000", "FREQ=WEEKLY;COUNT=10000000;BYDAY=SU,MO,TU,WE,TH,FR,SA;BYMONTH=2",
]

@Suite("Recurrence: hostile rules stay within their budget", .ownThread)
struct RecurrenceHostile {
    private static let start = EventTime.utc(Instant(seconds: 946_684_800))  // 2000-01-01T00:00:00Z

    /// Returns a rule for every second of every minute of every hour, every day of the year.
    private static func everything(_ frequency: RecurrenceRule.Frequency) -> RecurrenceRule {
        var rule = RecurrenceRule(frequency)
        rule.bySecond = Array(0...59)
        rule.byMinute = Array(0...59)
        rule.byHour = Array(0...23)
        rule.byDay = RecurrenceRule.Weekday.allCases.map { .init($0) }
        return rule
    }

    private func check(_ rule: RecurrenceRule, _ name: String) {
        var event = Event(uid: "hostile", start: Self.start)
        event.recurrence.rules = [rule]
        let series = Series(master: event, overrides: [])
        var expansion = Expansion(occurrences: [], isComplete: true)
        let near = effort {
            expansion = series.occurrences(
                from: Instant(seconds: 1_767_225_600), to: Instant(seconds: 1_830_297_600), floatingIn: FixedOffset.utc)
        }
        #expect(expansion.occurrences.count <= 10_000)
        let whole = effort { _ = rule.times(startingAt: Self.start) }
        let end = effort { _ = series.end(floatingIn: FixedOffset.utc) }
        #if DEBUG
        // Unoptimised code takes about 30 times as long.
        let most = Duration.seconds(3)
        #else
        let most = Duration.milliseconds(Programs.isSanitized ? 250 : 50)
        #endif
        #expect(near < most && whole < most && end < most, "\(name): \(near), \(whole), \(end)")
    }

    @Test("A rule that seldom or never applies, or applies every second, is done within 50 ms", arguments: hostile)
    func bounded(_ text: String) throws {
        let rule = try RecurrenceRule(text)
        check(rule, text)
    }

    @Test("The largest BY parts are done within 50 ms", arguments: RecurrenceRule.Frequency.allCases)
    func largest(_ frequency: RecurrenceRule.Frequency) {
        var rule = Self.everything(frequency)
        check(rule, "everything \(frequency)")
        rule.bySetPosition = Array(1...366) + Array(-366 ... -1)
        check(rule, "everything with positions \(frequency)")
        rule.bySetPosition = [366]
        rule.interval = 7
        check(rule, "one position \(frequency)")
    }

    @Test("A value that no parser makes is harmless", arguments: RecurrenceRule.Frequency.allCases)
    func absurd(_ frequency: RecurrenceRule.Frequency) {
        for extreme in [Int.min, -1_000_000, -1, 0, 61, 1_000_000, Int.max] {
            var rule = RecurrenceRule(frequency)
            rule.interval = extreme
            check(rule, "interval \(extreme)")
            rule = RecurrenceRule(frequency)
            rule.count = extreme
            check(rule, "count \(extreme)")
            rule = Self.everything(frequency)
            rule.byDay = [.init(.monday, ordinal: extreme)]
            rule.byHour = [extreme]
            rule.byMinute = [extreme]
            rule.bySecond = [extreme]
            check(rule, "time \(extreme)")
            rule = RecurrenceRule(frequency)
            rule.byMonth = [extreme]
            rule.byMonthDay = [extreme]
            rule.byYearDay = [extreme]
            rule.bySetPosition = [extreme]
            check(rule, "day \(extreme)")
            rule.byWeekNumber = [extreme]
            check(rule, "week \(extreme)")
        }
    }

    @Test("A rule that can never apply is known to be done, not given up")
    func impossible() throws {
        let never = [
            "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;INTERVAL=7;BYDAY=TU",
            "FREQ=SECONDLY;INTERVAL=60;BYSECOND=17",
            "FREQ=SECONDLY;INTERVAL=3600;BYMINUTE=17", "FREQ=HOURLY;INTERVAL=24;BYHOUR=1",
            "FREQ=YEARLY;BYWEEKNO=53;BYMONTH=6",
        ]
        for text in never {
            let times = try RecurrenceRule(text).times(startingAt: Self.start)
            #expect(times.isComplete && times.walls.count == 1, "\(text)")
        }
    }

    @Test("A limit that is reached is reported")
    func limits() throws {
        let rule = try RecurrenceRule("FREQ=SECONDLY")
        let few = rule.times(startingAt: Self.start, limits: ExpansionLimits(maximumOccurrences: 3))
        #expect(few.walls.count == 3 && !few.isComplete)
        let short = try RecurrenceRule("FREQ=DAILY;BYMONTH=3").times(
            startingAt: Self.start, limits: ExpansionLimits(maximumSteps: 2))
        #expect(!short.isComplete)
        let exact = try RecurrenceRule("FREQ=DAILY;COUNT=3").times(
            startingAt: Self.start, limits: ExpansionLimits(maximumOccurrences: 3))
        #expect(exact.walls.count == 3 && exact.isComplete)
    }

    @Test("A rule of seconds without COUNT, or with a plain one, is seen far from DTSTART")
    func farAway() throws {
        var event = Event(uid: "far", start: Self.start)
        for text in ["FREQ=SECONDLY;INTERVAL=7", "FREQ=SECONDLY;INTERVAL=7;COUNT=1000000000"] {
            var rule = try RecurrenceRule("FREQ=SECONDLY;INTERVAL=7")
            if text.contains("COUNT") { rule.count = 1_000_000_000 }
            event.recurrence.rules = [rule]
            let found = Series(master: event, overrides: []).occurrences(
                from: Instant(seconds: 1_767_225_600), to: Instant(seconds: 1_767_225_660), floatingIn: FixedOffset.utc)
            let expected = (1_767_225_600..<1_767_225_660).filter { ($0 - 946_684_800) % 7 == 0 }
            #expect(found.occurrences.map { $0.start.civil.wallSeconds } == expected)
            #expect(found.isComplete)
        }
    }
}
