// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

@Suite("Zones of several files under one name")
struct ZoneNamingTests {
    /// Returns the events of a file with a zone of its own, which has one offset.
    private static func events(_ tzid: String, _ offset: String, uid: String) -> [Event] {
        let zone = [
            "BEGIN:VTIMEZONE", "TZID:\(tzid)", "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:\(offset)",
            "TZOFFSETTO:\(offset)", "TZNAME:\(uid)", "END:STANDARD", "END:VTIMEZONE",
        ]
        let event = [
            "BEGIN:VEVENT", "UID:\(uid)", "DTSTAMP:20260101T000000Z", "DTSTART;TZID=\(tzid):20260310T090000",
            "RRULE:FREQ=DAILY;COUNT=3", "EXDATE;TZID=\(tzid):20260311T090000", "END:VEVENT",
        ]
        return Reading.of(Reading.calendar(zone + event)).events
    }

    /// A VTIMEZONE with the rules that Sydney and Canberra have had since 2008, as if they had always applied.
    private static func today(_ tzid: String) -> [String] {
        [
            "BEGIN:VTIMEZONE", "TZID:\(tzid)", "BEGIN:STANDARD", "DTSTART:19700405T030000",
            "RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU", "TZOFFSETFROM:+1100", "TZOFFSETTO:+1000", "END:STANDARD",
            "BEGIN:DAYLIGHT", "DTSTART:19701004T020000", "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=1SU",
            "TZOFFSETFROM:+1000", "TZOFFSETTO:+1100", "END:DAYLIGHT", "END:VTIMEZONE",
        ]
    }

    private static func text(_ calendar: ICalendar) -> String { String(decoding: calendar.serialized(), as: UTF8.self) }

    private static func starts(_ text: String) -> [String: String] {
        let events = Reading.of(text).events
        return Dictionary(
            uniqueKeysWithValues: events.map {
                ($0.uid, $0.start?.instant(floatingIn: FixedOffset.utc).description ?? "")
            })
    }

    @Test("Events of unrelated files keep their times, whichever comes first, in a whole calendar and in pieces")
    func sameName() throws {
        let all = [Self.events("Home", "+0530", uid: "a"), Self.events("Home", "+0930", uid: "b")]
        var zones: Set<String> = []
        for files in [all, all.reversed()] {
            let calendar = ICalendar(events: files.flatMap(\.self))
            let text = Self.text(calendar)
            #expect(Self.starts(text) == ["a": "2026-03-10T03:30:00Z", "b": "2026-03-09T23:30:00Z"])
            let definitions = WrittenZones.definitions(in: calendar.serialized())
            #expect(definitions.map(\.identifier) == definitions.map(\.identifier).sorted())
            #expect(Set(definitions.map(\.identifier)).count == 2)
            zones.formUnion(definitions.map(\.identifier))
            let coverage = Instant(seconds: 1_767_225_600)...Instant(seconds: 1_798_761_600)
            let joined = JoinedCalendar(calendar, pieces: files.map { CalendarPiece($0) }, coverage: coverage)
            #expect(joined.bytes == calendar.serialized(coverage: coverage))
        }
        #expect(zones.count == 2)
        #expect(zones.allSatisfy { $0.wholeMatch(of: /Home\/[0-9a-f]{16}/) != nil })
    }

    @Test("A name that means a known zone is not written for other rules, beside that zone or without it")
    func knownName() throws {
        let zone = try #require(TimeZoneReference("Asia/Kolkata"))
        let right = Event(uid: "right", start: .zoned(Reading.wall("20260310T090000"), zone))
        let wrong = Self.events("Asia/Kolkata", "+0500", uid: "wrong")
        for events in [wrong + [right], [right] + wrong] {
            let text = Self.text(ICalendar(events: events))
            #expect(Self.starts(text) == ["wrong": "2026-03-10T04:00:00Z", "right": "2026-03-10T03:30:00Z"])
            #expect(text.contains("DTSTART;TZID=Asia/Kolkata:20260310T090000\r\n"))
            #expect(text.matches(of: /TZID[:=]Asia/).count == 2)
        }
        for name in ["Asia/Kolkata", "asia/kolkata", "India Standard Time", "Kolkata", "/example.org/Asia/Kolkata"] {
            let identifiers = WrittenZones.definitions(
                in: ICalendar(events: Self.events(name, "+0500", uid: "a")).serialized()
            ).map(\.identifier)
            #expect(identifiers.count == 1)
            #expect(identifiers.allSatisfy { $0.hasPrefix("Kalends/") && ZoneNames.match($0) == nil }, "\(name)")
        }
    }

