// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ICalBridge

/// The same calendar in two forms, as ical.js, python icalendar and biweekly publish it, including the RFCs' examples.
@Suite("Twins that others wrote", .needsCorpora("kewisch+ical.js"))
struct FormsOracleTests {
    @Test("jCal of a text has the properties of its twin", arguments: FormsTwin.jCal)
    func jCal(_ twin: FormsTwin) throws {
        let calendars = try Forms.text(twin.text).components(separatedBy: "END:VCALENDAR").count - 1
        let text = try Array(Forms.jCalParts(of: twin.text, calendars: calendars).joined())
        let ours = try FormsTwin.properties(JSONNode(parsing: text))
        let theirs = try FormsTwin.properties(JSONNode(parsing: twin.other))
        try twin.compare(ours, theirs)
    }

    @Test("xCal of a text has the properties of its twin", arguments: FormsTwin.xCal)
    func xCal(_ twin: FormsTwin) throws {
        let text = try Array(Forms.xCalParts(of: twin.text).joined())
        let ours = try FormsTwin.properties(XMLReader.read(text, limits: .xCal))
        let theirs = try FormsTwin.properties(XMLReader.read(twin.other, limits: .xCal))
        try twin.compare(ours, theirs)
    }

    @Test("jCal of what was read has the properties of its twin, but for what the strict writer does otherwise")
    func jCalOfValues() throws {
        let known: Set<String> = [
            // Always written, so that a change can raise it.
            #"vcalendar/vevent ["sequence",{},"integer",0.0]"#,
            // Always written.
            #"vcalendar ["calscale",{},"text","GREGORIAN"]"#,
            // A zone has no field for it: it says when the rules changed, not what they are.
            #"vcalendar/vtimezone ["last-modified",{},"date-time","2004-01-10T03:28:45Z"]"#,
        ]
        var compared = 0
        for twin in FormsTwin.jCal {
            let calendar = CalendarReader().read(try twin.text).calendars.first
            guard let calendar, !calendar.events.isEmpty else { continue }
            // Rules that are not quite those of US/Eastern are written under a name for them only.
            let text = Forms.text(calendar.jCal()).replacing(/Kalends\/[0-9a-f]{16}/, with: "US/Eastern")
            let ours = Set(try FormsTwin.properties(JSONNode(parsing: Array(text.utf8))))
            let theirs = Set(try FormsTwin.properties(JSONNode(parsing: twin.other)))
            #expect(ours.subtracting(theirs).subtracting(known) == twin.ours, "\(twin.form)")
            #expect(theirs.subtracting(ours).subtracting(known) == twin.theirs, "\(twin.form)")
            compared += 1
        }
        #expect(compared == 5)
    }

    @Test("A twin is read as the same events", arguments: FormsTwin.jCal + FormsTwin.xCal)
    func sameEvents(_ twin: FormsTwin) throws {
        let text =
            try twin.form.hasSuffix(".xml")
            ? CalendarReader.iCalendarText(fromXCal: twin.other) : CalendarReader.iCalendarText(fromJCal: twin.other)
        var unfolded = Forms.text(text).replacing("\r\n ", with: "")
        for (theirs, ours) in twin.edition {
            #expect(unfolded.contains(theirs))
            unfolded = unfolded.replacing(theirs, with: ours)
        }
        #expect(Reading.of(unfolded).events == CalendarReader().read(try twin.text).events)
    }

    @Test("jCal without a twin is read: a date range, coffee, half a to-do, an event without a UID")
    func lone() throws {
        let folder = "collective+icalendar/src/icalendar/tests/calendars/"
        func text(_ path: String) throws -> String {
            Forms.text(try CalendarReader.iCalendarText(fromJCal: FormsTwin.bytes(path)))
        }
        #expect(
            try text(folder + "issue_1237_x_property.jcal").contains(
                "X-FILTER-DATE-RANGE;VALUE=PERIOD:20250202T000000/20250203T000000\r\n"))
        #expect(try text(folder + "rfc_7265_example_2.jcal").contains("X-COFFEE-DATA:Stenophylla;Guinea\\,Africa\r\n"))
        #expect(try text(folder + "rfc_7265_example_3.jcal").contains("PERCENT-COMPLETE:95\r\n"))
        let event = try ICalendar(
            jCal: FormsTwin.bytes("mangstadt+biweekly/src/test/resources/biweekly/issues/issue67.json")
        ).events.first
        #expect(event?.start?.zone?.identifier == "America/New_York")
        #expect(event?.recurrence.rules.first?.description == "FREQ=WEEKLY;UNTIL=20170329T190000Z;BYDAY=WE;WKST=SU")
    }

    @Test("What RFC 7265 section 5 says of a property without a type")
    func unknown() {
        let text = "BEGIN:VCALENDAR\nX-COMPLAINT-DEADLINE:20110512T120000Z\nEND:VCALENDAR"
        let tree = PropertyTree.trees(inText: Array(text.utf8))
        #expect(tree.first?.properties.first?.type == .unknown)
        #expect(tree.first?.properties.first?.values == [.text("20110512T120000Z")])
    }
}
