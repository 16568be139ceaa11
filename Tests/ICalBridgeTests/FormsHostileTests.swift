// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ICalBridge

@Suite("Hostile jCal, xCal and CSV", .ownThread)
struct FormsHostileTests {
    @Test("Deep nesting is refused, never followed")
    func deep() {
        let json = String(repeating: "[", count: 1_000_000)
        #expect(throws: FormError.self) { try CalendarReader.iCalendarText(fromJCal: Array(json.utf8)) }
        let objects = String(repeating: "{\"a\":", count: 100_000)
        #expect(throws: FormError.self) { try CalendarReader.iCalendarText(fromJCal: Array(objects.utf8)) }
        let xml = String(repeating: "<icalendar>", count: 100_000)
        #expect(throws: FormError.self) { try CalendarReader.iCalendarText(fromXCal: Array(xml.utf8)) }
        var components = "[\"vcalendar\",[],[]]"
        for _ in 0..<10 { components = "[\"vevent\",[],[" + components + "]]" }
        #expect(throws: FormError.self) { try CalendarReader.iCalendarText(fromJCal: Array(components.utf8)) }
    }

    @Test("More bytes than the limit are not looked at")
    func large() {
        let bytes = [UInt8](repeating: 32, count: 1001)
        #expect(throws: FormError.self) { try CalendarReader.iCalendarText(fromJCal: bytes, limit: 1000) }
        #expect(throws: FormError.self) { try CalendarReader.iCalendarText(fromXCal: bytes, limit: 1000) }
        #expect(throws: FormError.self) { try CalendarReader.iCalendarText(fromCSV: bytes, limit: 1000) }
    }

    @Test("What is not UTF-8 is refused")
    func encoding() {
        let utf16 = Array("[\"vcalendar\",[],[]]".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(throws: FormError.self) { try CalendarReader.iCalendarText(fromJCal: [0xFF, 0xFE] + utf16) }
        #expect(throws: FormError.self) { try CalendarReader.iCalendarText(fromXCal: [60, 0xC3, 62]) }
        #expect(throws: FormError.self) { try CalendarReader.iCalendarText(fromCSV: [60, 0xC3, 62]) }
    }

    @Test("Many small pieces take time that grows with their number alone")
    func many() throws {
        let count = 200_000
        func json(_ properties: String) -> String { "[\"vcalendar\",[" + properties + "],[]]" }
        func xml(_ content: String) -> String { "<icalendar><vcalendar>" + content + "</vcalendar></icalendar>" }
        let properties = Array(repeating: "[\"a\",{},\"b\",[]]", count: count).joined(separator: ",")
        let parts = (0..<5000).map { "\"x\($0)\":1" }.joined(separator: ",")
        let byDays = String(repeating: "<byday>MO</byday>", count: count)
        let names = (0..<count / 4).map { "<x\($0)/>" }.joined()
        let namespaces = (0..<count / 4).map { " xmlns:x\($0)='u'" }.joined()
        let inputs: [(CalendarForm, String)] = [
            (.jCal, json(properties)),
            (.jCal, json("[\"rrule\",{},\"recur\",{" + parts + "}]")),
            (.xCal, xml(String(repeating: "<a/>&#10;<!---->", count: count))),
            (.xCal, xml("<properties><rrule><recur>" + byDays + "</recur></rrule></properties>")),
            (.xCal, xml("<properties><rrule><recur>" + names + "</recur></rrule></properties>")),
            (.xCal, "<icalendar" + namespaces + ">" + String(repeating: "<a/>", count: count)),
            (.xCal, "<icalendar>" + String(repeating: "<!-- -- > ", count: count)),
            (.xCal, "<icalendar>" + String(repeating: "&", count: count)),
            (.csv, "start\r\n" + String(repeating: "\"\",", count: count)),
        ]
        for (form, text) in inputs {
            let time = effort {
                let bytes = Array(text.utf8)
                switch form {
                case .jCal: _ = try? CalendarReader.iCalendarText(fromJCal: bytes)
                case .xCal: _ = try? CalendarReader.iCalendarText(fromXCal: bytes)
                default: _ = try? CalendarReader.iCalendarText(fromCSV: bytes)
                }
            }
            // What grew with the square of the number would take hours, a sanitizer makes it some times as long.
            #expect(time < .seconds(Programs.isSanitized ? 60 : 10), "\(form) \(text.prefix(40))")
        }
    }

    @Test("Every cut and every changed byte of a calendar is answered, never a crash")
    func mutations() {
        var random = SplitMix(seed: 7)
        let marks = Array("[]{}<>\"&,;:\\/=".utf8)
        for form in [CalendarForm.jCal, .xCal, .csv] {
            let bytes = Forms.rich.bytes(as: form)
            for _ in 0..<400 {
                var changed = bytes
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let index = Int.random(in: 0..<changed.count, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: changed[index] = UInt8.random(in: 0...255, using: &random)
                    case 1: changed.removeLast(changed.count - index)
                    case 2: changed.remove(at: index)
                    default: changed.insert(marks.randomElement(using: &random) ?? 0, at: index)
                    }
                    if changed.isEmpty { changed = [0] }
                }
                switch form {
                case .jCal: _ = try? ICalendar(jCal: changed)
                case .xCal: _ = try? ICalendar(xCal: changed)
                default: _ = try? ICalendar(csv: changed)
                }
            }
        }
    }
}
