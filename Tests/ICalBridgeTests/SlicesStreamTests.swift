// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ICalBridge

@Suite("A file read slice by slice is the file read at once", .ownThread)
struct SlicesStreamTests {
    /// Everything that a reading reports, with the problems of one line in a fixed order.
    private struct Outcome: Equatable {
        var reading: CalendarReading
        var problems: [String]

        init(_ reading: CalendarReading) {
            self.reading = reading
            self.reading.problems = []
            problems = reading.problems.map { "\($0)" }.sorted()
        }
    }

    private static func chunks(_ bytes: [UInt8], of size: Int) -> () -> (() -> [UInt8]?) {
        {
            var start = 0
            return {
                guard start < bytes.count else { return nil }
                defer { start += size }
                return Array(bytes[start..<min(start + size, bytes.count)])
            }
        }
    }

    /// Returns what streaming gives, put together as if it had been read at once.
    private static func streamed(_ bytes: [UInt8], by size: Int, _ options: CalendarReader.Options) throws -> Outcome {
        var calendars: [Int: ([Event], [ClosedRange<Int>])] = [:]
        var problems: [Problem] = []
        var reading = try CalendarReader(options: options).stream(rereading: chunks(bytes, of: size)) { slice in
            calendars[slice.calendar, default: ([], [])].0 += slice.events
            calendars[slice.calendar, default: ([], [])].1 += slice.lines
            problems += slice.problems
        }
        for (index, (events, lines)) in calendars {
            reading.calendars[index].events = events
            reading.lines[index] = lines
        }
        reading.problems += problems
        return Outcome(reading)
    }

    private static func expectSame(_ bytes: [UInt8], _ name: String, by sizes: [Int] = [1, 7, 4096, 65536]) throws {
        var options = CalendarReader.Options(limits: .large)
        let whole = Outcome(CalendarReader(options: options).read(bytes))
        for size in sizes {
            options.partSize = size < 100 ? 200 : 1 << 20
            #expect(try streamed(bytes, by: size, options) == whole, "\(name) in chunks of \(size)")
        }
    }

    @Test("Files that others wrote")
    func corpus() throws {
        for file in CalendarFile.all {
            let (path, bytes) = (file.path, try file.bytes)
            // A debug build needs long for single bytes of long files.
            let sizes = bytes.count < 30_000 ? [1, 7, 4096, 65536] : bytes.count < 1_000_000 ? [4096, 65536] : [65536]
            try Self.expectSame(bytes, path, by: sizes)
        }
    }

    @Test("Anything at the end of a part", arguments: [1, 3, 40, 64, 200])
    func edges(partSize: Int) throws {
        let event = Reading.event(["DTSTART;TZID=Late:20260101T090000", "SUMMARY:a\r\n  folded\\, text"])
        let bodies: [[String]] = [
            event + event, event + ["BEGIN:VEVENT", "DTSTART:20260101"] + event,
            ["DESCRIPTION:calendar", "goes on", "and on"] + event,
            ["BEGIN:X-FOO", "SUMMARY:x", "y"] + event + ["END:X-FOO"] + event,
            Reading.event([
                "DTSTART:20260101T090000Z", "DESCRIPTION;ENCODING=QUOTED-PRINTABLE:a=", "b=", "c", "d: e", "raw line",
                "BEGIN:VALARM", "TRIGGER:-PT5M", "DESCRIPTION:x", "y", "END:VALARM", "SUMMARY:t", "\r\n", " u",
            ]),
            [
                "BEGIN:VTIMEZONE", "TZID:Late", "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:+0130",
                "TZOFFSETTO:+0130", "END:STANDARD", "END:VTIMEZONE", "X-WR-TIMEZONE:Europe/Rome",
            ],
            ["END:VCALENDAR", "junk", "junk", "BEGIN:VCALENDAR"] + event + ["END:VCALENDAR", "BEGIN:VEVENT", "UID:z"],
            Reading.event(["DTSTART:20260102T000000Z", "RECURRENCE-ID:20260102T000000Z", "SUMMARY:\u{7F}\u{FEFF}x"]),
            Reading.event(["DTSTART;VALUE=DATE:20260101", "RRULE:FREQ=DAILY"]),
            ["BEGIN:VEVENT", "DTSTART:20260101T090000", "END:VEVENT", "BEGIN:VEVENT", "DTSTART:20260101T090000"],
        ]
        var options = CalendarReader.Options()
        options.partSize = partSize
        for first in bodies.indices {
            for second in bodies.indices {
                let text = Reading.calendar(bodies[first] + bodies[second] + event)
                var inputs = [Array(text.utf8)]
                if first == second {
                    inputs.append([0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
                    inputs.append(text.utf16.map { $0 < 256 ? UInt8($0) : 0xE4 })
                    inputs.append([0xEF, 0xBB, 0xBF] + inputs[0].flatMap { $0 == 10 ? [0, 10] : [$0] })
                    inputs.append(inputs[0].filter { $0 != 10 })
                }
                for bytes in inputs {
                    let whole = Outcome(CalendarReader(options: options).read(bytes))
                    #expect(try Self.streamed(bytes, by: 5, options) == whole, "\(first) and \(second)")
                }
            }
        }
    }

    @Test("A text that is not a calendar, or is too long, is refused with the same words")
    func refused() throws {
        var options = CalendarReader.Options()
        options.limits.bytes = 400
        options.partSize = 16
        let texts = [
            "", " \r\n", "<!doctype html><p>a</p>", "{\"a\":1}", "[\"vcalendar\"]", "Dear Sir", "a\u{0}b",
            String(repeating: "BEGIN:VCALENDAR\r\n", count: 30), "BEGIN:VCARD\r\nEND:VCARD\r\n", "BEGIN:VCALENDAR",
            "\u{1F}PK\u{3}\u{4}", "beg\r\n in:vevent\r\nEND:VEVENT", String(repeating: "x", count: 401),
        ]
        for text in texts {
            let bytes = Array(text.utf8)
            let whole = Outcome(CalendarReader(options: options).read(bytes))
            for size in [1, 7, 4096] { #expect(try Self.streamed(bytes, by: size, options) == whole, "\(text)") }
        }
    }

    @Test("An error of the source or of the caller ends the reading")
    func errors() {
        struct Stop: Error {}
        let bytes = Array(Reading.calendar(Reading.event(["DTSTART:20260101T090000Z"])).utf8)
        #expect(throws: Stop.self) {
            _ = try CalendarReader().stream(rereading: Self.chunks(bytes, of: 9)) { _ in throw Stop() }
        }
        #expect(throws: Stop.self) {
            _ = try CalendarReader().stream(rereading: { { throw Stop() } }, { _ in })
        }
    }
}
