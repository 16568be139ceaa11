// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Testing

@Suite("Recurrence: series with exceptions and replacements")
struct RecurrenceSeries {
    private let hour = ICalDuration(seconds: 3600)

    @Test(
        "An EXDATE takes its occurrence away, whatever form it is written in",
        arguments: ["20260107T090000", "20260107T140000Z", "20260107"])
    func exclusion(_ text: String) throws {
        var event = try Recurring.event("20260105T090000", "America/New_York", for: hour, rules: "FREQ=DAILY;COUNT=4")
        event.recurrence.exclusions = [try Recurring.time(text)]
        #expect(
            Recurring.all(Series(master: event, overrides: []))
                == ["20260105T140000Z/PT1H", "20260106T140000Z/PT1H", "20260108T140000Z/PT1H"])
    }

    @Test("An EXDATE in another zone is the same instant")
    func exclusionElsewhere() throws {
        var event = try Recurring.event("20260105T090000", "America/New_York", rules: "FREQ=DAILY;COUNT=2")
        event.recurrence.exclusions = [try Recurring.time("20260106T150000", "Europe/Berlin")]
        #expect(Recurring.all(Series(master: event, overrides: [])) == ["20260105T140000Z/PT0S"])
    }

    @Test("An EXDATE of DTSTART leaves the rest, and COUNT still counts it")
    func exclusionOfStart() throws {
        var event = try Recurring.event("20260105", rules: "FREQ=DAILY;COUNT=3")
        event.recurrence.exclusions = [try Recurring.time("20260105")]
        #expect(Recurring.all(Series(master: event, overrides: [])) == ["20260106/P1D", "20260107/P1D"])
    }

    @Test("A series whose only occurrence is excluded has none")
    func nothingLeft() throws {
        var event = try Recurring.event("20111125T120000Z", rules: "FREQ=WEEKLY;COUNT=1")
        event.recurrence.exclusions = [try Recurring.time("20111125T120000Z")]
        #expect(Recurring.all(Series(master: event, overrides: [])) == [])
    }

    @Test("RDATEs are added, a period with its own end, and one that a rule has too is not doubled")
    func additions() throws {
        var event = try Recurring.event("20260105T090000Z", for: hour, rules: "FREQ=DAILY;COUNT=2")
        event.recurrence.additions = [
            .init(start: try Recurring.time("20260110T090000Z")),
            .init(start: try Recurring.time("20260106T090000Z")),
            .init(start: try Recurring.time("20260103T090000Z"), end: .duration(.init(seconds: 1800))),
            .init(start: try Recurring.time("20260111T090000Z"), end: .time(try Recurring.time("20260111T110000Z"))),
            .init(start: try Recurring.time("20260112")),
        ]
        #expect(
            Recurring.all(Series(master: event, overrides: [])) == [
                "20260103T090000Z/PT30M", "20260105T090000Z/PT1H", "20260106T090000Z/PT1H", "20260110T090000Z/PT1H",
                "20260111T090000Z/PT2H", "20260112T090000Z/PT1H",
            ])
    }

    @Test("Several rules are united, and each counts DTSTART as its first")
    func severalRules() throws {
        let event = try Recurring.event(
            "20260105", rules: "FREQ=WEEKLY;COUNT=2", "FREQ=DAILY;INTERVAL=7;COUNT=3",
            "FREQ=MONTHLY;BYMONTHDAY=1;COUNT=2")
        #expect(
            Recurring.all(Series(master: event, overrides: []))
                == ["20260105/P1D", "20260112/P1D", "20260119/P1D", "20260201/P1D"])
    }

    @Test("An EXRULE of an old file takes away what it matches")
    func exclusionRule() throws {
        var event = try Recurring.event("20260105T090000", "Europe/Berlin", rules: "FREQ=DAILY;COUNT=7")
        event.recurrence.exclusionRules = [try RecurrenceRule("FREQ=WEEKLY;BYDAY=TU,TH,SA,SU")]
        #expect(
            Recurring.all(Series(master: event, overrides: []))
                == ["20260105T080000Z/PT0S", "20260107T080000Z/PT0S", "20260109T080000Z/PT0S"])
    }

    @Test("An override replaces its occurrence, even when it moves into or out of the window")
    func overrides() throws {
        let event = try Recurring.event("20111125T120000Z", for: hour, rules: "FREQ=WEEKLY")
        let series = Series(
            master: event,
            overrides: [
                try Recurring.override("20111209T120000Z", "20111209T140000Z"),
                try Recurring.override("20111216T120000Z", "20120216T120000Z", summary: "out"),
                try Recurring.override("20120217T120000Z", "20111217T120000Z", summary: "in"),
            ])
        #expect(
            Recurring.window(series, "20111201T000000Z", "20111224T000000Z") == [
                "20111202T120000Z/PT1H", "20111209T140000Z/PT0S moved", "20111217T120000Z/PT0S in",
                "20111223T120000Z/PT1H",
            ])
    }

    @Test("The highest SEQUENCE of several overrides of one occurrence counts")
    func versions() throws {
        let event = try Recurring.event("20260105", rules: "FREQ=DAILY;COUNT=1")
        var new = try Recurring.override("20260105", "20260107", summary: "new")
        new.sequence = 2
        let old = try Recurring.override("20260105", "20260106", summary: "old")
        #expect(Recurring.all(Series(master: event, overrides: [new, old])) == ["20260107/P1D new"])
    }

    @Test("An occurrence knows where its series put it, a single event has no such place")
    func recurrenceIDs() throws {
        let event = try Recurring.event("20260105T090000", "America/New_York", rules: "FREQ=DAILY;COUNT=3")
        let moved = try Recurring.override("20260106T140000Z", "20260106T160000Z")
        let found = Series(master: event, overrides: [moved]).occurrences(
            from: Instant(seconds: 0), to: Instant(seconds: 4_000_000_000), floatingIn: Recurring.utc
        ).occurrences
        #expect(
            found.map { $0.recurrenceID?.instant(floatingIn: Recurring.utc).basic }
                == ["20260105T140000Z", "20260106T140000Z", "20260107T140000Z"])
        let single = Series(master: try Recurring.event("20260105"), overrides: []).occurrences(
            from: Instant(seconds: 0), to: Instant(seconds: 4_000_000_000), floatingIn: Recurring.utc
        ).occurrences
        #expect(single.map(\.recurrenceID) == [nil])
    }

    @Test("A cancelled occurrence is kept, at its old place if it has no other, and says so")
    func cancelled() throws {
        let event = try Recurring.event("20260105T090000Z", for: hour, rules: "FREQ=DAILY;COUNT=3")
        var off = try Recurring.override("20260106T090000Z", nil, summary: "off")
        off.status = "CANCELLED"
        let series = Series(master: event, overrides: [off])
        #expect(
            Recurring.all(series)
                == ["20260105T090000Z/PT1H", "20260106T090000Z/PT1H off", "20260107T090000Z/PT1H"])
        let found = series.occurrences(
            from: Instant(seconds: 0), to: Instant(seconds: 4_000_000_000), floatingIn: Recurring.utc)
        #expect(found.occurrences.map(\.isCancelled) == [false, true, false])
    }

    @Test("THISANDFUTURE moves and changes every later occurrence, across a change of offset too")
    func future() throws {
        let event = try Recurring.event("20260302T090000", "America/New_York", for: hour, rules: "FREQ=WEEKLY;COUNT=5")
        var later = try Recurring.override("20260309T090000", "20260310T103000", "America/New_York", future: true)
        later.end = .duration(ICalDuration(seconds: 7200))
        let single = try Recurring.override("20260323T090000", "20260323T120000", "America/New_York", summary: "once")
        #expect(
            Recurring.all(Series(master: event, overrides: [single, later])) == [
                "20260302T140000Z/PT1H", "20260310T143000Z/PT2H moved", "20260317T143000Z/PT2H moved",
                "20260323T160000Z/PT0S once", "20260331T143000Z/PT2H moved",
            ])
    }

    @Test("Of several THISANDFUTURE overrides the last before an occurrence holds")
    func futures() throws {
        let event = try Recurring.event("20260105", rules: "FREQ=DAILY;COUNT=6")
        let series = Series(
            master: event,
            overrides: [
                try Recurring.override("20260109", "20260119", summary: "b", future: true),
                try Recurring.override("20260107", "20260106", summary: "a", future: true),
            ])
        #expect(
            Recurring.all(series) == [
                "20260105/P1D", "20260106/P1D a", "20260106/P1D", "20260107/P1D a", "20260119/P1D b", "20260120/P1D b",
            ])
        // The window sees what was moved into it from far away.
        #expect(Recurring.window(series, "20260119T000000Z", "20260120T000000Z") == ["20260119/P1D b"])
    }

    @Test("A series called off from a day on keeps its later occurrences, flagged")
    func cancelledFuture() throws {
        let event = try Recurring.event("20260305T090000", "America/New_York", for: hour, rules: "FREQ=DAILY;COUNT=5")
        var off = try Recurring.override("20260307T140000Z", nil, summary: "off", future: true)
        off.status = "CANCELLED"
        #expect(
            Recurring.all(Series(master: event, overrides: [off])) == [
                "20260305T140000Z/PT1H", "20260306T140000Z/PT1H", "20260307T140000Z/PT1H off",
                "20260308T130000Z/PT1H off",
                "20260309T130000Z/PT1H off",
            ])
    }

    @Test("Overrides without their series are separate events, and events are grouped by UID in order")
    func groups() throws {
        let a = try Recurring.event("20260105", rules: "FREQ=DAILY;COUNT=2", uid: "a")
        let orphan = try Recurring.override("20260106", "20260107")
        let nameless = try Recurring.event("20260101", uid: "")
        let groups = Series.group([orphan, a, nameless, nameless])
        #expect(groups.map { $0.master?.uid } == [nil, "a", "", ""])
        #expect(Recurring.all(groups[0]) == ["20260107/P1D moved"])
        var newer = a
        newer.sequence = 1
        #expect(Series.group([a, newer, a]) == [Series(master: newer, overrides: [])])
        var other = newer
        other.start = try Recurring.time("20270101")
        #expect(Series.group([a, newer, other, newer]).map(\.master) == [newer, other])
    }

    @Test("An occurrence is in a window when it overlaps it, one without length when it starts in it")
    func windows() throws {
        let long = try Recurring.event("20260105T090000Z", for: .init(days: 2), rules: "FREQ=WEEKLY")
        #expect(
            Recurring.window(Series(master: long, overrides: []), "20260114T085959Z", "20260119T090000Z")
                == ["20260112T090000Z/PT48H"])
        #expect(Recurring.window(Series(master: long, overrides: []), "20260114T090000Z", "20260119T090000Z") == [])
        let short = try Recurring.event("20260105T090000Z", rules: "FREQ=DAILY;COUNT=3")
        #expect(
            Recurring.window(Series(master: short, overrides: []), "20260106T090000Z", "20260107T090000Z")
                == ["20260106T090000Z/PT0S"])
        let day = try Recurring.event("20260105", rules: "FREQ=DAILY")
        let zone = try #require(TimeZoneReference("Asia/Tokyo")).rules
        #expect(
            Recurring.window(
                Series(master: day, overrides: []), "20260105T150000Z", "20260106T150000Z", floatingIn: zone)
                == ["20260106/P1D"])
    }

    @Test("A to-do without a start recurs by its due time, one without any time has no occurrence")
    func toDos() throws {
        var event = Event(kind: .toDo, uid: "todo", start: nil, end: .time(try Recurring.time("20260105T090000Z")))
        event.recurrence.rules = [try RecurrenceRule("FREQ=DAILY;COUNT=2")]
        #expect(
            Recurring.all(Series(master: event, overrides: [])) == ["20260105T090000Z/PT0S", "20260106T090000Z/PT0S"])
        #expect(Recurring.all(Series(master: Event(kind: .toDo, uid: "todo", start: nil), overrides: [])) == [])
    }

    @Test("The end of a series is the end of its last occurrence")
    func ends() throws {
        func end(_ event: Event, _ overrides: [Event] = []) -> SeriesEnd {
            Series(master: event, overrides: overrides).end(floatingIn: Recurring.utc)
        }
        func at(_ text: String) throws -> SeriesEnd {
            .at(try Recurring.time(text).instant(floatingIn: Recurring.utc))
        }
        let start = "20260105T090000Z"
        #expect(end(try Recurring.event(start, for: hour)) == (try at("20260105T100000Z")))
        #expect(
            end(try Recurring.event(start, for: hour, rules: "FREQ=WEEKLY;COUNT=3")) == (try at("20260119T100000Z")))
        #expect(
            end(try Recurring.event(start, for: hour, rules: "FREQ=SECONDLY;UNTIL=20360105T085959Z"))
                == (try at("20360105T095959Z")))
        #expect(
            end(try Recurring.event(start, rules: "FREQ=YEARLY;INTERVAL=30;UNTIL=21000101T000000Z"))
                == (try at("20860105T090000Z")))
        #expect(end(try Recurring.event(start, rules: "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29")) == .never)
        #expect(end(try Recurring.event(start, rules: "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30")) == (try at(start)))
        #expect(
            end(try Recurring.event(start, rules: "FREQ=DAILY;COUNT=10000000;BYMONTHDAY=1;BYHOUR=1,2"))
                != .never)
        var event = try Recurring.event(start, rules: "FREQ=DAILY;COUNT=3")
        event.recurrence.exclusions = [try Recurring.time("20260107T090000Z")]
        #expect(end(event) == (try at("20260106T090000Z")))
        #expect(
            end(event, [try Recurring.override("20260106T090000Z", "20260301T090000Z")])
                == (try at("20260301T090000Z")))
        event.recurrence.additions = [.init(start: try Recurring.time("20270101T000000Z"))]
        #expect(end(event) == (try at("20270101T000000Z")))
        #expect(
            Series(master: Event(kind: .toDo, uid: "x", start: nil), overrides: []).end(floatingIn: Recurring.utc)
                == .unknown)
    }
}
