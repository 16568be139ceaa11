// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// A date without a time or a zone.
public typealias Day = CivilDate

/// A date and a time of day as a wall clock shows them, without a zone.
public struct WallTime: Hashable, Comparable, Sendable, Codable {
    public var day: Day
    /// Seconds after midnight, 0 to 86,399.
    public var second: Int

    public init(_ day: Day, second: Int) {
        self.day = day
        self.second = second
    }

    /// Seconds since 1970-01-01T00:00 on the same clock.
    public var total: Int { day.daysSinceEpoch * 86_400 + second }

    public init(total: Int) {
        let number = total >= 0 ? total / 86_400 : -((86_399 - total) / 86_400)
        self.init(Day(daysSinceEpoch: number), second: total - number * 86_400)
    }

    public static func < (a: WallTime, b: WallTime) -> Bool { (a.day, a.second) < (b.day, b.second) }
}

/// The time of an event.
public enum EventSpan: Hashable, Sendable, Codable {
    /// Whole days, the last one inclusive.
    case allDay(first: Day, last: Day)
    /// Times on the clock of an IANA zone; nil is the zone where the person is (RFC 5545 section 3.3.5, form 1).
    case timed(start: WallTime, end: WallTime, zone: String?)

    public var isAllDay: Bool { if case .allDay = self { true } else { false } }

    /// The first day, by the event's own clock.
    public var firstDay: Day {
        switch self {
        case .allDay(let first, _): first
        case .timed(let start, _, _): start.day
        }
    }

    /// The last day, by the event's own clock.
    public var lastDay: Day {
        switch self {
        case .allDay(_, let last): last
        case .timed(_, let end, _): end.day
        }
    }
}

/// An instant or a day at which an occurrence of a series starts.
public enum EventMoment: Hashable, Sendable, Codable {
    /// Seconds since 1970.
    case instant(Int)
    case day(Day)
}
