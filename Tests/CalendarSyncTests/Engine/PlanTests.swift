// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Testing

@testable import CalendarSync

/// The parts of a plan, each on its own.
@Suite struct PlanTests {
    static let item = ItemKey(.appointments, "a0")
    static let series = Entry(title: "x", span: World.span(0), repetition: Repetition(rrule: "FREQ=DAILY;COUNT=5"))
    static let second = World.span(0).start.adding(seconds: World.day)

    @Test(
        "The brake needs more than 10 events and more than a fifth",
        arguments: [
            (10, 1, false), (11, 54, true), (11, 55, false), (12, 59, true), (100, 500, false), (101, 500, true),
        ])
    func brake(deletions: Int, linked: Int, holds: Bool) {
        #expect(DeletionLimit().holds(deletions, of: linked) == holds)
    }

    @Test("What two writes left out is said of both, and once")
    func unwrittenTwice() {
        let whole = Entry(title: "x", notes: "Notes", location: "Place", span: World.span(0))
        var former = Link(item: Self.item, state: .linked, since: Instant(seconds: 0))
        former.agreed = Agreement(
            ours: Entry(title: "x", notes: "Notes", span: World.span(0)),
            theirs: Entry(title: "x", notes: "No", span: World.span(0)))
        (former.unwritten, former.unwrittenFields) = ("Less of the notes.", [.notes])
        var link = Link(item: Self.item, state: .linked, since: Instant(seconds: 0))
        link.agreed = Agreement(
            ours: whole, theirs: Entry(title: "x", notes: "No", location: "Pl", span: World.span(0)))
        (link.unwritten, link.unwrittenFields) = ("Less of the location.", [.location])
        for _ in 0..<2 {
            link.keepUnwritten(of: former)
            #expect(link.unwritten == "Less of the notes. Less of the location.")
            #expect(link.unwrittenFields == [.notes, .location])
        }
    }

    @Test("A series lies in a window if any of its occurrences does, and none that was cancelled")
    func windows() {
        func window(_ from: Int, _ to: Int) -> TimeRange {
            TimeRange(from: Instant(seconds: from * World.day), to: Instant(seconds: to * World.day))
        }
        #expect(Self.series.overlaps(window(24, 30)))
        #expect(!Self.series.overlaps(window(25, 30)))
        var cancelled = Self.series
        cancelled.occurrences[World.span(0).start.adding(seconds: 4 * World.day)] = .cancelled
        #expect(!cancelled.overlaps(window(24, 30)))
        var moved = Self.series
        var changed = moved.plain(at: Self.second)
        changed.span = World.span(24 * 8)
        moved.occurrences[Self.second] = .changed(changed)
        #expect(moved.overlaps(window(26, 30)))
        let day = Entry(
            title: "d", span: .days(first: CivilDate(daysSinceEpoch: 20), until: CivilDate(daysSinceEpoch: 21)))
        #expect(day.overlaps(window(21, 22)))
        #expect(!day.overlaps(window(22, 23)))
    }

    @Test(
        "Rules are the same when they give the same times, whatever their text",
        arguments: [
            ("FREQ=DAILY;COUNT=5", "FREQ=DAILY;COUNT=5;WKST=SU", true),
            ("FREQ=DAILY;COUNT=5", "COUNT=5;INTERVAL=1;FREQ=DAILY", true),
            ("FREQ=DAILY;COUNT=2", "FREQ=DAILY;UNTIL=19700122T000000Z", true),
            ("FREQ=DAILY;COUNT=5", "FREQ=DAILY;COUNT=6", false),
            ("FREQ=WEEKLY", "FREQ=DAILY;INTERVAL=7", true),
            ("FREQ=WEEKLY", "FREQ=WEEKLY;INTERVAL=2", false),
            ("FREQ=DAILY;COUNT=1200", "FREQ=DAILY;COUNT=1100", false),
            ("FREQ=DAILY;COUNT=1000", "FREQ=DAILY;COUNT=1001", false),
            ("FREQ=DAILY;COUNT=1200", "FREQ=DAILY;UNTIL=19730504T000000Z", true),
            ("FREQ=DAILY;COUNT=1200", "FREQ=DAILY;UNTIL=19730503T235959Z", false),
            ("FREQ=DAILY", "FREQ=DAILY;UNTIL=20261130T000000Z", false),
            ("FREQ=DAILY;UNTIL=20261130T000000Z", "FREQ=DAILY;UNTIL=20261130T120000Z", true),
            ("FREQ=WEEKLY;UNTIL=20261130T000000Z", "FREQ=DAILY;INTERVAL=7;UNTIL=20261130T000000Z", true),
            ("FREQ=WEEKLY;UNTIL=20261130T000000Z", "FREQ=DAILY;INTERVAL=7;UNTIL=20261118T000000Z", false),
            ("FREQ=DAILY", "INTERVAL=1;FREQ=DAILY;WKST=MO", true),
            ("FREQ=WEEKLY", "FREQ=WEEKLY;BYDAY=WE;WKST=MO", true),
        ])
    func rules(one: String, other: String, isSame: Bool) {
        func rule(_ text: String) -> SeriesRule { SeriesRule(span: World.span(0), rrule: text, rdates: []) }
        #expect((rule(one) == rule(other)) == isSame)
    }

