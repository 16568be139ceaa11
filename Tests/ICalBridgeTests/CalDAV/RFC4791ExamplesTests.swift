// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

@Suite("CalDAV reports: the examples of RFC 4791")
struct RFC4791ExamplesTests {
    private let days = Asked.range("0103T000000", "0105T000000")

    private func events(_ lines: [String]) -> [[String]] {
        lines.split { $0 == "END:VEVENT" }.compactMap { part in
            part.firstIndex(of: "BEGIN:VEVENT").map { Array(part[($0 + 1)...]) }
        }
    }

    @Test("7.8.1: partial retrieval of events by time range")
    func partial() throws {
        let filter = try Asked.filter("VEVENT", Asked.range("0104T000000", "0105T000000"))
        #expect(try Asked.found(filter) == ["abcd2.ics", "abcd3.ics"])
        #expect(filter.component == "VEVENT")
        let names = [
            "SUMMARY", "UID", "DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXRULE", "EXDATE", "RECURRENCE-ID",
        ]
        let data = try Asked.data(
            "<C:comp name=\"VCALENDAR\"><C:prop name=\"VERSION\"/><C:comp name=\"VEVENT\">"
                + names.map { "<C:prop name=\"\($0)\"/>" }.joined() + "</C:comp><C:comp name=\"VTIMEZONE\"/></C:comp>")
        let lines = try Asked.lines(data, of: AppendixB.text(of: "abcd3.ics"))
        #expect(
            lines.prefix(4) == ["BEGIN:VCALENDAR", "VERSION:2.0", "BEGIN:VTIMEZONE", "LAST-MODIFIED:20040110T032845Z"])
        #expect(
            events(lines) == [
                [
                    "DTSTART;TZID=US/Eastern:20060104T100000", "DURATION:PT1H", "SUMMARY:Event #3",
                    "UID:DC6C50A017428C5216A2F1CD@example.com",
                ]
            ])
        #expect(try events(Asked.lines(data, of: AppendixB.text(of: "abcd2.ics"))).count == 3)
    }

    @Test("7.8.2: partial retrieval of recurring events")
    func limited() throws {
        #expect(try Asked.found(try Asked.filter("VEVENT", days)) == ["abcd2.ics", "abcd3.ics"])
        let data = try Asked.data(Asked.range("0103T000000", "0105T000000", "limit-recurrence-set"))
        let found = events(try Asked.lines(data, of: AppendixB.text(of: "abcd2.ics")))
        #expect(found.map { $0.first { $0.hasPrefix("SUMMARY") } } == ["SUMMARY:Event #2", "SUMMARY:Event #2 bis"])
        #expect(try events(Asked.lines(data, of: AppendixB.text(of: "abcd3.ics"))).count == 1)
    }

    @Test("7.8.3: expanded retrieval of recurring events")
    func expanded() throws {
        let data = try Asked.data(Asked.range("0103T000000", "0105T000000", "expand"))
        let lines = try Asked.lines(data, of: AppendixB.text(of: "abcd2.ics"))
        #expect(!lines.contains("BEGIN:VTIMEZONE"))
        #expect(
            events(lines) == [
                [
                    "DTSTAMP:20060206T001121Z", "DTSTART:20060103T170000Z", "DURATION:PT1H",
                    "RECURRENCE-ID:20060103T170000Z", "SUMMARY:Event #2", "UID:00959BC664CA650E933C892C@example.com",
                ],
                [
                    "DTSTAMP:20060206T001121Z", "DTSTART:20060104T190000Z", "DURATION:PT1H",
                    "RECURRENCE-ID:20060104T170000Z", "SUMMARY:Event #2 bis",
                    "UID:00959BC664CA650E933C892C@example.com",
                ],
            ])
        let single = try #require(events(try Asked.lines(data, of: AppendixB.text(of: "abcd3.ics"))).first)
        #expect(single.contains("DTSTART:20060104T150000Z"))
        #expect(single.contains("DURATION:PT1H"))
        #expect(!single.contains { $0.hasPrefix("RECURRENCE-ID") })
    }

    @Test("7.8.4: partial retrieval of stored free busy components")
    func busy() throws {
        let range = Asked.range("0102T000000", "0103T000000")
        #expect(try Asked.found(try Asked.filter("VFREEBUSY", range)) == ["abcd8.ics"])
        let data = try Asked.data(Asked.range("0102T000000", "0103T000000", "limit-freebusy-set"))
        #expect(
            try Asked.lines(data, of: AppendixB.text(of: "abcd8.ics")).filter { $0.hasPrefix("FREEBUSY") }
                == ["FREEBUSY;FBTYPE=BUSY-TENTATIVE:20060102T100000Z/20060102T120000Z"])
    }

    @Test("7.8.5: retrieval of to-dos by alarm time range")
    func alarms() throws {
        let filter = try Asked.filter(
            "VTODO",
            "<C:comp-filter name=\"VALARM\">\(Asked.range("0106T100000", "0107T100000"))</C:comp-filter>")
        #expect(try Asked.found(filter) == ["abcd5.ics"])
        #expect(filter.component == "VTODO")
        let span = try #require(filter.span)
        #expect(Instant(seconds: span.lowerBound).basic == "20060106T100000Z")
        #expect(Instant(seconds: span.upperBound).basic == "20060107T100000Z")
    }

    @Test("7.8.6: retrieval of event by UID")
    func uid() throws {
        let uid = "<C:text-match collation=\"i;octet\">DC6C50A017428C5216A2F1CD@example.com</C:text-match>"
        #expect(
            try Asked.found(try Asked.filter("VEVENT", "<C:prop-filter name=\"UID\">\(uid)</C:prop-filter>"))
                == ["abcd3.ics"])
    }

    @Test("7.8.7: retrieval of events by PARTSTAT")
    func partstat() throws {
        let filter = try Asked.filter(
            "VEVENT",
            """
            <C:prop-filter name="ATTENDEE"><C:text-match collation="i;ascii-casemap">mailto:lisa@example.com</C:text-match>
            <C:param-filter name="PARTSTAT"><C:text-match collation="i;ascii-casemap">NEEDS-ACTION</C:text-match>
            </C:param-filter></C:prop-filter>
            """)
        #expect(try Asked.found(filter) == ["abcd3.ics"])
        // Both conditions are about one attendee.
        let other = try Asked.filter(
            "VEVENT",
            """
            <C:prop-filter name="ATTENDEE"><C:text-match>cyrus</C:text-match><C:param-filter name="PARTSTAT">
            <C:text-match>NEEDS-ACTION</C:text-match></C:param-filter></C:prop-filter>
            """)
        #expect(try Asked.found(other).isEmpty)
    }

    @Test("7.8.8: retrieval of events only")
    func eventsOnly() throws {
        let filter = try Asked.filter("VEVENT")
        #expect(try Asked.found(filter) == ["abcd1.ics", "abcd2.ics", "abcd3.ics"])
        #expect(filter.asksForKindAlone)
    }

    @Test("7.8.9: retrieval of all pending to-dos")
    func pending() throws {
        let filter = try Asked.filter(
            "VTODO",
            """
            <C:prop-filter name="COMPLETED"><C:is-not-defined/></C:prop-filter><C:prop-filter name="STATUS">
            <C:text-match negate-condition="yes">CANCELLED</C:text-match></C:prop-filter>
            """)
        #expect(try Asked.found(filter) == ["abcd4.ics", "abcd5.ics"])
    }

    @Test("7.10: free-busy time")
    func freeBusy() throws {
        let start = try #require(Instant(basic: "20060104T140000Z"))
        let end = try #require(Instant(basic: "20060105T220000Z"))
        var time = FreeBusyTime(in: TimeRange(from: start, to: end))
        for resource in AppendixB.resources { try time.add(resource.text, floatingIn: FixedOffset.utc) }
        let lines = ObjectTree.unfolded(time.text(stamp: start)).map { String(decoding: $0, as: UTF8.self) }
        #expect(
            lines.filter { $0.hasPrefix("FREEBUSY") } == [
                "FREEBUSY:20060104T190000Z/20060104T200000Z", "FREEBUSY:20060105T170000Z/20060105T180000Z",
                "FREEBUSY;FBTYPE=BUSY-UNAVAILABLE:20060105T100000Z/20060105T120000Z",
                "FREEBUSY;FBTYPE=BUSY-TENTATIVE:20060104T150000Z/20060104T160000Z",
            ])
        #expect(lines.contains("DTSTART:20060104T140000Z") && lines.contains("DTEND:20060105T220000Z"))
    }
}
