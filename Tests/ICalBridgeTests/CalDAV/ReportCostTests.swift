// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

/// Objects and questions that would keep a processor busy for minutes if each condition, line or component were looked at
/// each time. The bounds are those of unoptimized code beside hundreds of other tests.
@Suite("CalDAV reports: what one object costs")
struct ReportCostTests {
    private static let most = Duration.seconds(60)

    private func text(_ lines: [String]) -> [UInt8] { Array(Reading.calendar(lines).utf8) }

    private func time(_ work: () throws -> Void) rethrows -> Duration {
        let clock = ContinuousClock()
        return try clock.measure(work)
    }

    @Test("A long text is folded once for a collation, however many conditions look at it")
    func conditions() throws {
        let event = text(
            ["BEGIN:VEVENT", "UID:a", "DTSTAMP:20260101T000000Z", "DTSTART:20260110T100000Z"]
                + ["X-A;X-P=\"\(String(repeating: "p", count: 200_000))\":" + String(repeating: "y", count: 200_000)]
                + ["END:VEVENT"])
        let match = "<C:text-match negate-condition=\"yes\" collation=\"i;unicode-casemap\">zz</C:text-match>"
        let condition =
            "<C:prop-filter name=\"X-A\">\(match)<C:param-filter name=\"X-P\">\(match)</C:param-filter></C:prop-filter>"
        let filter = try Asked.filter("VEVENT", String(repeating: condition, count: 99))
        var isMet = false
        #expect(try time { isMet = try Asked.holds(filter, event) } < Self.most)
        #expect(isMet)
        // Parts of the same component that another part of the filter looks at are known, too.
        let nested = String(repeating: "<C:comp-filter name=\"VEVENT\">\(condition)</C:comp-filter>", count: 60)
        let again = try Asked.filter(nested, in: "VCALENDAR")
        #expect(try time { isMet = try Asked.holds(again, event) } < Self.most)
        #expect(isMet)
    }

    @Test("A zone is read once, however many lines name it")
    func zones() throws {
        var zone = ["BEGIN:VTIMEZONE", "TZID:Own"]
        for year in 1000..<2000 {
            zone += ["BEGIN:STANDARD", "DTSTART:\(year)0101T000000", "TZOFFSETFROM:+0100", "TZOFFSETTO:+0100"]
            zone += ["END:STANDARD"]
        }
        let lines = (0..<5_000).map { _ in "X-A;TZID=Own:20060103T120000" }
        let event = text(
            zone + ["END:VTIMEZONE", "BEGIN:VEVENT", "UID:a", "DTSTAMP:20260101T000000Z"]
                + ["DTSTART;TZID=Own:20060103T120000"] + lines + ["END:VEVENT"])
        let data = try Asked.data(Asked.range("0101T000000", "0105T000000", "expand"))
        var found: [String] = []
        #expect(try time { found = try Asked.lines(data, of: event) } < Self.most)
        #expect(found.count { $0 == "X-A:20060103T110000Z" } == 5_000)
    }

    @Test("All looks at one object share their steps, and what these do not decide counts as met")
    func steps() throws {
        // Each of them replaces all that follow, so each is a series by itself.
        let overrides = (0..<1_500).flatMap { number in
            let day = CivilDate(daysSinceEpoch: 13_150 + number)
            let stamp = "\(day)".replacing("-", with: "") + "T100000Z"
            return [
                "BEGIN:VEVENT", "UID:a", "DTSTAMP:20260101T000000Z", "RECURRENCE-ID;RANGE=THISANDFUTURE:\(stamp)",
                "DTSTART:\(stamp)", "END:VEVENT",
            ]
        }
        let series = text(
            ["BEGIN:VEVENT", "UID:a", "DTSTAMP:20260101T000000Z", "DTSTART:20060101T100000Z", "RRULE:FREQ=DAILY"]
                + ["END:VEVENT"] + overrides)
        let asked = (10..<59).map { minute in
            "<C:comp-filter name=\"VEVENT\">\(Asked.range("0110T03\(minute)00", "0110T04\(minute)00"))</C:comp-filter>"
        }
        let filter = try Asked.filter(asked.joined(), in: "VCALENDAR")
        // At three o'clock there is nothing, which takes more steps to know than all looks may take together.
        #expect(try time { _ = try Asked.holds(filter, series) } < Self.most)
    }

    @Test("Thousands of alarms of one event are looked at with the steps of one object")
    func alarms() throws {
        let alarms = (0..<3_000).flatMap { _ in
            ["BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT1H", "DESCRIPTION:x", "END:VALARM"]
        }
        let event = text(
            ["BEGIN:VEVENT", "UID:a", "DTSTAMP:20260101T000000Z", "DTSTART:20060110T100000Z"]
                + ["RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29"] + alarms + ["END:VEVENT"])
        let range = Asked.range("0111T000000", "0112T000000")
        let filter = try Asked.filter(
            "VEVENT", "<C:comp-filter name=\"VALARM\">\(range)</C:comp-filter>")
        #expect(try time { _ = try Asked.holds(filter, event) } < Self.most)
    }
}
