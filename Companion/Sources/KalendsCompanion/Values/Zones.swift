// SPDX-License-Identifier: Apache-2.0

public import Calendar
public import OfficeDays

/// The zones of a device: the clock of each, and the name of the zone to which the device is set.
public struct Zones: Sendable {
    /// Returns the IANA name of the zone to which the device is set at the moment.
    public var device: @Sendable () -> String
    public var clock: @Sendable (String) -> (any OfficeClock)?

    /// - Parameter clock: returns the clock of an IANA zone; nil for a name that the device does not know.
    public init(
        device: @escaping @Sendable () -> String,
        clock: @escaping @Sendable (String) -> (any OfficeClock)? = { FoundationClock(identifier: $0) }
    ) {
        self.device = device
        self.clock = clock
    }

    /// Returns the clock of a zone; for nil or an unknown zone, the clock of the device's zone.
    func clock(of zone: String?) -> any OfficeClock {
        zone.flatMap { clock($0) } ?? clock(device()) ?? UTCClock()
    }

    /// Returns the instant of a wall time in a zone; in a gap the offset before the gap applies, and a repeated time is
    /// the first.
    public func instant(_ wall: WallTime, in zone: String?) -> Int {
        let clock = clock(of: zone)
        let minute = wall.second / 60
        return clock.second(of: wall.day, minute: minute) + wall.second - minute * 60
    }

    /// Returns the wall time of an instant in a zone.
    public func wall(_ instant: Int, in zone: String?) -> WallTime {
        WallTime(total: instant + clock(of: zone).secondsEast(at: instant))
    }

    /// Returns where a span begins and ends; whole days are days of the device's zone.
    public func window(of span: EventSpan) -> TimeRange {
        let (from, to) =
            switch span {
            case .allDay(let first, let last):
                (clock(of: nil).start(of: first), clock(of: nil).start(of: last.adding(days: 1)))
            case .timed(let start, let end, let zone): (instant(start, in: zone), instant(end, in: zone))
            }
        return TimeRange(seconds: from..<max(from, to))
    }

    /// Returns the start of an event or an occurrence, in the form of exceptions and changed occurrences.
    public func moment(of span: EventSpan) -> EventMoment {
        switch span {
        case .allDay(let first, _): .day(first)
        case .timed(let start, _, let zone): .instant(instant(start, in: zone))
        }
    }
}

extension TimeRange {
    /// The range in pieces of at most a year, since a calendar shortens a span of more than four years without an
    /// error.
    public var years: [TimeRange] {
        stride(from: seconds.lowerBound, to: seconds.upperBound, by: Self.year).map {
            TimeRange(seconds: $0..<min($0 + Self.year, seconds.upperBound))
        }
    }

    public static let year = 366 * 86_400
}
