// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

/// The calendar of RFC 4791 Appendix B, to which the examples of section 7 refer.
enum AppendixB {
    /// The resources by name.
    static let resources: [(name: String, text: [UInt8])] = [
        ("abcd1.ics", text(event1)), ("abcd2.ics", text(event2)), ("abcd3.ics", text(event3)),
        ("abcd4.ics", text(task1)), ("abcd5.ics", text(task2)), ("abcd6.ics", text(task3)),
        ("abcd7.ics", text(task4)), ("abcd8.ics", text(busy)),
    ]

    static func text(of name: String) -> [UInt8] { resources.first { $0.name == name }?.text ?? [] }

    private static func text(_ lines: String) -> [UInt8] {
        Array(
            ("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Example Corp.//CalDAV Client//EN\n" + lines
                + "\nEND:VCALENDAR\n").replacing("\n", with: "\r\n").utf8)
    }

    private static let zone = """
        BEGIN:VTIMEZONE
        LAST-MODIFIED:20040110T032845Z
        TZID:US/Eastern
        BEGIN:DAYLIGHT
        DTSTART:20000404T020000
        RRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=4
        TZNAME:EDT
        TZOFFSETFROM:-0500
        TZOFFSETTO:-0400
        END:DAYLIGHT
        BEGIN:STANDARD
        DTSTART:20001026T020000
        RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
        TZNAME:EST
        TZOFFSETFROM:-0400
        TZOFFSETTO:-0500
        END:STANDARD
        END:VTIMEZONE

        """

    private static let event1 =
        zone + """
            BEGIN:VEVENT
            DTSTAMP:20060206T001102Z
            DTSTART;TZID=US/Eastern:20060102T100000
            DURATION:PT1H
            SUMMARY:Event #1
            Description:Go Steelers!
            UID:74855313FA803DA593CD579A@example.com
            END:VEVENT
            """

    private static let event2 =
        zone + """
            BEGIN:VEVENT
            DTSTAMP:20060206T001121Z
            DTSTART;TZID=US/Eastern:20060102T120000
            DURATION:PT1H
            RRULE:FREQ=DAILY;COUNT=5
            SUMMARY:Event #2
            UID:00959BC664CA650E933C892C@example.com
            END:VEVENT
            BEGIN:VEVENT
            DTSTAMP:20060206T001121Z
            DTSTART;TZID=US/Eastern:20060104T140000
            DURATION:PT1H
            RECURRENCE-ID;TZID=US/Eastern:20060104T120000
            SUMMARY:Event #2 bis
            UID:00959BC664CA650E933C892C@example.com
            END:VEVENT
            BEGIN:VEVENT
            DTSTAMP:20060206T001121Z
            DTSTART;TZID=US/Eastern:20060106T140000
            DURATION:PT1H
            RECURRENCE-ID;TZID=US/Eastern:20060106T120000
            SUMMARY:Event #2 bis bis
            UID:00959BC664CA650E933C892C@example.com
            END:VEVENT
            """

    private static let event3 =
        zone + """
            BEGIN:VEVENT
            ATTENDEE;PARTSTAT=ACCEPTED;ROLE=CHAIR:mailto:cyrus@example.com
            ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:lisa@example.com
            DTSTAMP:20060206T001220Z
            DTSTART;TZID=US/Eastern:20060104T100000
            DURATION:PT1H
            LAST-MODIFIED:20060206T001330Z
            ORGANIZER:mailto:cyrus@example.com
            SEQUENCE:1
            STATUS:TENTATIVE
            SUMMARY:Event #3
            UID:DC6C50A017428C5216A2F1CD@example.com
            X-ABC-GUID:E1CX5Dr-0007ym-Hz@example.com
            END:VEVENT
            """

    private static let task1 =
        zone + """
            BEGIN:VTODO
            DTSTAMP:20060205T235335Z
            DUE;VALUE=DATE:20060104
            STATUS:NEEDS-ACTION
            SUMMARY:Task #1
            UID:DDDEEB7915FA61233B861457@example.com
            BEGIN:VALARM
            ACTION:AUDIO
            TRIGGER;RELATED=START:-PT10M
            END:VALARM
            END:VTODO
            """