    @Test("A weekly series that moves by a day takes its weekdays, its end, and what it left out and changed along")
    func weekdays() {
        func span(_ day: Int) -> TimeSpan {
            let start = Instant(seconds: day * World.day + 9 * 3600)
            return .timed(start: start, end: start.adding(seconds: 1800), zone: "Europe/Berlin")
        }
        // 1 January 1970 was a Thursday.
        var weekly = Entry(
            title: "x", span: span(0),
            repetition: Repetition(rrule: "FREQ=WEEKLY;UNTIL=19700131T090000Z;BYDAY=TH,SA", exdates: [span(2).start]))
        var changed = weekly.plain(at: span(9).start)
        changed.title = "y"
        weekly.occurrences[span(9).start] = .changed(changed)
        let moved = weekly.applying([.times(span(1))])
        #expect(moved.repetition?.rrule == "FREQ=WEEKLY;UNTIL=19700201T090000Z;BYDAY=FR,SU")
        #expect(moved.occurrences == [span(3).start: .cancelled, span(10).start: .changed(changed)])
        // What a calendar app sends of it is one move.
        #expect(weekly.edits(to: moved) == [.times(span(1))])
    }

    @Test("An occurrence that is reported by itself changes what is known of its series, and nothing else")
    func occurrenceReports() throws {
        let link = Link(
            item: Self.item, externalID: "e", etag: "1", agreed: Agreement(ours: Self.series, theirs: Self.series),
            state: .linked, since: Instant(seconds: 0))
        var changed = Self.series.plain(at: Self.second)
        changed.span = World.span(40)
        let report = RemoteChange.occurrence(
            seriesID: "e", originalStart: Self.second, .changed(changed), etag: "2", updatedAt: Instant(seconds: 9))
        let window = TimeRange(from: Instant(seconds: 0), to: Instant(seconds: 99 * World.day))
        var sightings = Observations()
        sightings.add(
            ChangeSet(changes: [report], isFull: false, cursor: "c"), links: ["e": link], judged: window)
        let entry = try #require(sightings.events["e"]?.entry)
        #expect(entry.occurrences == [Self.second: .changed(changed)])
        #expect(entry.title == "x")

        // The master comes without its occurrences: those that were known remain.
        var master = Self.series
        master.title = "y"
        let event = RemoteEvent(id: "e", etag: "3", mark: nil, content: .master(master))
        sightings.add(
            ChangeSet(changes: [.event(event)], isFull: false, cursor: "d"), links: ["e": link], judged: window)
        #expect(sightings.events["e"]?.entry?.title == "y")
        #expect(sightings.events["e"]?.entry?.occurrences == [Self.second: .changed(changed)])
    }

    @Test("Events that a listing does not return completely, or reports as removed, are looked at")
    func unproven() {
        let window = TimeRange(from: Instant(seconds: 0), to: Instant(seconds: 99 * World.day))
        let far = TimeRange(from: Instant(seconds: 50 * World.day), to: Instant(seconds: 99 * World.day))
        let link = Link(
            item: Self.item, externalID: "e", agreed: Agreement(ours: Self.series, theirs: Self.series), state: .linked,
            since: Instant(seconds: 0))
        func unproven(_ changes: [RemoteChange], isFull: Bool, _ window: TimeRange) -> [String] {
            var sightings = Observations()
            sightings.add(ChangeSet(changes: changes, isFull: isFull, cursor: nil), links: ["e": link], judged: window)
            return sightings.unproven.sortedTexts()
        }
        #expect(unproven([.removed(id: "e"), .removed(id: "nobody's")], isFull: false, window) == ["e"])
        #expect(unproven([], isFull: false, window) == [])
        #expect(unproven([], isFull: true, window) == ["e"])
        #expect(unproven([], isFull: true, far) == [])
        let master = RemoteEvent(id: "new", etag: nil, mark: nil, content: .master(Self.series))
        #expect(unproven([.event(master)], isFull: false, window) == ["new"])
    }
}
