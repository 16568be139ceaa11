// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import ICalBridge

/// Calendars and comparisons for the tests of jCal, xCal and CSV.
enum Forms {
    /// Returns the calendar in a text.
    static func calendar(_ lines: [String]) -> ICalendar {
        Reading.of(Reading.calendar(lines)).calendars.first ?? ICalendar()
    }

    static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    static func jCalParts(of text: [UInt8], calendars: Int = 1) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        ICalendar.jCal(fromStrictText: [text], calendars: calendars) { parts.append($0) }
        return parts
    }

    static func xCalParts(of text: [UInt8]) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        ICalendar.xCal(fromStrictText: [text]) { parts.append($0) }
        return parts
    }

    /// Returns the calendar as read from the strict writer's text, which every form has to restore.
    static func reread(_ calendar: ICalendar) -> ICalendar {
        CalendarReader(options: .init(keepsAttachments: true)).read(calendar.serialized()).calendars.first
            ?? ICalendar()
    }

    static func viaJCal(_ calendar: ICalendar) throws -> ICalendar {
        try ICalendar(jCal: calendar.jCal(), options: .init(keepsAttachments: true))
    }

    static func viaXCal(_ calendar: ICalendar) throws -> ICalendar {
        try ICalendar(xCal: calendar.xCal(), options: .init(keepsAttachments: true))
    }

    /// Moves VALUE to the front and leaves it out where it is the default: jCal and xCal do not record its place.
    static func withValueInItsPlace(_ calendar: ICalendar) -> ICalendar {
        func inPlace(_ lines: [ContentLine]) -> [ContentLine] {
            lines.map { line in
                guard let value = line[parameter: "VALUE"] else { return line }
                var line = line
                line.parameters.removeAll { $0.name == "VALUE" }
                let isDefault = [
                    "ATTACH": "URI", "COMPLETED": "DATE-TIME", "ACKNOWLEDGED": "DATE-TIME", "URL": "URI",
                    "TZURL": "URI", "FREEBUSY": "PERIOD", "COMMENT": "TEXT", "RELATED-TO": "TEXT",
                ]
                guard isDefault[line.name] != value else { return line }
                line.parameters.insert(.init(name: "VALUE", values: [value]), at: 0)
                return line
            }
        }
        var calendar = calendar
        calendar.otherProperties = inPlace(calendar.otherProperties)
        for index in calendar.events.indices {
            calendar.events[index].otherProperties = inPlace(calendar.events[index].otherProperties)
            for alarm in calendar.events[index].alarms.indices {
                calendar.events[index].alarms[alarm].otherProperties = inPlace(
                    calendar.events[index].alarms[alarm].otherProperties)
            }
        }
        return calendar
    }

    /// A calendar with everything that a value can carry.
    static var rich: ICalendar { calendar(richLines) }

    private static let richLines = [
        "METHOD:PUBLISH", "NAME:Rosa\\, at home", "X-WR-CALDESC:All visits\\; <all> & more",
        "REFRESH-INTERVAL;VALUE=DURATION:PT6H", "X-LONG;X-A=1;X-B=\"a;b\",c:raw\\, value;kept",
        "BEGIN:VTIMEZONE", "TZID:Clinic's Own Time: 5th floor", "BEGIN:STANDARD", "DTSTART:20200101T000000",
        "TZOFFSETFROM:+0545", "TZOFFSETTO:+0615", "TZNAME:CL", "END:STANDARD", "END:VTIMEZONE",
        "BEGIN:VEVENT", "UID:series@example.org", "DTSTAMP:20260101T000000Z",
        "DTSTART;TZID=Europe/Berlin:20260105T090000", "DTEND;TZID=America/New_York:20260105T043000",
        "SUMMARY:  Blood pressure ]]> \\\\n 'x' \"y\" 𝄞  ", "DESCRIPTION:Line\\nline\ttab",
        "LOCATION:Main St\\, 5", "STATUS:CONFIRMED", "TRANSP:OPAQUE", "CLASS:PRIVATE", "CATEGORIES:Visit,A\\,B\\;C",
        "URL:https://example.org/?a=1&b=<2>", "SEQUENCE:3", "CREATED:20251231T235959Z",
        "LAST-MODIFIED:20260102T000000Z", "RRULE:FREQ=MONTHLY;UNTIL=20270105T080000Z;BYDAY=1MO,-1FR;BYMONTH=1,3",
        "RDATE;TZID=Europe/Berlin:20260107T090000",
        "RDATE;VALUE=PERIOD;TZID=Europe/Berlin:20260108T090000/PT2H",
        "RDATE;VALUE=PERIOD:20260109T090000Z/20260109T100000Z", "EXDATE;TZID=Europe/Berlin:20260130T090000",
        "ATTENDEE;CN=\"Foo; \"\"Bar\";RSVP=TRUE;DELEGATED-TO=\"mailto:a@x\",\"mailto:b@x\":mailto:c@x",
        "ATTENDEE;CN=A^nB^'C^^:mailto:d@x", "ORGANIZER;X-P=:mailto:e@x", "GEO:37.386013;-122.0829320",
        "PRIORITY:5", "PERCENT-COMPLETE:95", "COMMENT;LANGUAGE=de:Grüße\\, ja", "RESOURCES:Bed,Chair\\, red",
        "ATTACH;VALUE=BINARY;ENCODING=BASE64:SGVsbG8=", "ATTACH;FMTTYPE=text/plain:https://example.org/a",
        "X-TRUE;VALUE=BOOLEAN:TRUE", "X-FLOAT;VALUE=FLOAT:10.50", "X-OFF;VALUE=UTC-OFFSET:-0530",
        "X-TIME;VALUE=TIME:083000Z", "X-DAYS;VALUE=DATE:20260101,20260102", "X-OWN;VALUE=X-TYPE;X-Q=1:a,b;c",
        "CONFERENCE;VALUE=URI;LABEL=Call:tel:+1-412-555-0123", "IMAGE;VALUE=URI:https://example.org/i.png",
        "BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT15M", "DESCRIPTION:Soon", "REPEAT:2", "DURATION:PT5M",
        "END:VALARM", "BEGIN:VALARM", "ACTION:EMAIL", "TRIGGER;RELATED=END:PT0S", "DESCRIPTION:It",
        "SUMMARY:Mail\\, it", "END:VALARM",
        "BEGIN:VALARM", "ACTION:AUDIO", "TRIGGER;VALUE=DATE-TIME:20260105T070000Z", "END:VALARM", "END:VEVENT",
        "BEGIN:VEVENT", "UID:series@example.org", "DTSTAMP:20260101T000000Z",
        "RECURRENCE-ID;TZID=Europe/Berlin;RANGE=THISANDFUTURE:20260302T090000",
        "DTSTART;TZID=\"Clinic's Own Time: 5th floor\":20260302T100000", "DURATION:PT1H30M", "END:VEVENT",
        "BEGIN:VEVENT", "UID:day@example.org", "DTSTAMP:20260101T000000Z", "DTSTART;VALUE=DATE:20260310",
        "RRULE:FREQ=YEARLY;COUNT=3;INTERVAL=2;WKST=SU", "EXDATE;VALUE=DATE:20280310", "STATUS:X-ODD", "END:VEVENT",
        "BEGIN:VEVENT", "UID:float@example.org", "DTSTAMP:20260101T000000Z", "DTSTART:20260310T080000",
        "DTEND:20260310T090000", "END:VEVENT",
        "BEGIN:VTODO", "UID:todo@example.org", "DTSTAMP:20260101T000000Z", "DUE:20260311T120000Z",
        "STATUS:NEEDS-ACTION", "COMPLETED:20260310T110000Z", "END:VTODO",
        "BEGIN:VJOURNAL", "UID:journal@example.org", "DTSTAMP:20260101T000000Z", "DTSTART;VALUE=DATE:20260312",
        "DESCRIPTION:One", "DESCRIPTION:Two\\, more", "END:VJOURNAL",
        "BEGIN:VFREEBUSY", "UID:busy@example.org", "DTSTAMP:20260101T000000Z", "DTSTART:20260301T000000Z",
        "DTEND:20260401T000000Z", "FREEBUSY;FBTYPE=BUSY:20260302T090000Z/PT1H,20260303T090000Z/20260303T100000Z",
        "END:VFREEBUSY",
    ]
}

