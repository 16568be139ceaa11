// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ICalBridge

@Suite("Hostile input is answered, quickly and in whole", .ownThread)
struct HostileInputTests {
    @Test("A text that is not a calendar is refused with a helpful sentence")
    func otherFormats() {
        func format(_ text: String) -> SourceFormat {
            let reading = Reading.of(text)
            #expect(reading.refusal != nil)
            #expect(reading.events.isEmpty)
            return reading.format
        }
        #expect(format("<!DOCTYPE html><html><body>Sign in</body></html>") == .html)
        #expect(
            Reading.of("<html>").refusal == "This is a web page, not a calendar: the link probably needs a sign-in.")
        #expect(format("[\"vcalendar\", [], []]") == .jCal)
        #expect(format("{\"error\": 401}") == .json)
        #expect(format("") == .empty)
        #expect(format(" \r\n\t\u{0}") == .empty)
        #expect(format("Dear Sir") == .text)
        #expect(format("<?xml version=\"1.0\"?><icalendar/>") == .xml)
        #expect(format("BEGIN:VCARD\nVERSION:3.0\nEND:VCARD\n") == .contacts)
        #expect(CalendarReader().read([0x50, 0x4B, 3, 4] + (0...255).map { UInt8($0) }).format == .binary)
        #expect(CalendarReader().read((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ 5) }).refusal != nil)
    }

    @Test("A file cut short at any byte is read as far as it goes")
    func cutAnywhere() {
        let whole = Array(
            Reading.calendar(
                ZoneResolutionSample.zone
                    + Reading.event([
                        "DTSTART;TZID=Mine:20260101T090000", "SUMMARY:Caf\u{E9}\\, \u{1F600}",
                        "RRULE:FREQ=DAILY;COUNT=3", "BEGIN:VALARM",
                        "TRIGGER:-PT5M", "END:VALARM",
                    ]) + Reading.event(["DTSTART:20260101T090000Z"])
            ).utf8)
        for length in 0...whole.count {
            let reading = CalendarReader().read(Array(whole[..<length]))
            #expect(reading.events.count <= 2)
            #expect(reading.calendars.isEmpty || reading.lines.count == reading.calendars.count)
        }
        #expect(CalendarReader().read(whole).events.count == 2)
    }

    @Test("Any byte of a file may be any other")
    func flipped() {
        let whole = Array(
            Reading.calendar(
                ZoneResolutionSample.zone + Reading.event(["DTSTART;TZID=Mine:20260101T090000", "SUMMARY:x"])
            ).utf8)
        for index in whole.indices {
            for byte: UInt8 in [0, 10, 13, 32, 34, 58, 59, 92, 0xC3, 0xFF] {
                var bytes = whole
                bytes[index] = byte
                #expect(CalendarReader().read(bytes).events.count <= 1)
            }
        }
    }

    /// A limit far above the usual time; a debug build is ten times slower than a release.
    private static let patience: Duration = .seconds(Programs.isSanitized ? 60 : 20)

    @Test("Inputs that make readers slow take time in line with their size")
    func linear() {
        let head =
            "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20260101T000000Z\r\nUID:a\r\nDTSTAMP:20260101T000000Z\r\n"
        let tail = "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
        let shapes: [(String, String)] = [
            ("nine megabytes on one line", "SUMMARY:" + String(repeating: "x", count: 9_000_000)),
            ("ten megabytes without a line end", String(repeating: "A:", count: 4_500_000)),
            ("a million lines that are none", String(repeating: "A\r\n", count: 1_000_000)),
            ("a hundred thousand parameters", "SUMMARY" + String(repeating: ";A=1", count: 100_000) + ":x"),
            ("a million quotes", "SUMMARY;A=" + String(repeating: "\"", count: 1_000_000) + ":x"),
            ("three thousand REQUEST-STATUS", String(repeating: "REQUEST-STATUS:2.8;x;y\r\n", count: 3000)),
            ("a million folds", "SUMMARY:x" + String(repeating: "\r\n y", count: 1_000_000)),
            (
                "deep nesting",
                String(repeating: "BEGIN:VALARM\r\n", count: 5000) + String(repeating: "BEGIN:X\r\n", count: 5000)
            ),
            ("raw lines below a text", "DESCRIPTION:x\r\n" + String(repeating: "lorem ipsum\r\n", count: 300_000)),
            ("commas", "CATEGORIES:" + String(repeating: "a,", count: 400_000)),
            ("a rule of many parts", "RRULE:FREQ=DAILY" + (0..<170_000).map { ";A\($0)" }.joined()),
        ]
        for (name, body) in shapes {
            let bytes = Array((head + body + tail).utf8)
            let time = effort {
                let reading = CalendarReader().read(bytes)
                #expect(reading.events.count == 1, "\(name)")
                #expect(reading.problems.count < 10_000, "\(name)")
            }
            #expect(time < Self.patience, "\(name)")
        }
        let lines = Array(String(repeating: "A\r\n", count: 3_400_000).utf8)
        var refusal: String?
        let time = effort { refusal = CalendarReader().read(lines).refusal }
        #expect(refusal != nil)
        #expect(time < Self.patience)
    }

    @Test(
        "A TZID is never a path",
        arguments: ["../../../etc/passwd", "/etc/passwd", "/dev/stdin", "Z1", "..", "\u{1}", ""])
    func tzidPaths(_ tzid: String) {
        let reading = Reading.ofEvent("DTSTART;TZID=\(tzid):20260101T090000")
        #expect(reading.first?.start == .floating(Reading.wall("20260101T090000")))
    }

    @Test("A VTIMEZONE with FREQ=SECONDLY costs nothing and is said")
    func zoneBomb() {
        let zone = [
            "BEGIN:VTIMEZONE", "TZID:Bomb", "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:+0100",
            "TZOFFSETTO:+0200",
            "RRULE:FREQ=SECONDLY", "END:STANDARD", "END:VTIMEZONE",
        ]
        let reading = Reading.ofEvent("DTSTART;TZID=Bomb:20260101T090000", inCalendar: zone)
        #expect(reading.codes == ["zone-rule-refused"])
        #expect(reading.first?.start?.instant(floatingIn: FixedOffset.utc).description == "2026-01-01T07:00:00Z")
    }

    @Test("A VTIMEZONE whose clock changes every day, and dates in thousands of years, cost little and are said")
    func changesEveryDay() throws {
        let months = (1...12).map(String.init).joined(separator: ",")
        let rule = "RRULE:FREQ=YEARLY;BYMONTH=\(months);BYDAY=SU,MO,TU,WE,TH,FR,SA"
        let zone =
            ["BEGIN:VTIMEZONE", "TZID:Own"]
            + (0..<60).flatMap {
                [
                    "BEGIN:STANDARD", "DTSTART:197001\($0 % 28 + 1 < 10 ? "0" : "")\($0 % 28 + 1)T000000",
                    "TZOFFSETFROM:+0100", "TZOFFSETTO:+0130", rule, "END:STANDARD",
                ]
            } + ["END:VTIMEZONE"]
        let dates = (1971..<5970).map { "RDATE;TZID=Own:\($0)0601T090000" }
        let event = Reading.event(["DTSTART;TZID=Own:19710101T090000"] + dates)
        var found: CheckedObject?
        let time = effort {
            found = try? CalendarObjectCheck.checked(Array(Reading.calendar(zone + event).utf8))
        }
        #expect(time < Self.patience)
        #expect(found == nil || found?.span != nil)
        let codes = Reading.of(Reading.calendar(zone + event)).codes
        #expect(codes.contains("zone-rule-refused"))
    }

    @Test("Seven hundred EXDATEs are all kept, on one line or on many")
    func manyExclusions() {
        let dates = (0..<700).map { Reading.day("20260101").adding(days: $0).basic + "T090000Z" }
        let one = Reading.ofEvent(
            "DTSTART:20260101T090000Z", "RRULE:FREQ=DAILY", "EXDATE:" + dates.joined(separator: ","))
        #expect(one.first?.recurrence.exclusions.count == 700)
        #expect(one.problems.isEmpty)
        let many = Reading.of(
            Reading.calendar(
                Reading.event(["DTSTART:20260101T090000Z", "RRULE:FREQ=DAILY"] + dates.map { "EXDATE:\($0)" })))
        #expect(many.first?.recurrence.exclusions == one.first?.recurrence.exclusions)
    }

    @Test("A thousand categories are all kept")
    func manyCategories() {
        let names = (0..<1000).map { "c\($0)" }
        let reading = Reading.ofEvent("DTSTART:20260101T090000Z", "CATEGORIES:" + names.joined(separator: ","))
        #expect(reading.first?.categories == names)
    }

    @Test("What is beyond the limits is left out and reported")
    func limits() {
        var options = CalendarReader.Options()
        options.limits.components = 3
        options.limits.properties = 10
        options.limits.bytes = 100_000
        let reader = CalendarReader(options: options)
        let events = reader.read(
            Array(
                Reading.calendar(
                    Array(repeating: Reading.event(["DTSTART:20260101T000000Z"]), count: 5).flatMap(\.self)
                ).utf8))
        #expect(events.events.count == 3)
        #expect(events.skipped == 2)
        #expect(events.codes.contains("too-many-components"))
        let properties = reader.read(
            Array(
                Reading.calendar(Reading.event(["DTSTART:20260101T000000Z"] + Array(repeating: "X-A:b", count: 20)))
                    .utf8))
        #expect(properties.codes.contains("too-many-properties"))
        #expect(reader.read(Array(repeating: 65, count: 100_001)).refusal?.contains("100001 bytes") == true)
    }

    @Test("Files are read on several threads at once, each as if it were the only one")
    func threads() async {
        let text = Reading.calendar(
            Reading.event(["DTSTART;TZID=W. Europe Standard Time:20260101T090000", "SUMMARY:a\\,b"]))
        let alone = Reading.of(text)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { Reading.of(text) == alone } }
            for await same in group { #expect(same) }
        }
    }
}

private enum ZoneResolutionSample {
    static let zone = [
        "BEGIN:VTIMEZONE", "TZID:Mine", "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:+0130",
        "TZOFFSETTO:+0130",
        "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "END:STANDARD", "END:VTIMEZONE",
    ]
}
