// SPDX-License-Identifier: Apache-2.0

import Calendar
import ICalBridge
import Testing

@Suite("Calendars written in parts")
struct WritingPartsTests {
    @Test("The parts are the whole text, and each ends with a component", arguments: [1, 1000, 100_000])
    func parts(size: Int) throws {
        let start = EventTime.date(CivilDate(daysSinceEpoch: 20_000))
        let events = (0..<20).map { number in
            var event = Event(uid: "e\(number)", start: start)
            event.description = String(repeating: "long; ", count: 100)
            return event
        }
        let calendar = ICalendar(name: "Ann", events: events)
        var parts: [[UInt8]] = []
        calendar.write(inPartsOf: size) { parts.append($0) }
        #expect(size == 1 ? parts.count == 21 : (size > 1000) == (parts.count == 1))
        for part in parts.dropLast() { #expect(part.count >= size) }
        #expect(parts.flatMap(\.self) == calendar.serialized())
        for part in parts.dropFirst() { #expect(part.starts(with: "BEGIN:VEVENT".utf8) || part == parts.last) }
    }
}