extension ICalendar {
    /// Reads the only calendar of a jCal text, with the limits and repairs of `CalendarReader`.
    ///
    /// - Throws: `FormError` when it is not jCal, holds no calendar or several, or nothing in it can be read.
    init(jCal bytes: [UInt8], options: CalendarReader.Options = .init()) throws(FormError) {
        let text = try CalendarReader.iCalendarText(fromJCal: bytes, limit: options.limits.bytes)
        try self.init(text: text, from: .jCal, options: options)
    }

    /// Reads the only calendar of an xCal text, with the limits and repairs of `CalendarReader`.
    ///
    /// - Throws: `FormError` when it is not xCal, holds no calendar or several, or nothing in it can be read.
    init(xCal bytes: [UInt8], options: CalendarReader.Options = .init()) throws(FormError) {
        let text = try CalendarReader.iCalendarText(fromXCal: bytes, limit: options.limits.bytes)
        try self.init(text: text, from: .xCal, options: options)
    }

    /// Reads the events of a CSV table with the columns of `csv()`, in any order and number.
    ///
    /// - Throws: `FormError` when there is no header row with a column of starts, or no row can be read.
    init(csv bytes: [UInt8], options: CalendarReader.Options = .init()) throws(FormError) {
        let text = try CalendarReader.iCalendarText(fromCSV: bytes, limit: options.limits.bytes)
        try self.init(text: text, from: .csv, options: options)
    }

    private init(text: [UInt8], from form: CalendarForm, options: CalendarReader.Options) throws(FormError) {
        let reading = CalendarReader(options: options).read(text)
        if let refusal = reading.refusalSentence { throw FormError(form: form, sentence: refusal) }
        guard reading.calendars.count == 1, let calendar = reading.calendars.first else {
            throw FormError(
                form: form, .calendarUnreadable,
                reading.calendars.isEmpty ? "It holds no calendar." : "It holds several calendars.")
        }
        self = calendar
    }
}

extension PropertyTree {
    /// The top-level components of a well-formed iCalendar text, as the strict writer makes it.
    ///
    /// Unclosed components are left out; a file from elsewhere has to go through the calendar reader first.
    static func trees(inText bytes: [UInt8]) -> [PropertyTree] {
        var trees: [PropertyTree] = []
        walk(inText: [bytes]) { step in
            switch step {
            case .begin(let calendar): trees.append(calendar)
            case .component(let component): trees[trees.count - 1].components.append(component)
            case .end: break
            }
        }
        return trees
    }
}
