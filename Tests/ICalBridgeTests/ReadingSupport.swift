// SPDX-License-Identifier: Apache-2.0

@testable import ICalBridge

/// Short ways to pass a calendar to the reader.
enum Reading {
    static func of(_ text: String, assumed: String? = nil) -> CalendarReading {
        CalendarReader(options: .init(assumedTimeZone: assumed)).read(Array(text.utf8))
    }

    /// Returns a calendar around some lines without their line ends.
    static func calendar(_ lines: [String]) -> String {
        (["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Kalends//Tests//EN"] + lines + ["END:VCALENDAR", ""])
            .joined(separator: "\r\n")
    }

    /// Returns an event with a UID and a DTSTAMP around some lines.
    static func event(_ lines: [String]) -> [String] {
        ["BEGIN:VEVENT", "UID:one@example.org", "DTSTAMP:20260101T000000Z"] + lines + ["END:VEVENT"]
    }

    /// What is read of one event with these lines.
    static func ofEvent(_ lines: String..., inCalendar others: [String] = [], assumed: String? = nil) -> CalendarReading
    {
        of(calendar(others + event(lines)), assumed: assumed)
    }
}

extension Reading {
    /// Returns `20260121T090000` as a wall-clock time, for the tests' own literals.
    static func wall(_ text: String) -> CivilDateTime {
        CivilDateTime(basic: text) ?? CivilDateTime(wallSeconds: 0)
    }

    static func day(_ text: String) -> CivilDate { CivilDate(basic: text) ?? CivilDate(daysSinceEpoch: 0) }
}

extension CalendarReading {
    var codes: [String] { problems.map(\.code.rawValue) }
    var first: Event? { events.first }
}
