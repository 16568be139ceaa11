// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Testing

@testable import KalendsCore

@Suite("Imported times as feeds give them")
struct EventAnchoringTests {
    private static func event(_ lines: String...) throws -> Event {
        let begin = ["BEGIN:VCALENDAR", "VERSION:2.0", "BEGIN:VEVENT", "UID:a"]
        let all = begin + lines + ["END:VEVENT", "END:VCALENDAR"]
        let text = all.joined(separator: "\r\n") + "\r\n"
        return try #require(CalendarReader().read(Array(text.utf8)).events.first)
    }

    /// Returns what is left of a series in March 2026, as instants.
    private static func occurrences(_ event: Event) -> [String] {
        let (from, to) = (Instant(seconds: 1_772_323_200), Instant(seconds: 1_775_001_600))
        return Series(master: event, overrides: []).occurrences(from: from, to: to, floatingIn: FixedOffset.utc)
            .occurrences.map { $0.start.instant(floatingIn: FixedOffset.utc).basic }
    }

    @Test("A time without a zone among the dates of a series is on the clock of its start")
    func exceptions() throws {
        let zone = try #require(TimeZoneReference("America/New_York"))
        let utc = try Self.event(
            "DTSTART:20260310T130000Z", "RRULE:FREQ=DAILY;COUNT=3", "EXDATE:20260311T130000", "RDATE:20260320T130000"
        ).anchored(in: zone)
        #expect(Self.occurrences(utc) == ["20260310T130000Z", "20260312T130000Z", "20260320T130000Z"])
        #expect(utc.recurrence.exclusions.map(\.basicText) == ["20260311T130000Z"])
        let zoned = try Self.event(
            "DTSTART;TZID=Europe/Berlin:20260310T090000", "RRULE:FREQ=DAILY;COUNT=3", "EXDATE:20260311T090000",
            "RDATE;VALUE=PERIOD:20260320T090000/20260320T110000"
        ).anchored(in: zone)
        #expect(Self.occurrences(zoned) == ["20260310T080000Z", "20260312T080000Z", "20260320T080000Z"])
        let floating = try Self.event(
            "DTSTART:20260310T090000", "RRULE:FREQ=DAILY;COUNT=3", "EXDATE:20260311T090000"
        ).anchored(in: zone)
        #expect(Self.occurrences(floating) == ["20260310T130000Z", "20260312T130000Z"])
    }

    @Test(
        "An override names its occurrence in the form and zone of the series",
        arguments: [
            ";VALUE=DATE:20260312", ":20260312T080000Z", ":20260312T090000", ";TZID=America/New_York:20260312T040000",
        ])
    func overrides(_ value: String) throws {
        let (zone, berlin) = (
            try #require(TimeZoneReference("America/New_York")), try #require(TimeZoneReference("Europe/Berlin"))
        )
        let master = try Self.event("DTSTART;TZID=Europe/Berlin:20260310T090000", "RRULE:FREQ=DAILY;COUNT=5")
        let override = try Self.event("RECURRENCE-ID\(value)", "DTSTART;TZID=Europe/Berlin:20260312T140000")
        let named = override.anchored(in: zone, replacingIn: master.anchored(in: zone)).recurrenceID
        let wall = try #require(CivilDateTime(basic: "20260312T090000"))
        #expect(named == .zoned(wall, berlin))
        let days = try Self.event("DTSTART;VALUE=DATE:20260310", "RRULE:FREQ=DAILY;COUNT=5")
        #expect(override.anchored(in: zone, replacingIn: days).recurrenceID == .date(wall.date))
    }
}

extension EventTime {
    fileprivate var basicText: String { instant(floatingIn: FixedOffset.utc).basic }
}
