// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Calendar
@testable import ICalBridge

@Suite("Recurrence: work is counted, shared and bounded", .ownThread)
struct RecurrenceWorkTests {
    private static let utc = FixedOffset.utc
    private static let hours = (0..<24).map(String.init).joined(separator: ",")
    private static let sixty = (0..<60).map(String.init).joined(separator: ",")
    /// A rule for all seconds of all days, of which only the last of a year counts.
    private static let lastSecond =
        "FREQ=YEARLY;BYDAY=SU,MO,TU,WE,TH,FR,SA;BYHOUR=\(hours);BYMINUTE=\(sixty);BYSECOND=\(sixty);BYSETPOS=-1"

    private static func series(_ text: String, from start: String = "19000101T000000Z") throws -> Series {
        Series(master: try Recurring.event(start, rules: text), overrides: [])
    }

    private static func steps(_ work: (inout RecurrenceBudget) -> Void) -> Int {
        var budget = RecurrenceBudget(steps: 1 << 40)
        work(&budget)
        return 1 << 40 - budget.left
    }

    @Test("The last of all seconds of a year is found without a look at the others")
    func lastOfMany() throws {
        let series = try Self.series(Self.lastSecond)
        let rule = try #require(series.master?.recurrence.rules.first)
        let used = Self.steps { budget in
            let times = rule.times(
                startingAt: .utc(Instant(seconds: 0)), maximum: 100, budget: &budget)
            #expect(times.walls.count == 100)
            #expect(times.walls.last?.description == "2068-12-31T23:59:59")
        }
        #expect(used < 2000)
        // None of the 86,400 times of a day is written down.
        let all = TimesOfDay(hours: Array(0..<24), minutes: Array(0..<60), seconds: Array(0..<60))
        #expect(all.count == 86_400 && all[86_399] == 86_399 && all.index(notBefore: 4711) == 4711)
        #expect(MemoryLayout<TimesOfDay>.size < 64)
    }

    @Test("Positions are found in sets of any size, each once and in order")
    func positions() {
        let positions = SetPositions([3, -1, 1, -3, 3, -86_400, 0, 86_401])
        #expect(positions.indices(among: 3) == [0, 2])
        #expect(positions.indices(among: 5) == [0, 2, 4])
        #expect(positions.indices(among: 86_400) == [0, 2, 86_397, 86_399])
        #expect(positions.indices(among: 0).isEmpty)
    }

    @Test(
        "Where COUNT ends a rule is counted by whole periods",
        arguments: [
            ("FREQ=YEARLY;BYHOUR=\(hours);BYMINUTE=\(sixty);COUNT=10000000", 300_000),
            ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=\(hours);COUNT=100000", 3000),
            ("FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;COUNT=100000", 20_000), ("FREQ=WEEKLY;BYDAY=MO,WE,FR;COUNT=15000", 6000),
            ("FREQ=DAILY;BYHOUR=9;COUNT=2000000", 200), ("FREQ=HOURLY;COUNT=5000000", 200),
        ])
    func count(_ text: String, _ most: Int) throws {
        let series = try Self.series(text, from: "20000103T080000Z")
        var end = SeriesEnd.unknown
        let used = Self.steps { end = series.end(floatingIn: Self.utc, budget: &$0) }
        #expect(used < most, "\(used)")
        guard case .at(let last) = end else {
            Issue.record("\(end)")
            return
        }
        // What is counted by periods is what is found one by one.
        let rule = try #require(series.master?.recurrence.rules.first)
        var before = rule
        before.count = nil
        let start = try #require(series.master?.start)
        let walls = before.times(startingAt: start, from: last.utc, through: last.utc, startConvention: .ifItMatches)
        #expect(walls.walls == [last.utc])
        #expect(rule.times(startingAt: start, from: last.utc.adding(seconds: 1)).walls.isEmpty)
        #expect(rule.times(startingAt: start, from: last.utc).walls == [last.utc])
    }

    @Test(
        "A count begins with DTSTART also where that has another time of day than the rule",
        arguments: [
            "FREQ=DAILY;COUNT=7;BYSECOND=36", "FREQ=DAILY;INTERVAL=3;COUNT=7;BYHOUR=0",
            "FREQ=HOURLY;COUNT=9;BYMINUTE=7",
        ])
    func countOffTheHour(_ text: String) throws {
        let rule = try RecurrenceRule(text)
        let start = try Recurring.time("20190327T204500Z")
        for convention in [RecurrenceRule.StartConvention.always, .ifItMatches] {
            let all = rule.times(startingAt: start, startConvention: convention).walls
            #expect(all.count == rule.count)
            for from in all {
                let later = rule.times(startingAt: start, from: from, startConvention: convention).walls
                #expect(later == all.filter { $0 >= from })
            }
        }
    }

