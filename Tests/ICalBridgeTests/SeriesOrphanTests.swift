// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import Testing

@Suite("Overrides that repeat, without the series that they replace")
struct SeriesOrphanTests {
    private static func sample(_ name: String) throws -> [Event] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let bytes = Array(try Data(contentsOf: root.appending(path: "Samples/inbound/\(name).ics")))
        return CalendarReader().read(bytes).events
    }

    private static func occurrences(_ series: [Series]) -> [String] {
        series.flatMap { series in
            Recurring.all(series).map { "\(series.master?.uid.suffix(6) ?? "-") \($0)" }
        }
    }

    @Test("A rescheduled series as Lotus Notes sends it has each of its dates, once")
    func once() throws {
        let series = Series.group(try Self.sample("rescheduled-without-its-series"))
        #expect(series.count == 1 && series[0].master?.recurrenceID == nil && series[0].overrides.isEmpty)
        #expect(
            series.flatMap { Recurring.all($0) }.map { String($0.prefix(16)) } == [
                "20260202T150000Z", "20260302T150000Z", "20260406T140000Z", "20260504T140000Z", "20260601T140000Z",
                "20260706T140000Z",
            ])
    }

    @Test("A later override of the same series has a UID of its own, always the same, and takes over its dates")
    func twice() throws {
        let events = try Self.sample("rescheduled-twice-without-its-series")
        let series = Series.group(events)
        #expect(
            series.map { $0.master?.uid ?? "" } == [
                "5A3D0E1B7C4411F9C1258C2E004D71BB-Lotus_Notes_Generated",
                "5A3D0E1B7C4411F9C1258C2E004D71BB-Lotus_Notes_Generated-20260504T140000Z",
            ])
        let expected = [
            "20260202T150000Z Choir at four", "20260303T150000Z Choir a day later", "20260406T140000Z Choir at four",
            "20260504T160000Z Choir at six", "20260601T160000Z Choir at six", "20260706T160000Z Choir at six",
        ]
        func found(_ series: [Series]) -> [String] {
            series.flatMap { Recurring.all($0) }.map { $0.replacing("/PT30M", with: "") }
        }
        #expect(found(series) == expected)
        // In whatever order they come, and made into series again.
        #expect(found(Series.group(events.reversed())) == expected)
        let again = Series.settled(events).flatMap(\.self)
        #expect(found(Series.group(again)) == expected)
    }

    @Test("Rules of an override end where the next one takes over, and dates of the next are its own")
    func rules() throws {
        var first = try Recurring.override("20260105T090000Z", "20260105T100000Z", summary: "first", future: true)
        first.recurrence.rules = [try RecurrenceRule("FREQ=WEEKLY;COUNT=5")]
        var second = try Recurring.override("20260119T090000Z", "20260120T090000Z", summary: "second", future: true)
        second.recurrence.rules = [try RecurrenceRule("FREQ=WEEKLY;COUNT=2")]
        let found = Series.group([first, second]).flatMap { Recurring.all($0) }
        #expect(
            found == [
                "20260105T100000Z/PT0S first", "20260112T100000Z/PT0S first", "20260120T090000Z/PT0S second",
                "20260127T090000Z/PT0S second",
            ])
        // Of single days' overrides each date belongs to the later one.
        first.appliesToFuture = false
        second.appliesToFuture = false
        second.recurrence = Recurrence(additions: [.init(start: try Recurring.time("20260126T100000Z"))])
        #expect(
            Series.group([first, second]).flatMap { Recurring.all($0) } == [
                "20260105T100000Z/PT0S first", "20260112T100000Z/PT0S first", "20260119T100000Z/PT0S first",
                "20260202T100000Z/PT0S first", "20260120T090000Z/PT0S second", "20260126T100000Z/PT0S second",
            ])
    }

    @Test("In a whole file such series come where their first component was, and everything else stays as it is")
    func file() throws {
        var first = try Recurring.override("20260105T090000", "20260105T100000", summary: "first")
        first.recurrence.rules = [try RecurrenceRule("FREQ=WEEKLY;COUNT=3")]
        var second = try Recurring.override("20260119T090000", "20260112T100000", summary: "second")
        second.recurrence.additions = [.init(start: try Recurring.time("20260119T100000"))]
        var other = try Recurring.event("20260101T090000Z", rules: "FREQ=DAILY")
        other.uid = "other"
        let (kept, gone) = Series.settled(file: [other, second, other, first, first])
        #expect(kept.map(\.event.summary) == [other.summary, "first", "second", other.summary])
        #expect(kept.map(\.position) == [0, 1, 1, 2] && gone == [4])
        #expect(kept.allSatisfy { $0.event.recurrenceID == nil })
        // Times without a zone are left out as times without a zone.
        #expect(
            kept[1].event.recurrence.exclusions == [
                try Recurring.time("20260112T100000"), try Recurring.time("20260119T100000"),
            ])
        #expect(Set(kept.map(\.event.uid)).count == 3)
        let again = Series.settled(file: kept.map(\.event))
        #expect(again.kept.map(\.event) == kept.map(\.event) && again.gone.isEmpty)
    }

    @Test("In a whole file an override that names a day names the occurrence on that day")
    func day() throws {
        let master = try Recurring.event("20260105T090000", "Europe/Vienna", rules: "FREQ=DAILY;COUNT=3")
        let override = try Recurring.override("20260106", "20260106T120000", "Europe/Vienna")
        for events in [[override, master], [master, override]] {
            let kept = Series.settled(file: events).kept.map(\.event)
            #expect(
                kept.compactMap(\.recurrenceID) == [try Recurring.time("20260106T090000", "Europe/Vienna")])
        }
        #expect(Series.settled(file: [override]).kept.map(\.event) == [override])
    }

    @Test("With its series an override stays one, and one without rules or dates too")
    func others() throws {
        let master = try Recurring.event("20260105T090000Z", rules: "FREQ=DAILY;COUNT=3")
        var override = try Recurring.override("20260106T090000Z", "20260106T120000Z")
        override.recurrence.additions = [.init(start: try Recurring.time("20260301T090000Z"))]
        #expect(Series.settled([master, override]) == [[master, override]])
        override.recurrence = Recurrence()
        #expect(Series.settled([override]) == [[override]])
        #expect(Series.group([override]).map { $0.master == nil && $0.overrides.count == 1 } == [true])
    }
}
