// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Testing

@testable import KalendsCore

@Suite("The items of an import's report as they are stored")
struct ImportItemTests {
    private static func times() throws -> [EventTime?] {
        let wall = try #require(CivilDateTime(basic: "20260121T090000"))
        let zone = try #require(TimeZoneReference("Europe/Vienna"))
        return [
            nil, .date(wall.date), .floating(wall), .utc(Instant(utc: wall)), .zoned(wall, zone),
        ]
    }

    @Test("An item is the same JSON as its members, with sorted keys")
    func form() throws {
        for start in try Self.times() {
            for end in try Self.times() {
                for (title, reason) in [(nil, "Because of “this”.\n"), ("A \"title\" \\ \u{1}\té会", nil), ("", "")] {
                    var event = Event(uid: "a\"b\r@x", start: start)
                    event.end = end.map { .time($0) }
                    event.summary = title
                    var item = ImportPlan.Item(
                        id: "AbC-_1", event: event, line: 7, change: .updated, isShared: reason == nil)
                    item.reason = reason.map(Sentence.init(ofOthers:))
                    let marked = Marked(value: Imports.Item(item), isShared: item.isShared)
                    let text = try marked.text()
                    let expected: JSONValue = [
                        "itemId": "AbC-_1", "uid": .string(event.uid), "change": "updated", "kind": "event",
                        "summary": JSONValue(title),
                        "start": start?.json ?? .null, "end": event.effectiveEnd?.json ?? .null,
                        "reason": JSONValue(reason), "shared": .bool(reason == nil),
                    ]
                    #expect(Array(text.utf8) == (try expected.serialized()))
                    #expect(try Marked<Imports.Item>(stored: text).json == expected)
                }
            }
        }
    }
}
