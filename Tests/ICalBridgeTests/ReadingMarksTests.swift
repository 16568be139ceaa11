// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import ICalBridge

@Suite("Combining marks and hidden characters in files")
struct ReadingMarksTests {
    private static let marks = String(repeating: "\u{301}\u{316}", count: 2000)

    private static func calendar(_ lines: String, head: String = "") -> [UInt8] {
        let text =
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//Test//EN\r\n\(head)BEGIN:VEVENT\r\nUID:one@example.com\r\n"
            + "DTSTAMP:20260301T000000Z\r\nDTSTART:20260310T090000Z\r\n\(lines)END:VEVENT\r\nEND:VCALENDAR\r\n"
        return Array(text.utf8)
    }

    private static func texts(_ event: Event) -> [String] {
        var texts = [event.uid, event.summary ?? "", event.description ?? "", event.location ?? "", event.url ?? ""]
        texts += [event.status ?? "", event.classification ?? ""] + event.categories
        let lines = event.otherProperties + event.alarms.flatMap(\.otherProperties)
        texts += lines.flatMap { [$0.value] + $0.parameters.flatMap(\.values) }
        texts += event.alarms.flatMap { [$0.action, $0.description ?? ""] }
        texts += (event.textParameters ?? [:]).values.flatMap { $0.flatMap(\.values) }
        return texts
    }

    @Test(
        "Wherever a file has a long run of marks, thirty of them are read and it is said",
        arguments: [
            "SUMMARY:a\(marks)\r\n", "DESCRIPTION:a\(marks)b\r\n", "LOCATION;LANGUAGE=\"\(marks)\":x\r\n",
            "CATEGORIES:a,\(marks)\r\n", "X-OTHER;P=\(marks):\(marks)\r\n", "STATUS:\(marks)\r\n", "CLASS:\(marks)\r\n",
            "URL:http://\(marks)\r\n",
            "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT5M\r\nDESCRIPTION:\(marks)\r\nEND:VALARM\r\n",
            "COMMENT;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:\(String(repeating: "=CC=81=CC=96", count: 400))\r\n",
            "DESCRIPTION:<html><p>\(String(repeating: "&#x301;&#790;", count: 400))</p></html>\r\n",
        ])
    func bounded(line: String) throws {
        let reading = CalendarReader().read(Self.calendar(line))
        let event = try #require(reading.calendars.first?.events.first)
        #expect(Self.texts(event).allSatisfy { !$0.hasLongRunOfMarks })
        #expect(reading.problems.contains { $0.code == "combining-marks" && $0.line == 4 })
        #expect(reading.problems.allSatisfy { ($0.text ?? "").utf8.count < 1000 && ($0.uid ?? "").utf8.count < 1000 })
    }

    @Test("The name of a calendar is bounded too")
    func names() throws {
        let reading = CalendarReader().read(
            Self.calendar("", head: "X-WR-CALNAME:a\(Self.marks)\r\nX-A:\(Self.marks)\r\n"))
        let calendar = try #require(reading.calendars.first)
        #expect(calendar.name == "a" + String(repeating: "\u{301}\u{316}", count: 15))
        #expect(calendar.otherProperties.allSatisfy { !$0.value.hasLongRunOfMarks })
        #expect(reading.problems.contains { $0.code == "combining-marks" })
    }

    @Test("Two UIDs that differ behind their marks stay two")
    func uids() throws {
        let text = ["b", "c"].map { end in
            "BEGIN:VEVENT\r\nUID:a\(Self.marks)\(end)\r\nDTSTAMP:20260301T000000Z\r\nDTSTART:20260310T090000Z\r\nSUMMARY:\(end)\r\nEND:VEVENT\r\n"
        }
        let reading = CalendarReader().read(
            Array(("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n" + text.joined() + "END:VCALENDAR\r\n").utf8))
        let uids = reading.calendars.flatMap(\.events).map(\.uid)
        #expect(Set(uids).count == 2)
        #expect(uids.allSatisfy { !$0.hasLongRunOfMarks })
    }

