// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import ICalBridge

@Suite("jCal (RFC 7265)")
struct FormsJCalTests {
    /// Returns the jCal line of one property of an event.
    private func line(_ content: String) throws -> String {
        let calendar = Forms.calendar(Reading.event(["DTSTART:20260105T090000Z", content]))
        let name = "[\"" + content.prefix { $0 != ":" && $0 != ";" }.lowercased() + "\""
        let event = try #require(Forms.text(calendar.jCal()).split(separator: "[\"vevent\"").last)
        let line = event.split(separator: "\n").first { $0.hasPrefix(name) }
        // A property's line ends in a comma, the last one's in the brackets of what is around it.
        var text = String(try #require(line))
        for end in [",", "],[]]]]"] where text.hasSuffix(end) { text.removeLast(end.utf8.count) }
        return text
    }

    @Test(
        "A property is its name, its parameters, its type and its values",
        arguments: [
            (
                "RECURRENCE-ID;TZID=Europe/Berlin:20260105T090000",
                #"["recurrence-id",{"tzid":"Europe/Berlin"},"date-time","2026-01-05T09:00:00"]"#
            ),
            ("RECURRENCE-ID;VALUE=DATE:20260105", #"["recurrence-id",{},"date","2026-01-05"]"#),
            ("DURATION:PT1H30M", #"["duration",{},"duration","PT1H30M"]"#),
            ("CATEGORIES:foo,blue\\, fish", #"["categories",{},"text","foo","blue, fish"]"#),
            ("SUMMARY:a\\nb\\, \"c\" \\\\ \té", #"["summary",{},"text","a\nb, \"c\" \\ \té"]"#),
            ("GEO:37.386013;-122.0829320", #"["geo",{},"float",[37.386013,-122.0829320]]"#),
            ("PRIORITY:05", #"["priority",{},"integer",5]"#),
            ("X-NO;VALUE=BOOLEAN:false", #"["x-no",{},"boolean",false]"#),
            ("X-OFF;VALUE=UTC-OFFSET:-053015", #"["x-off",{},"utc-offset","-05:30:15"]"#),
            ("X-RAW;X-P=a,b:c\\,d;e", #"["x-raw",{"x-p":["a","b"]},"unknown","c\\,d;e"]"#),
            ("URL:https://a/?b,c;d", #"["url",{},"uri","https://a/?b,c;d"]"#),
            (
                "ATTENDEE;CN=\"A:B\":mailto:a@b",
                #"["attendee",{"cn":"A:B"},"cal-address","mailto:a@b"]"#
            ),
            (
                "RRULE:FREQ=MONTHLY;UNTIL=20270105T080000Z;BYDAY=-1FR;BYMONTH=1,3;WKST=SU",
                #"["rrule",{},"recur",{"freq":"MONTHLY","until":"2027-01-05T08:00:00Z","byday":"-1FR","#
                    + #""bymonth":[1,3],"wkst":"SU"}]"#
            ),
            (
                "RDATE;VALUE=PERIOD:20260109T090000Z/PT1H",
                #"["rdate",{},"period",["2026-01-09T09:00:00Z","PT1H"]]"#
            ),
        ])
    func properties(_ content: String, _ json: String) throws {
        #expect(try line(content) == json)
    }

    @Test("Foundation reads it as JSON")
    func isJSON() throws {
        let object = try JSONSerialization.jsonObject(with: Data(Forms.rich.jCal()))
        let calendar = try #require(object as? [Any])
        #expect(calendar[0] as? String == "vcalendar")
        #expect((calendar[2] as? [Any])?.count == 10)
    }

    @Test("What other writers do otherwise is read too")
    func liberal() throws {
        let text = try CalendarReader.iCalendarText(
            fromJCal: Array(
                #"""
                 [["VCalendar", [["version", {}, "text", "2.0"]], [["VEVENT", [
                  ["UID", {}, "text", "one"], ["dtstamp", {}, "date-time", "2026-01-01T00:00:00Z"],
                  ["dtstart", {"tzid": "Europe/Berlin", "value": "X"}, "date-time", "2026-01-05T09:00:00"],
                  ["rrule", {}, "recur", {"interval": 2, "freq": "WEEKLY", "byday": ["MO", "WE"]}],
                  ["rdate", {}, "period", "2026-01-09T09:00:00Z/PT1H"],
                  ["summary", {}, "text", "\ud834\udd1e \ud834 \u00e9\/"], ["comment", {}, "text"],
                  ["location", {}, "text", null], ["sequence", {}, "integer", "2"]
                 ]]]]]
                """#.utf8))
        let event = try #require(CalendarReader().read(text).first)
        #expect(event.uid == "one")
        #expect(event.start?.zone?.identifier == "Europe/Berlin")
        #expect(event.recurrence.rules.map(\.description) == ["FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE"])
        #expect(event.recurrence.additions.count == 1)
        #expect(event.summary == "𝄞 \u{FFFD} é/")
        #expect(event.location == nil)
        #expect(event.sequence == 2)
    }

    @Test("A line break cannot make a line of its own, nor a name a component")
    func injection() throws {
        let text = Forms.text(
            try CalendarReader.iCalendarText(
                fromJCal: Array(
                    #"""
                    ["vcalendar", [["x-a", {"x-p": "1\r\nBEGIN:VEVENT"}, "unknown", "2\r\nBEGIN:VEVENT"],
                    ["url", {}, "uri", "3\nEND:VCALENDAR"]], []]
                    """#.utf8)))
        #expect(text.split(separator: "\r\n").count == 4)
        for name in ["begin", "end", "x:y", "x\\ny", ""] {
            #expect(throws: FormError.self) {
                try CalendarReader.iCalendarText(
                    fromJCal: Array("[\"vcalendar\",[[\"\(name)\",{},\"text\",\"VEVENT\"]],[]]".utf8))
            }
        }
    }

    @Test(
        "A text that is not jCal is refused with a reason, and with the line where the JSON is broken",
        arguments: [
            ("", 1, "The document ends where a value is expected."),
            ("{}", nil, "The JSON is not a calendar: it has to be an array."),
            ("[]", nil, "The JSON is not a calendar: it has to be an array."),
            ("[\n\"vcalendar\",\n[}", 3, "Here a value is expected."),
            ("[1]\n2", 2, "Here the end of the document is expected."),
            ("[\"vcalendar\",[[\"a\",{},\"text\",{}]],[]]", nil, "A value of a cannot be read."),
            ("[\"vcalendar\",[[\"a\",{\"b\":{}},\"text\",\"c\"]],[]]", nil, nil),
            ("[\"vcalendar\",7]", nil, nil),
            ("[\"a\nb\"]", 1, "Control characters in a text are written as \\u00XX."),
            ("[\n\n[", 3, "The document ends where a value is expected."),
            ("[\"vcalendar\",\n[],\n[]", 3, "The document ends where “,” or “]” is expected."),
            ("[\"\\u12\"]", nil, nil), ("[01]", nil, nil), ("[1.]", nil, nil), ("[\"a", nil, nil), ("[tru]", nil, nil),
        ] as [(String, Int?, String?)])
    func refusals(_ text: String, _ line: Int?, _ message: String?) throws {
        let error = try #require(
            throws: FormError.self, performing: { try CalendarReader.iCalendarText(fromJCal: Array(text.utf8)) })
        if let line { #expect(error.line == line) }
        if let message { #expect(error.message == message) }
    }

    @Test("A byte order mark does not hide what the text after it is")
    func byteOrderMark() {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let jCal = Array(
            #"["vcalendar",[],[["vevent",[["uid",{},"text","a"],["dtstart",{},"date","2026-03-03"]],[]]]]"#.utf8)
        let reading = CalendarReader().read(anyForm: mark + jCal)
        #expect(reading.refusal == nil && reading.format == .jCal && reading.events.map(\.uid) == ["a"])
        for (text, format) in [("[1]", .json), ("<!DOCTYPE html>", .html), (" ", .empty)] as [(String, SourceFormat)] {
            #expect(CalendarReader().read(mark + Array(text.utf8)).format == format)
        }
    }

    @Test("A calendar that holds nothing that can be read is refused as the reader refuses it")
    func nothing() throws {
        let error = try #require(
            throws: FormError.self,
            performing: {
                try ICalendar(jCal: Array("[\"vcalendar\",[],[[\"vevent\",[[\"uid\",{},\"text\",\"x\"]],[]]]]".utf8))
            })
        #expect(error.message.contains("no start"))
        let two = "[[\"vcalendar\",[],[]],[\"vcalendar\",[],[]]]"
        #expect(throws: FormError.self) { try ICalendar(jCal: Array(two.utf8)) }
    }
}