    @Test("Under a known name, rules that make no difference to an event are those of the known zone")
    func todaysRules() throws {
        let zone = Self.today("Australia/Sydney")
        func written(_ lines: String...) -> String {
            let reading = Reading.of(Reading.calendar(zone + lines.flatMap { Reading.event([$0]) }))
            let text = Self.text(ICalendar(events: reading.events))
            #expect(Reading.of(text).calendars.first.map(Self.text) == text)
            return text
        }
        let start = "DTSTART;TZID=Australia/Sydney:"
        let today = written(start + "20260310T090000")
        #expect(today.contains(start + "20260310T090000\r\n") && today.contains("TZNAME:AEDT"))
        #expect(today.matches(of: /BEGIN:VTIMEZONE/).count == 1)
        // Until 2007 summer began at the end of October.
        let before = written(start + "20071010T090000")
        #expect(before.firstMatch(of: /DTSTART;TZID=Kalends\/[0-9a-f]{16}:20071010T090000/) != nil)
        #expect(Self.starts(before).values.first == "2007-10-09T22:00:00Z")
        // An override names its occurrence in the zone of its series.
        let series = written(
            start + "20071010T090000\r\nRRULE:FREQ=WEEKLY",
            "RECURRENCE-ID;TZID=Australia/Sydney:20260311T090000\r\n" + start + "20260311T100000")
        #expect(!series.contains("Australia") && series.matches(of: /BEGIN:VTIMEZONE/).count == 1)
    }

    @Test("An event with two known names for the same rules is in both of the known zones")
    func twoKnownNames() throws {
        let names = ["Australia/Canberra", "Australia/Sydney"]
        for (start, end) in [(names[0], names[1]), (names[1], names[0])] {
            let lines = ["DTSTART;TZID=\(start):20090310T093000", "DTEND;TZID=\(end):20090310T094500"]
            let reading = Reading.of(Reading.calendar(names.flatMap(Self.today) + Reading.event(lines)))
            let text = Self.text(ICalendar(events: reading.events))
            for line in lines { #expect(text.contains(line + "\r\n")) }
            #expect(text.matches(of: /BEGIN:VTIMEZONE/).count == 2 && !text.contains("TZID:Kalends/"))
            #expect(Reading.of(text).calendars.first.map(Self.text) == text)
        }
        // Where one of the names means other rules, its times stay with those of the file.
        let lines = ["DTSTART;TZID=Australia/Perth:20090310T093000", "DTEND;TZID=Australia/Sydney:20090310T094500"]
        for order in [["Australia/Perth", names[1]], [names[1], "Australia/Perth"]] {
            let reading = Reading.of(Reading.calendar(order.flatMap(Self.today) + Reading.event(lines)))
            let text = Self.text(ICalendar(events: reading.events))
            #expect(text.firstMatch(of: /DTSTART;TZID=Kalends\/[0-9a-f]{16}:20090310T093000\r\n/) != nil)
            #expect(text.contains(lines[1] + "\r\n"))
        }
    }

    @Test("One set of rules is one zone, and is read again as it was")
    func sameRules() throws {
        let rules = TimeZoneDefinition.Observance(
            isDaylight: false, start: Reading.wall("19700101T000000"), offsetFrom: 18_000, offsetTo: 18_000)
        func event(_ name: String) -> Event {
            let zone = TimeZoneReference(TimeZoneDefinition(identifier: name, observances: [rules]))
            return Event(uid: name, start: .zoned(Reading.wall("20260310T090000"), zone))
        }
        let both = Self.text(ICalendar(events: ["Asia/Kolkata", "Asia/Tokyo"].map(event)))
        #expect(both.matches(of: /BEGIN:VTIMEZONE/).count == 1)
        for name in ["Ward 3", "A \"b\"; c, d", "Asia/Kolkata", "\""] {
            let text = Self.text(ICalendar(events: [event(name)]))
            var again = Reading.of(text)
            for _ in 0..<3 {
                #expect(again.timeZones.map(\.how) == [.vtimezone])
                let written = Self.text(try #require(again.calendars.first))
                #expect(written == text)
                again = Reading.of(written)
            }
        }
        let read = Reading.of(Self.text(ICalendar(events: [event("Ward 3")])))
        #expect(read.first?.start == event("Ward 3").start)
        #expect(read.timeZones.map(\.resolvedTo) == ["Ward 3"])
    }
}