    @Test("What turns a title round or hides in it is said when it is read, and not written")
    func hidden() throws {
        let reading = CalendarReader().read(
            Self.calendar(
                "SUMMARY:a\u{202E}b\r\nLOCATION:\u{2067}Room\r\nX-OTHER:c\u{3164}\r\n", head: "NAME:n\u{202E}\r\n"))
        let calendar = try #require(reading.calendars.first)
        #expect(calendar.events.first?.summary == "a\u{202E}b")
        #expect(reading.problems.filter { $0.code == "hidden-characters" }.count == 2)
        let written = String(decoding: calendar.serialized(), as: UTF8.self)
        #expect(written.contains("SUMMARY:ab\r\n"))
        #expect(written.contains("LOCATION:Room\r\n"))
        #expect(written.contains("X-OTHER:c\r\n"))
        #expect(written.contains("NAME:n\r\n"))
        for bytes in [calendar.jCal(), calendar.xCal(), calendar.csv()] {
            #expect(!String(decoding: bytes, as: UTF8.self).hasHiddenCharacters)
        }
    }

    @Test("Directions that a text needs are written as they were read")
    func directions() throws {
        let line = "SUMMARY:\u{2067}שלום\u{2069} \u{200E}Dr. Lee \u{202A}+43 1\u{202C}"
        let reading = CalendarReader().read(Self.calendar(line + "\r\n"))
        #expect(reading.problems.allSatisfy { $0.code != "hidden-characters" })
        let written = String(decoding: try #require(reading.calendars.first).serialized(), as: UTF8.self)
        #expect(written.contains(line))
    }

    @Test("Calendars in other forms are bounded too, and it is said")
    func otherForms() throws {
        let marks = "a" + Self.marks
        for file in [
            #"["vcalendar",[],[["vevent",[["uid",{},"text","j"],["dtstart",{},"date","2026-03-02"],"#
                + #"["summary",{},"text","\#(marks)"]],[]]]]"#,
            #"<icalendar xmlns="urn:ietf:params:xml:ns:icalendar-2.0"><vcalendar><components><vevent><properties>"#
                + "<summary><text>\(marks)&#x301;</text></summary><dtstart><date>2026-03-02</date></dtstart></properties>"
                + "</vevent></components></vcalendar></icalendar>",
            "start,summary\r\n2026-03-02,\(marks)\r\n",
        ] {
            let reading = CalendarReader().read(anyForm: Array(file.utf8))
            let event = try #require(reading.events.first, "\(reading.refusal ?? "")")
            #expect(event.summary == "a" + String(repeating: "\u{301}\u{316}", count: 15))
            #expect(reading.problems.contains { $0.code == "combining-marks" })
        }
    }

    @Test("Whatever a reader makes of bytes is quick to normalize")
    func texts() throws {
        let marks = Array("a\(Self.marks)".utf8)
        let root = try XMLReader.read(Array("<x b=\"a\(Self.marks)\">a\(Self.marks)</x>".utf8))
        let escaped = Array(("a" + Self.marks.unicodeScalars.map { "\\\($0)" }.joined()).utf8)
        var texts = [root.text, root.trimmed, TextValue.decoded(marks), TextValue.decoded(escaped)]
        texts += root.attributes.map(\.value)
        texts += try CSVTable(Array("start,b\r\n2026-03-02,".utf8) + marks).rows.flatMap(\.cells)
        texts.append(DirectText.string(marks.span, 0..<marks.count))
        for text in texts { #expect(text.fromOutside.isSameText(as: text)) }
        // A calendar object is written back as it came.
        #expect(root.bytes == marks)
    }

    @Test("Another spelling of a letter is an edit of an event")
    func spelling() {
        var (one, other) = (Event(uid: "u", start: nil), Event(uid: "u", start: nil))
        (one.summary, other.summary) = ("caf\u{E9}", "cafe\u{301}")
        #expect(one != other)
        (one.summary, other.summary) = (nil, nil)
        (one.otherProperties, other.otherProperties) = (
            [ContentLine(name: "X-A", value: "\u{E9}")], [ContentLine(name: "X-A", value: "e\u{301}")]
        )
        #expect(one != other)
        one.otherProperties = other.otherProperties
        #expect(one == other)
    }
}
