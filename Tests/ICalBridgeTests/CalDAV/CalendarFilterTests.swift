// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

@Suite("CalDAV reports: filters and data")
struct CalendarFilterTests {
    private func text(_ lines: [String]) -> [UInt8] { Array(Reading.calendar(lines).utf8) }

    private func part(_ name: String, _ lines: String...) -> [UInt8] {
        text(["BEGIN:\(name)", "UID:a", "DTSTAMP:20260101T000000Z"] + lines + ["END:\(name)"])
    }

    private func isWithin(
        _ name: String, _ text: [UInt8], _ start: String, _ end: String, in zone: any TimeZoneRules = FixedOffset.utc
    ) throws -> Bool {
        try Asked.holds(try Asked.filter(name, Asked.range(start, end)), text, in: zone)
    }

    private func fault(_ filter: () throws -> CalendarFilter) -> CalendarReportFault? {
        do {
            _ = try filter()
            return nil
        } catch {
            return error as? CalendarReportFault
        }
    }

    @Test("An event is within a span that it overlaps, and not in one that it only touches")
    func events() throws {
        let event = part("VEVENT", "DTSTART:20060110T100000Z", "DTEND:20060110T110000Z")
        #expect(try isWithin("VEVENT", event, "0110T103000", "0110T104000"))
        #expect(try !isWithin("VEVENT", event, "0110T110000", "0110T120000"))
        #expect(try !isWithin("VEVENT", event, "0110T090000", "0110T100000"))
        let moment = part("VEVENT", "DTSTART:20060110T100000Z")
        #expect(try isWithin("VEVENT", moment, "0110T100000", "0110T100100"))
        #expect(try !isWithin("VEVENT", moment, "0110T095900", "0110T100000"))
    }

    @Test("A day is on the clock that the report names")
    func days() throws {
        let day = part("VEVENT", "DTSTART;VALUE=DATE:20060110")
        let rome = try #require(ReportZone.rules(named: "Europe/Rome"))
        #expect(try isWithin("VEVENT", day, "0109T233000", "0109T234000", in: rome))
        #expect(try !isWithin("VEVENT", day, "0109T233000", "0109T234000"))
        #expect(try !isWithin("VEVENT", day, "0110T233000", "0110T234000", in: rome))
        let zone = try #require(ReportZone.rules(ofCalendar: AppendixB.text(of: "abcd1.ics")))
        #expect(try isWithin("VEVENT", day, "0111T043000", "0111T044000", in: zone))
        #expect(try !isWithin("VEVENT", day, "0110T043000", "0110T044000", in: zone))
    }

    @Test("Tasks are placed by each row of the RFC's table")
    func tasks() throws {
        let both = part("VTODO", "DTSTART:20060110T100000Z", "DUE:20060110T110000Z")
        #expect(try isWithin("VTODO", both, "0110T103000", "0110T104000"))
        #expect(try isWithin("VTODO", both, "0110T090000", "0110T110000"))
        let start = part("VTODO", "DTSTART:20060110T100000Z")
        #expect(try isWithin("VTODO", start, "0110T100000", "0110T110000"))
        #expect(try !isWithin("VTODO", start, "0110T090000", "0110T100000"))
        let long = part("VTODO", "DTSTART:20060110T100000Z", "DURATION:PT1H")
        #expect(try isWithin("VTODO", long, "0110T110000", "0110T120000"))
        let due = part("VTODO", "DUE:20060110T100000Z")
        #expect(try isWithin("VTODO", due, "0110T090000", "0110T100000"))
        #expect(try !isWithin("VTODO", due, "0110T100000", "0110T110000"))
        let done = part("VTODO", "COMPLETED:20060110T100000Z", "CREATED:20060108T100000Z")
        #expect(try isWithin("VTODO", done, "0109T000000", "0109T010000"))
        #expect(try !isWithin("VTODO", done, "0111T000000", "0112T000000"))
        #expect(try isWithin("VTODO", part("VTODO", "CREATED:20060108T100000Z"), "0120T000000", "0121T000000"))
        #expect(try isWithin("VTODO", part("VTODO", "SUMMARY:x"), "0120T000000", "0121T000000"))
    }

