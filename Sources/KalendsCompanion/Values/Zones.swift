// SPDX-License-Identifier: Apache-2.0

public import OfficeDays

/// The zones of a device: the clock of each, and the name of the one that the person is in.
public struct Zones: Sendable {
    /// The IANA name of the zone that the device is set to, at each time that it is asked.
    public var device: @Sendable () -> String
    public var clock: @Sendable (String) -> (any OfficeClock)?

    /// - Parameter clock: the clock of an IANA zone, nil for a name that the device does not know.
    public init(
        device: @escaping @Sendable () -> String,
        clock: @escaping @Sendable (String) -> (any OfficeClock)? = { FoundationClock(identifier: $0) }
    ) {
        self.device = device
        self.clock = clock
    }

    /// The clock of a zone, of the device's zone for nil and for a zone that is not known.
    func clock(of zone: String?) -> any OfficeClock {
        zone.flatMap { clock($0) } ?? clock(device()) ?? UTCClock()
    }

    /// When a zone's clock shows a time; in a gap the offset before it holds, and of two times it is the first.
    public func instant(_ wall: WallTime, in zone: String?) -> Int {
        let clock = clock(of: zone)
        let minute = wall.second / 60
        return clock.second(of: wall.day, minute: minute) + wall.second - minute * 60
    }

    /// What a zone's clock shows at an instant.
    public func wall(_ instant: Int, in zone: String?) -> WallTime {
        WallTime(total: instant + clock(of: zone).secondsEast(at: instant))
    }

    /// Where a span begins and ends on the time line; whole days are those of the device.
    public func window(of span: EventSpan) -> TimeWindow {
        switch span {
        case .allDay(let first, let last):
            let clock = clock(of: nil)
            return TimeWindow(start: clock.start(of: first), end: clock.start(of: last.adding(days: 1)))
        case .timed(let start, let end, let zone):
            return TimeWindow(start: instant(start, in: zone), end: instant(end, in: zone))
        }
    }

    /// Where an occurrence or an event starts, as exceptions and changed occurrences name it.
    public func moment(of span: EventSpan) -> EventMoment {
        switch span {
        case .allDay(let first, _): .day(first)
        case .timed(let start, _, let zone): .instant(instant(start, in: zone))
        }
    }
}

extension TimeWindow {
    /// Whether an event that is here is seen in this window. An event without length is seen where it starts.
    public func overlaps(_ other: TimeWindow) -> Bool {
        other.start < end && (other.end > start || (other.start == other.end && other.start >= start))
    }

    /// The window in pieces of at most a year: a calendar shortens what is longer than four years, without an error.
    public var years: [TimeWindow] {
        stride(from: start, to: end, by: Self.year).map { TimeWindow(start: $0, end: min($0 + Self.year, end)) }
    }

    static let year = 366 * 86_400
}
