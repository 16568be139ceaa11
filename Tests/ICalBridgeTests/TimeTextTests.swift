// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ICalBridge

@Suite("The text of dates and times")
struct TimeTextTests {
    @Test("Numbers have the width that the formats demand, also where a year has more or fewer digits")
    func widths() throws {
        let date = CivilDate(uncheckedYear: 2026, month: 1, day: 9)
        #expect((date.basic, date.description) == ("20260109", "2026-01-09"))
        let early = CivilDate(uncheckedYear: 7, month: 12, day: 31)
        #expect((early.basic, early.description) == ("00071231", "0007-12-31"))
        let late = CivilDate(uncheckedYear: 12_345, month: 2, day: 3)
        #expect((late.basic, late.description) == ("123450203", "12345-02-03"))
        let wall = try #require(CivilDateTime(date: date, hour: 7, minute: 5, second: 3))
        #expect((wall.basic, wall.description) == ("20260109T070503", "2026-01-09T07:05:03"))
        let instant = Instant(utc: wall)
        #expect((instant.basic, instant.description) == ("20260109T070503Z", "2026-01-09T07:05:03Z"))
        let far = Instant(seconds: 1 << 40)
        #expect((far.basic, far.description) == ("368120220T003616Z", "36812-02-20T00:36:16Z"))
        let before = Instant(seconds: -70_000_000_000)
        #expect(before.description == "-249-10-15T19:33:20Z")
    }

    @Test("The first and the last second of every year are written as they are read")
    func years() throws {
        for year in 1...9999 {
            let first = CivilDateTime(startOf: CivilDate(uncheckedYear: year, month: 1, day: 1))
            for time in [first, first.adding(seconds: -1)] where time.date.year >= 1 {
                #expect(CivilDateTime(basic: time.basic) == time)
                #expect(Instant(rfc3339: Instant(utc: time).description) == Instant(utc: time))
                #expect(CivilDate(iso: time.date.description) == time.date)
            }
        }
    }
}