    @Test("A journal entry has its day, and is nowhere without one")
    func journals() throws {
        let day = part("VJOURNAL", "DTSTART;VALUE=DATE:20060110")
        #expect(try isWithin("VJOURNAL", day, "0110T230000", "0110T233000"))
        #expect(try !isWithin("VJOURNAL", day, "0111T000000", "0111T010000"))
        #expect(try !isWithin("VJOURNAL", part("VJOURNAL", "SUMMARY:x"), "0110T000000", "0111T000000"))
    }

    @Test("An alarm of a series goes off before each occurrence, and again as often as it says")
    func alarms() throws {
        let event = part(
            "VEVENT", "DTSTART:20060101T100000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY", "BEGIN:VALARM", "ACTION:AUDIO",
            "TRIGGER:-PT30M", "REPEAT:2", "DURATION:PT5M", "END:VALARM")
        func goesOff(_ start: String, _ end: String) throws -> Bool {
            try Asked.holds(
                try Asked.filter("VEVENT", "<C:comp-filter name=\"VALARM\">\(Asked.range(start, end))</C:comp-filter>"),
                event)
        }
        for start in ["0120T093000", "0120T093500", "0120T094000"] {
            #expect(try goesOff(start, String(start.dropLast(2)) + "30"))
        }
        #expect(try !goesOff("0120T094100", "0120T094500"))
        #expect(try !goesOff("0120T092000", "0120T093000"))
    }

    @Test("Texts are compared by their collation, whole or in part, and without escapes")
    func texts() throws {
        let event = part("VEVENT", "DTSTART:20060110T100000Z", "SUMMARY:Caf\u{C9}\\, Team", "CATEGORIES:a,b\\,c")
        func holds(_ name: String, _ attributes: String, _ text: String) throws -> Bool {
            let match = "<C:text-match \(attributes)>\(text)</C:text-match>"
            return try Asked.holds(
                try Asked.filter("VEVENT", "<C:prop-filter name=\"\(name)\">\(match)</C:prop-filter>"), event)
        }
        #expect(try holds("SUMMARY", "", "caf\u{C9}, t"))
        #expect(try !holds("SUMMARY", "", "caf\u{E9}"))
        #expect(try holds("SUMMARY", "collation=\"i;unicode-casemap\"", "caf\u{E9}"))
        #expect(try !holds("SUMMARY", "collation=\"i;octet\"", "team"))
        #expect(try !holds("SUMMARY", "negate-condition=\"yes\"", "team"))
        #expect(try holds("SUMMARY", "match-type=\"ends-with\"", "TEAM"))
        #expect(try !holds("SUMMARY", "match-type=\"starts-with\"", "team"))
        #expect(try holds("CATEGORIES", "match-type=\"equals\"", "b,c"))
        #expect(try !holds("CATEGORIES", "match-type=\"equals\"", "b"))
        #expect(try holds("CATEGORIES", "", ""))
        #expect(try !holds("LOCATION", "negate-condition=\"yes\"", "x"))
    }

    @Test("A text that nearly is there many times is looked for once")
    func repetition() throws {
        let event = part(
            "VEVENT", "DTSTART:20060110T100000Z", "SUMMARY:" + String(repeating: "a", count: 200_000) + "b")
        let wanted = String(repeating: "a", count: 4000)
        for (text, isThere) in [(wanted + "b", true), (wanted + "c", false), ("b" + wanted, false)] {
            let match = "<C:prop-filter name=\"SUMMARY\"><C:text-match>\(text)</C:text-match></C:prop-filter>"
            #expect(try Asked.holds(try Asked.filter("VEVENT", match), event) == isThere)
        }
    }

