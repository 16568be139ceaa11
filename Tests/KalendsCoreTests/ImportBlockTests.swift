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
        let read = try passed.flatMap { try ImportBlock.events(ImportBlock.packed($0)) }
        #expect(read.map(\.event.uid) == (0..<count).map(String.init))
        #expect(read.map(\.event) == source.events.map(\.event) && read.map(\.line) == source.events.map(\.line))
    }
}
