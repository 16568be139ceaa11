// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationXML
import Testing

@testable import ICalBridge

@Suite("xCal (RFC 6321)")
struct FormsXCalTests {
    private func line(_ content: String) throws -> String {
        let calendar = Forms.calendar(Reading.event(["DTSTART:20260105T090000Z", content]))
        let name = "<" + content.prefix { $0 != ":" && $0 != ";" }.lowercased() + ">"
        let event = try #require(Forms.text(calendar.xCal()).split(separator: "<vevent>").last)
        return String(try #require(event.split(separator: "\n").first { $0.hasPrefix(name) }))
    }

    @Test(
        "A property is an element with its parameters and its values by type",
        arguments: [
            (
                "RECURRENCE-ID;TZID=Europe/Berlin:20260105T090000",
                "<recurrence-id><parameters><tzid><text>Europe/Berlin</text></tzid></parameters>"
                    + "<date-time>2026-01-05T09:00:00</date-time></recurrence-id>"
            ),
            ("CATEGORIES:foo,blue\\, fish", "<categories><text>foo</text><text>blue, fish</text></categories>"),
            ("SUMMARY:a < b & c ]]> \"d\"", "<summary><text>a &lt; b &amp; c ]]&gt; \"d\"</text></summary>"),
            ("GEO:37.386013;-122.5", "<geo><latitude>37.386013</latitude><longitude>-122.5</longitude></geo>"),
            ("X-NO;VALUE=BOOLEAN:FALSE", "<x-no><boolean>false</boolean></x-no>"),
            (
                "RRULE:FREQ=MONTHLY;COUNT=5;BYDAY=1MO,-1FR",
                "<rrule><recur><freq>MONTHLY</freq><count>5</count><byday>1MO</byday><byday>-1FR</byday>"
                    + "</recur></rrule>"
            ),
            (
                "RDATE;VALUE=PERIOD:20260109T090000Z/20260109T100000Z",
                "<rdate><period><start>2026-01-09T09:00:00Z</start><end>2026-01-09T10:00:00Z</end></period></rdate>"
            ),
            (
                "ATTENDEE;RSVP=TRUE;X-P=1:mailto:a@b",
                "<attendee><parameters><rsvp><boolean>true</boolean></rsvp><x-p><unknown>1</unknown></x-p>"
                    + "</parameters><cal-address>mailto:a@b</cal-address></attendee>"
            ),
        ])
    func properties(_ content: String, _ xml: String) throws {
        #expect(try line(content) == xml)
    }

    @Test("REQUEST-STATUS is taken apart and put together")
    func requestStatus() {
        let line = ContentLine(name: "REQUEST-STATUS", value: "3.1;Invalid\\; bad;DTSTART:96-Apr-01")
        var out: [UInt8] = []
        PropertyTree(name: "VEVENT", properties: [TypedProperty(line)]).writeXCal(to: &out)
        let parts = "<code>3.1</code><description>Invalid; bad</description><data>DTSTART:96-Apr-01</data>"
        #expect(Forms.text(out).contains("<request-status>" + parts + "</request-status>"))
        #expect(TypedProperty(line).contentLine == line)
    }

    @Test("Foundation reads it as XML")
    func isXML() {
        let parser = XMLParser(data: Data(Forms.rich.xCal()))
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
    }

    @Test("Characters that XML cannot hold are left out")
    func characters() throws {
        var event = Event(uid: "one", start: .utc(Instant(seconds: 0)), summary: "a\u{FFFE}b\u{1}c\u{FFFF}\td\r\ne")
        event.timestamp = Instant(seconds: 0)
        let calendar = ICalendar(events: [event])
        #expect(XMLParser(data: Data(calendar.xCal())).parse())
        #expect(try Forms.viaXCal(calendar).events.first?.summary == "abc\td\ne")
    }

    @Test("Prefixes, comments, CDATA, references and strange elements are understood")
    func liberal() throws {
        let text = try CalendarReader.iCalendarText(
            fromXCal: Array(
                """
                \u{FEFF}<?xml version='1.0'?><!-- <a> --><c:icalendar xmlns:c="urn:ietf:params:xml:ns:icalendar-2.0"
                  xmlns:o='urn:other'><c:vcalendar><c:properties><o:foreign><o:x/></o:foreign><c:version><c:text
                  >2.0</c:text></c:version></c:properties><c:components><c:vevent id="7"><c:properties>
                  <c:uid><c:text>one</c:text></c:uid><c:dtstart><c:date> 2026-01-05 </c:date></c:dtstart>
                  <c:summary><c:text>a<![CDATA[<b>]]>&amp;&#x1D11E;&#10;c&apos;</c:text></c:summary>
                  <c:description/><c:rdate><c:date>2026-01-06</c:date><c:period><c:start>2026-01-07T00:00:00Z</c:start>
                  <c:duration>PT1H</c:duration></c:period></c:rdate></c:properties></c:vevent></c:components>
                </c:vcalendar></c:icalendar>\r\n
                """.utf8))
        let event = try #require(CalendarReader().read(text).first)
        #expect(event.summary == "a<b>&𝄞\nc'")
        #expect(event.start == .date(Reading.day("20260105")))
        #expect(event.recurrence.additions.count == 2)
        #expect(!Forms.text(text).contains("FOREIGN"))
    }

    @Test("Names in capitals, a late declaration, control characters and undeclared prefixes are not refused")
    func lenient() throws {
        let text = try CalendarReader.iCalendarText(
            fromXCal: Array(
                """

                <?xml version='1.0' encoding='iso-8859-1'?><ICALENDAR><VCALENDAR><components><vevent><properties>
                  <UID><text>one</text></UID><dtstart><date>2026-01-05</date></dtstart><o:x a:b='1'/>
                  <summary><text>a\u{B}b&#11;c</text></summary></properties></vevent></components></VCALENDAR></ICALENDAR>
                """.utf8))
        let event = try #require(CalendarReader().read(text).first)
        #expect(event.uid == "one" && event.start == .date(Reading.day("20260105")))
        #expect(Forms.text(text).contains("SUMMARY:abc\r\n"))
    }

    @Test(
        "A text that is not xCal is refused with a reason",
        arguments: [
            ("", "The XML breaks off."), ("<a/>", "element is a"), ("text", "outside"),
            ("<icalendar><vcalendar>", "breaks off"), ("<icalendar>\n</vcalendar>", "ends no element"),
            ("<icalendar></icalendar><x/>", "after the end"), ("<icalendar>&bad;</icalendar>", "entity"),
            ("<icalendar>&#xD800;</icalendar>", "entity"), ("<icalendar a=b/>", "quotes"),
            ("<icalendar>& </icalendar>", "entity"), ("<icalendar><", "<"),
            ("<!DOCTYPE icalendar [<!ENTITY a \"b\">]><icalendar/>", "document type"),
            ("<!DOCTYPE icalendar SYSTEM \"file:///etc/passwd\"><icalendar/>", "document type"),
            ("<icalendar xmlns=\"urn:other\"/>", "not a calendar"),
            ("<icalendar><v:x/></icalendar>", "holds no calendar"),
            ("<vcalendar><properties><begin><text>VEVENT</text></begin></properties></vcalendar>", "name"),
            ("<!-- ", "breaks off"), ("<icalendar><![CDATA[ </icalendar>", "breaks off"),
        ])
    func refusals(_ text: String, _ reason: String) throws {
        let error = try? #require(
            throws: FormError.self, performing: { try ICalendar(xCal: Array(text.utf8)) })
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "-")")
    }
}