    @Test(
        "A rule that never gives another time is seen to within one turn of the calendar",
        arguments: [
            "FREQ=DAILY;INTERVAL=7;BYDAY=TU", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
            "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30",
            "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=WEEKLY;INTERVAL=20871;BYMONTH=7;BYDAY=MO",
            "FREQ=HOURLY;INTERVAL=168;BYDAY=WE", "FREQ=SECONDLY;INTERVAL=2;BYSECOND=1,3,59",
            "FREQ=MINUTELY;INTERVAL=60;BYMINUTE=1",
        ])
    func never(_ text: String) throws {
        let series = try Self.series(text)
        let start = try #require(series.master?.start?.instant(floatingIn: Self.utc))
        let used = Self.steps { #expect(series.end(floatingIn: Self.utc, budget: &$0) == .at(start)) }
        #expect(used < 6000, "\(used)")
    }

    @Test("A rule is given up after as many steps as one series may take, and no other is held up")
    func bounded() throws {
        let costly = [
            Self.lastSecond + ";COUNT=1000000", "FREQ=WEEKLY;BYDAY=MO;BYMONTH=2;COUNT=1000000",
            "FREQ=SECONDLY;INTERVAL=7;BYSECOND=1;BYDAY=MO;COUNT=10000000",
            "FREQ=YEARLY;BYWEEKNO=1,2,3;BYDAY=MO;COUNT=100000",
            "FREQ=HOURLY;BYHOUR=3;BYMONTHDAY=13;BYDAY=FR;COUNT=100000",
        ]
        for text in costly {
            let series = try Self.series(text)
            var budget = RecurrenceBudget(steps: 1_000_000)
            #expect(series.followed(floatingIn: Self.utc, budget: &budget) == nil, "\(text)")
            #expect(!budget.isSpent && budget.left >= 1_000_000 - RecurrenceBudget.perSeries - 1)
            let usual = try Self.series("FREQ=WEEKLY;COUNT=10", from: "20260105T090000Z")
            #expect(usual.followed(floatingIn: Self.utc, budget: &budget) != nil)
        }
        // What is left is shared, and not more.
        var small = RecurrenceBudget(steps: 50)
        let usual = try Self.series("FREQ=WEEKLY;COUNT=10", from: "20260105T090000Z")
        var done = 0
        while usual.followed(floatingIn: Self.utc, budget: &small) != nil { done += 1 }
        #expect(done > 0 && done < 20 && small.isSpent)
        #expect(
            usual.overlaps(from: Instant(seconds: 0), to: Instant(seconds: 1), floatingIn: Self.utc, budget: &small)
                == nil)
    }

    @Test("Every rule of the RFC's examples and of other programs' files takes at most a tenth of what one may")
    func realRules() throws {
        var found = try rfcExamples.map { (name: $0.title, series: try Self.series($0.rule, from: $0.start)) }
        // The samples have rules that are endless on purpose, which are bounded by the tests above.
        for file in CalendarFile.all where !file.path.hasPrefix("Samples/malformed/") {
            found += Series.group(try file.read().events).map { (file.path, $0) }
        }
        let repeated = found.filter { $0.series.master?.recurrence.isEmpty == false }
        for (name, series) in repeated {
            let used = Self.steps { _ = series.followed(floatingIn: Self.utc, budget: &$0) }
            #expect(used - 2 * series.listedCount < RecurrenceBudget.perSeries / 10, "\(name)")
        }
        #expect(repeated.count > CalendarFile.least(samples: 50, foreign: 300))
    }

