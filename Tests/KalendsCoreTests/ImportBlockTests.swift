// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Testing

@testable import KalendsCore

@Suite("Blocks of the events of a file")
struct ImportBlockTests {
    @Test("They are passed on in the order of the file, and hold each event once", arguments: [1, 99, 100, 101, 1250])
    func order(_ count: Int) throws {
        let components = (0..<count).map { number in
            """
            BEGIN:VEVENT\r\nUID:\(number)\r\nDTSTART:20260303T100000Z\r\n\
            SUMMARY:\(String(repeating: "x", count: number * 7919 % 300))\r\nEND:VEVENT\r\n
            """
        }
        let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n\(components.joined())END:VCALENDAR\r\n"
        var passed: [[ReadEvent]] = []
        let source = try ImportSource(
            Array(text.utf8), assumedTimeZone: "UTC", limit: 1 << 20, pass: { passed.append($0) })
        #expect(source.events.count == count)
        #expect(passed.dropLast().allSatisfy { $0.count == 100 } && passed.count == (count + 99) / 100)
        let read = try passed.flatMap { try ImportBlock.packed($0).blocks.flatMap(ImportBlock.events) }
        #expect(read.map(\.event.uid) == (0..<count).map(String.init))
        #expect(read.map(\.event) == source.events.map(\.event) && read.map(\.line) == source.events.map(\.line))
    }

    @Test("Blocks of long events are short, and an event that is too large for any is reported with its line")
    func long() throws {
        let guest = "ATTENDEE;CN=\(String(repeating: "x", count: 900)):mailto:a@example.com\r\n"
        let components = (0..<40).map { number in
            """
            BEGIN:VEVENT\r\nUID:\(number)\r\nDTSTART:20260303T100000Z\r\n\
            DESCRIPTION:\(String(repeating: "x", count: 50 << 10))\r\n\
            \(number == 7 ? String(repeating: guest, count: 2500) : "")END:VEVENT\r\n
            """
        }
        let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n\(components.joined())END:VCALENDAR\r\n"
        var (blocks, tooLarge): ([[UInt8]], [ReadEvent]) = ([], [])
        var source = try ImportSource(
            Array(text.utf8), assumedTimeZone: "UTC", limit: 8 << 20,
            pass: {
                let packed = ImportBlock.packed($0)
                blocks += packed.blocks
                tooLarge += packed.tooLarge
            })
        source.leaveOut(tooLarge)
        #expect(blocks.allSatisfy { $0.count <= 256 << 10 } && blocks.count >= 8)
        #expect(try blocks.map(ImportBlock.count).reduce(0, +) == 39 && source.summary.events == 39)
        #expect(
            try blocks.flatMap(ImportBlock.events).map(\.event.uid) == (0..<40).filter { $0 != 7 }.map(String.init))
        let problem = try #require(source.summary.problems.first { $0.code == "event-skipped" })
        #expect(problem.line == 3 + 7 * 5 && problem.uid == "7" && source.summary.skipped == 1)
        #expect(problem.sentence.text == "The event is larger than 2048 KiB.")
    }

    @Test("A block says how many events it has, and an empty one is refused", arguments: ["0;", "101;", "-1;", "x"])
    func counted(_ bytes: String) {
        #expect(throws: PackError.self) { _ = try ImportBlock.count(Array(bytes.utf8)) }
        #expect(throws: PackError.self) { _ = try ImportBlock.events(Array(bytes.utf8)) }
    }
}