    @Test("A property has a time, and is not there, by its component")
    func properties() throws {
        let event = part("VEVENT", "DTSTART:20060110T100000Z", "LAST-MODIFIED:20060105T000000Z")
        func holds(_ name: String, _ content: String) throws -> Bool {
            try Asked.holds(
                try Asked.filter("VEVENT", "<C:prop-filter name=\"\(name)\">\(content)</C:prop-filter>"), event)
        }
        #expect(try holds("LAST-MODIFIED", Asked.range("0104T000000", "0106T000000")))
        #expect(try !holds("LAST-MODIFIED", Asked.range("0106T000000", "0107T000000")))
        #expect(try holds("DTSTART", Asked.range("0110T000000", "0111T000000")))
        #expect(try holds("DTEND", "<C:is-not-defined/>"))
        #expect(try !holds("DTSTART", "<C:is-not-defined/>"))
        let none = "<C:comp-filter name=\"VALARM\"><C:is-not-defined/></C:comp-filter>"
        #expect(try Asked.holds(try Asked.filter("VEVENT", none), event))
    }

    @Test("Filters that cannot be compared have their own faults")
    func faults() {
        let match = "<C:prop-filter name=\"SUMMARY\"><C:text-match collation=\"x\">a</C:text-match></C:prop-filter>"
        #expect(fault { try Asked.filter("VEVENT", match) } == .unsupportedCollation)
        #expect(fault { try Asked.filter("VEVENT", "<C:time-range/>") } == .invalidRequest)
        for (outer, inner) in [
            ("VCALENDAR", "VALARM"), ("VEVENT", "VEVENT"), ("VALARM", "VEVENT"), ("VEVENT", "VCALENDAR"),
            ("VEVENT", "DAYLIGHT"),
        ] {
            let nested = "<C:comp-filter name=\"\(outer)\"><C:comp-filter name=\"\(inner)\"/></C:comp-filter>"
            #expect(fault { try Asked.filter(nested, in: "VCALENDAR") } == .invalidFilter, "\(inner) in \(outer)")
        }
        #expect(fault { try Asked.filter("VEVENT", "<C:comp-filter name=\"X-ANY\"/>") } == nil)
        let time = Asked.range("0104T000000", "0105T000000")
        for (name, expected) in [("SUMMARY", CalendarReportFault.invalidFilter), ("LAST-MODIFIED", nil), ("X-AT", nil)]
        {
            let asked = "<C:prop-filter name=\"\(name)\">\(time)</C:prop-filter>"
            #expect(fault { try Asked.filter("VEVENT", asked) } == expected, "\(name)")
        }
        #expect(fault { try Asked.filter("VEVENT", Asked.range("0105T000000", "0104T000000")) } == .invalidFilter)
        #expect(fault { try Asked.filter("VTIMEZONE", Asked.range("0104T000000", "0105T000000")) } == .invalidFilter)
        #expect(fault { try Asked.filter("", in: "VEVENT") } == .invalidFilter)
        #expect(fault { try Asked.filter("VEVENT", "<C:other/>") } == .unsupportedFilter)
        let many = String(repeating: "<C:prop-filter name=\"X\"/>", count: 300)
        #expect(fault { try Asked.filter("VEVENT", many) } == .unsupportedFilter)
    }

    @Test("Values and known zones are left out where that is asked for")
    func data() throws {
        let event = AppendixB.text(of: "abcd3.ics")
        let names = try Asked.data(
            "<C:comp name=\"VCALENDAR\"><C:comp name=\"VEVENT\"><C:prop name=\"SUMMARY\" novalue=\"yes\"/></C:comp></C:comp>"
        )
        #expect(
            try Asked.lines(names, of: event)
                == ["BEGIN:VCALENDAR", "BEGIN:VEVENT", "SUMMARY:", "END:VEVENT", "END:VCALENDAR"])
        var all = CalendarDataRequest()
        #expect(try all.text(of: event, floatingIn: FixedOffset.utc) == event)
        all.hasKnownZones = false
        let lines = try Asked.lines(all, of: event)
        #expect(!lines.contains("BEGIN:VTIMEZONE") && lines.contains("DTSTART;TZID=US/Eastern:20060104T100000"))
    }

    @Test("A series with more occurrences than are returned is refused as a whole")
    func costs() throws {
        let dense = part("VEVENT", "DTSTART:20060101T000000Z", "RRULE:FREQ=SECONDLY")
        let data = try Asked.data(Asked.range("0103T000000", "0105T000000", "expand"))
        #expect(throws: CalendarReportFault.tooMuch) { try data.text(of: dense, floatingIn: FixedOffset.utc) }
    }
}