    @Test("Twice as many EXDATEs, RDATEs or overrides cost twice as much, and a date of them is found as before")
    func lists() throws {
        let start = try Recurring.time("20000101T080000", "Europe/Berlin")
        func event(_ count: Int) throws -> Event {
            var event = try Recurring.event("20000101T080000", "Europe/Berlin", rules: "FREQ=DAILY")
            event.recurrence.exclusions = (0..<count).map {
                start.with(civil: start.civil.adding(seconds: $0 * 86_400))
            }
            event.recurrence.additions = (0..<count).map {
                .init(start: start.with(civil: start.civil.adding(seconds: $0 * 86_400 + 60)))
            }
            return event
        }
        func used(_ count: Int) throws -> Int {
            let series = Series(master: try event(count), overrides: [])
            return Self.steps { budget in
                let day = Instant(seconds: 1_000_000_000)
                _ = series.overlaps(from: day, to: day.adding(seconds: 60), floatingIn: Self.utc, budget: &budget)
            }
        }
        #expect(try used(2000) * 2 >= used(4000) && used(4000) < 20_000)
        var overrides: [Event] = []
        for number in 0..<2000 {
            var event = Event(
                uid: "one", recurrenceID: start.with(civil: start.civil.adding(seconds: number * 86_400)), start: nil)
            event.start = event.recurrenceID.map { $0.with(civil: $0.civil.adding(seconds: 3600)) }
            event.appliesToFuture = true
            overrides.append(event)
        }
        let master = try Recurring.event("20000101T080000", "Europe/Berlin", rules: "FREQ=DAILY;COUNT=2100")
        let found = Series(master: master, overrides: overrides).occurrences(
            from: Instant(seconds: 0), to: Instant(seconds: 4_000_000_000), floatingIn: Self.utc)
        #expect(found.occurrences.count == 2100 && found.isComplete)
        #expect(found.occurrences.allSatisfy { $0.start.civil.hour == 9 })
    }

    @Test("Whether anything lies in a window is decided as by a full expansion", arguments: 1...40)
    func overlaps(_ seed: Int) throws {
        let rules = [
            "FREQ=WEEKLY;BYDAY=MO,WE", "FREQ=MONTHLY;BYMONTHDAY=31;COUNT=9",
            "FREQ=DAILY;INTERVAL=9;UNTIL=20270301T000000Z",
            "FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3", "FREQ=HOURLY;INTERVAL=77", "FREQ=DAILY;BYHOUR=2;BYMINUTE=30",
        ]
        let (zone, text) = (["Europe/Berlin", "America/New_York", nil][seed % 3], rules[seed % rules.count])
        var event = try Recurring.event(
            seed % 4 == 0 ? "20260105" : "20260105T02300\(seed % 10)", seed % 4 == 0 ? nil : zone,
            for: seed % 4 == 0 ? .init(days: 1) : .init(seconds: 5400), rules: text)
        event.recurrence.additions = [.init(start: try #require(event.start), end: .duration(.init(days: seed % 3)))]
        event.recurrence.exclusions = [try Recurring.time("20260112")]
        let moved = try Recurring.override("20260119T023000", "20260404T120000", zone, future: seed % 5 == 0)
        let series = Series(master: event, overrides: seed % 2 == 0 ? [moved] : [])
        for day in stride(from: 0, to: 500, by: 7) {
            for length in [1, 7200, 3 * 86_400] {
                let from = Instant(seconds: 1_767_225_600 + day * 86_400 + seed * 977)
                let to = from.adding(seconds: length)
                let all = series.occurrences(from: from, to: to, floatingIn: Self.utc)
                var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
                let isIn = series.overlaps(from: from, to: to, floatingIn: Self.utc, budget: &budget)
                #expect(isIn == !all.occurrences.isEmpty, "\(text) \(from) \(length)")
            }
        }
    }

    @Test("Which instants are starts is decided as by an expansion, also around changes of the clock")
    func starts() throws {
        for text in ["FREQ=DAILY;COUNT=400", "FREQ=HOURLY;INTERVAL=5", "FREQ=WEEKLY;BYDAY=SU;UNTIL=20261201T000000Z"] {
            let event = try Recurring.event("20260105T023000", "Europe/Berlin", rules: text)
            let series = Series(master: event, overrides: [])
            let found = series.occurrences(
                from: Instant(seconds: 1_767_225_600), to: Instant(seconds: 1_800_000_000), floatingIn: Self.utc)
            let all = Set(found.occurrences.map { $0.start.instant(floatingIn: Self.utc) })
            let asked = all.flatMap { [$0, $0.adding(seconds: 3600), $0.adding(seconds: -1)] }
            var budget = RecurrenceBudget(steps: 1_000_000)
            let listed = series.starts(among: asked, floatingIn: Self.utc, budget: &budget)
            #expect(listed == Set(asked.filter(all.contains)))
            // A count is made once for all.
            #expect(1_000_000 - budget.left < asked.count * 40)
        }
    }
}
