// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Testing

@Suite("Recurrence: clocks that change, leap days and ends of months")
struct RecurrenceClocks {
    @Test("Daily at 02:30 in New York moves forward on the day that has no 02:30, and is back the day after")
    func gap() throws {
        let event = try Recurring.event(
            "20260307T023000", "America/New_York", for: .init(seconds: 3600), rules: "FREQ=DAILY;COUNT=3")
        #expect(
            Recurring.all(Series(master: event, overrides: []))
                == ["20260307T073000Z/PT1H", "20260308T073000Z/PT1H", "20260309T063000Z/PT1H"])
    }

    @Test("Daily at 02:00 in Zurich is 02:00 again on 27 March 2023")
    func zurich() throws {
        let event = try Recurring.event("20230325T020000", "Europe/Zurich", rules: "FREQ=DAILY;COUNT=3")
        #expect(
            Recurring.all(Series(master: event, overrides: []))
                == ["20230325T010000Z/PT0S", "20230326T010000Z/PT0S", "20230327T000000Z/PT0S"])
    }

    @Test("Daily at 01:30 in New York is the first 01:30 of the day that has two")
    func overlap() throws {
        let event = try Recurring.event("20261031T013000", "America/New_York", rules: "FREQ=DAILY;COUNT=3")
        #expect(
            Recurring.all(Series(master: event, overrides: []))
                == ["20261031T053000Z/PT0S", "20261101T053000Z/PT0S", "20261102T063000Z/PT0S"])
    }

    @Test("Hourly rules step on the wall clock: an hour that is skipped falls on the next and is one occurrence")
    func hourly() throws {
        let rule = try RecurrenceRule("FREQ=HOURLY;COUNT=4")
        let start = try Recurring.time("20260308T010000", "America/New_York")
        let instants = rule.instants(startingAt: start, floatingIn: Recurring.utc).instants
        #expect(
            instants.map(\.basic) == ["20260308T060000Z", "20260308T070000Z", "20260308T070000Z", "20260308T080000Z"])
        let event = try Recurring.event("20260308T010000", "America/New_York", rules: "FREQ=HOURLY;COUNT=4")
        #expect(Recurring.all(Series(master: event, overrides: [])).count == 3)
    }

    @Test("Lengths: a DTEND is exact, a DURATION of days is a day of the clock, whole days stay whole")
    func lengths() throws {
        var event = try Recurring.event("20260307T120000", "America/New_York", rules: "FREQ=DAILY;COUNT=2")
        event.end = .time(try Recurring.time("20260308T120000", "America/New_York"))
        // The first lasts 23 hours, because the night is short; so do all, exactly.
        #expect(
            Recurring.all(Series(master: event, overrides: [])) == ["20260307T170000Z/PT23H", "20260308T160000Z/PT23H"])
        event.end = .duration(.init(days: 1))
        #expect(
            Recurring.all(Series(master: event, overrides: [])) == ["20260307T170000Z/PT23H", "20260308T160000Z/PT24H"])
        event.end = .time(try Recurring.time("20260307T190000", "Europe/Berlin"))
        #expect(
            Recurring.all(Series(master: event, overrides: [])) == ["20260307T170000Z/PT1H", "20260308T160000Z/PT1H"])
        var days = try Recurring.event("20260307", rules: "FREQ=DAILY;INTERVAL=3;COUNT=2")
        days.end = .time(try Recurring.time("20260309"))
        #expect(Recurring.all(Series(master: days, overrides: [])) == ["20260307/P2D", "20260310/P2D"])
    }

    @Test("An UNTIL in UTC is an instant: it lets 09:00 in New York pass in summer but not an hour later in winter")
    func untilInUTC() throws {
        let summer = try Recurring.event(
            "20260705T090000", "America/New_York", rules: "FREQ=DAILY;UNTIL=20260708T130000Z")
        #expect(Recurring.all(Series(master: summer, overrides: [])).count == 4)
        let winter = try Recurring.event(
            "20260105T090000", "America/New_York", rules: "FREQ=DAILY;UNTIL=20260108T133000Z")
        #expect(Recurring.all(Series(master: winter, overrides: [])).count == 3)
        let floating = try Recurring.event("20260105T090000", rules: "FREQ=DAILY;UNTIL=20260108T090000")
        #expect(Recurring.all(Series(master: floating, overrides: [])).count == 4)
        let day = try Recurring.event("20260105", rules: "FREQ=DAILY;UNTIL=20260108")
        #expect(Recurring.all(Series(master: day, overrides: [])).count == 4)
        let mixed = try Recurring.event("20260105T090000", "America/New_York", rules: "FREQ=DAILY;UNTIL=20260108")
        #expect(Recurring.all(Series(master: mixed, overrides: [])).count == 4)
    }

    @Test(
        "The memory of a zone's offsets gives what the zone itself gives, through gaps, overlaps and Ramadans",
        arguments: ["America/New_York", "Africa/Casablanca", "Australia/Lord_Howe", "Pacific/Apia", "Europe/Dublin"])
    func conversion(_ name: String) throws {
        let zone = try #require(TimeZoneReference(name))
        let start = EventTime.zoned(try #require(CivilDateTime(basic: "20100101T000000")), zone)
        let rule = try RecurrenceRule("FREQ=MINUTELY;INTERVAL=37;UNTIL=20300101T000000Z")
        let limits = ExpansionLimits(maximumOccurrences: 300_000)
        let walls = rule.times(startingAt: start, limits: limits).walls
        let instants = rule.instants(startingAt: start, floatingIn: Recurring.utc, limits: limits).instants
        #expect(walls.count > 280_000 && instants == walls.map { zone.rules.instant(of: $0) })
    }

    @Test("February 29 comes every leap year, and a month without a 31st is left out")
    func leapDays() throws {
        let leap = try Recurring.event("20240229", rules: "FREQ=YEARLY;COUNT=3")
        #expect(Recurring.all(Series(master: leap, overrides: [])) == ["20240229/P1D", "20280229/P1D", "20320229/P1D"])
        let century = try RecurrenceRule("FREQ=YEARLY").times(
            startingAt: try Recurring.time("20960229"), limits: .init(maximumOccurrences: 2))
        #expect(century.walls.map(\.date.basic) == ["20960229", "21040229"])
        let months = try Recurring.event("20260131", rules: "FREQ=MONTHLY;COUNT=4")
        #expect(
            Recurring.all(Series(master: months, overrides: []))
                == ["20260131/P1D", "20260331/P1D", "20260531/P1D", "20260731/P1D"])
    }

    @Test("Times before 1970 and up to the last day of 9999 are found")
    func edges() throws {
        let old = try RecurrenceRule("FREQ=WEEKLY;BYDAY=SA,SU;COUNT=3").times(
            startingAt: try Recurring.time("19000106T120000"))
        #expect(old.walls.map(\.basic) == ["19000106T120000", "19000107T120000", "19000113T120000"])
        let first = try RecurrenceRule("FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO;COUNT=2").times(
            startingAt: try Recurring.time("00010101"))
        #expect(first.walls.map(\.date.basic) == ["00010101", "00011231"])
        let last = try RecurrenceRule("FREQ=DAILY").times(startingAt: try Recurring.time("99991230"))
        #expect(last.walls.map(\.date.basic) == ["99991230", "99991231"] && last.isComplete)
    }
}