    private static let task2 =
        zone + """
            BEGIN:VTODO
            DTSTAMP:20060205T235300Z
            DUE;TZID=US/Eastern:20060106T120000
            LAST-MODIFIED:20060205T235308Z
            SEQUENCE:1
            STATUS:NEEDS-ACTION
            SUMMARY:Task #2
            UID:E10BA47467C5C69BB74E8720@example.com
            BEGIN:VALARM
            ACTION:AUDIO
            TRIGGER;RELATED=START:-PT10M
            END:VALARM
            END:VTODO
            """

    private static let task3 =
        zone + """
            BEGIN:VTODO
            COMPLETED:20051223T122322Z
            DTSTAMP:20060205T235400Z
            DUE;VALUE=DATE:20051225
            LAST-MODIFIED:20060205T235308Z
            SEQUENCE:1
            STATUS:COMPLETED
            SUMMARY:Task #3
            UID:E10BA47467C5C69BB74E8722@example.com
            END:VTODO
            """

    private static let task4 =
        zone + """
            BEGIN:VTODO
            DTSTAMP:20060205T235600Z
            DUE;VALUE=DATE:20060101
            LAST-MODIFIED:20060205T235308Z
            SEQUENCE:1
            STATUS:CANCELLED
            SUMMARY:Task #4
            UID:E10BA47467C5C69BB74E8725@example.com
            END:VTODO
            """

    private static let busy = """
        BEGIN:VFREEBUSY
        ORGANIZER;CN="Bernard Desruisseaux":mailto:bernard@example.com
        UID:76ef34-54a3d2@example.com
        DTSTAMP:20050530T123421Z
        DTSTART:20060101T000000Z
        DTEND:20060108T000000Z
        FREEBUSY:20050531T230000Z/20050601T010000Z
        FREEBUSY;FBTYPE=BUSY-TENTATIVE:20060102T100000Z/20060102T120000Z
        FREEBUSY:20060103T100000Z/20060103T120000Z
        FREEBUSY:20060104T100000Z/20060104T120000Z
        FREEBUSY;FBTYPE=BUSY-UNAVAILABLE:20060105T100000Z/20060105T120000Z
        FREEBUSY:20060106T100000Z/20060106T120000Z
        END:VFREEBUSY
        """
}

/// What reports ask, read from their XML.
enum Asked {
    private static func element(_ name: String, _ content: String) throws -> XMLElement {
        try XMLReader.read(
            Array("<C:\(name) xmlns:C=\"urn:ietf:params:xml:ns:caldav\">\(content)</C:\(name)>".utf8))
    }

    /// A filter on one kind of component, with what it asks of that.
    static func filter(_ component: String, _ content: String = "") throws -> CalendarFilter {
        try filter("<C:comp-filter name=\"\(component)\">\(content)</C:comp-filter>", in: "VCALENDAR")
    }

    static func filter(_ content: String, in root: String) throws -> CalendarFilter {
        try CalendarFilter(try element("filter", "<C:comp-filter name=\"\(root)\">\(content)</C:comp-filter>"))
    }

    static func data(_ content: String) throws -> CalendarDataRequest {
        try CalendarDataRequest(try element("calendar-data", content))
    }

    /// A time-range between two times of January 2006, as `0104T140000`.
    static func range(_ start: String, _ end: String, _ name: String = "time-range") -> String {
        "<C:\(name) start=\"2006\(start)Z\" end=\"2006\(end)Z\"/>"
    }

    static func holds(
        _ filter: CalendarFilter, _ text: [UInt8], in zone: any TimeZoneRules = FixedOffset.utc
    ) throws
        -> Bool
    {
        filter.holds(for: try #require(ReportedObject(text, floatingIn: zone)))
    }

    /// Returns the names of Appendix B's resources that meet a filter.
    static func found(_ filter: CalendarFilter) throws -> [String] {
        try AppendixB.resources.filter { try holds(filter, $0.text) }.map(\.name)
    }

    /// Returns the lines of what is returned of a resource, unfolded.
    static func lines(_ data: CalendarDataRequest, of text: [UInt8]) throws -> [String] {
        let text = try #require(try data.text(of: text, floatingIn: FixedOffset.utc))
        return ObjectTree.unfolded(text).map { String(decoding: $0, as: UTF8.self) }
    }
}
