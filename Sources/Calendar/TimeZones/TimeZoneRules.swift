// SPDX-License-Identifier: Apache-2.0

/// A change of a zone's offset from UTC.
public struct OffsetTransition: Hashable, Sendable {
    public var at: Instant
    /// Seconds east of UTC before `at`, and from `at` on.
    public var offsetBefore: Int
    public var offsetAfter: Int
    public var abbreviation: String
}

/// Converts between the wall clock of a zone and UTC.
public protocol TimeZoneRules: Sendable {
    /// The offset east of UTC at an instant, in seconds.
    func offset(at instant: Instant) -> Int
}

extension TimeZoneRules {
    /// The wall-clock time in the zone at an instant.
    public func civil(at instant: Instant) -> CivilDateTime {
        CivilDateTime(wallSeconds: instant.seconds + offset(at: instant))
    }

    /// The instant at which the zone's clock shows `wall`.
    ///
    /// A time that the clock skips is read with the offset before the gap, so it moves forward by the length of the
    /// gap; of a time that occurs twice, the first is returned (RFC 5545 section 3.3.5).
    public func instant(of wall: CivilDateTime) -> Instant {
        let seconds = wall.wallSeconds
        // No zone changes its offset twice within the day around a wall time, and none is more than 26 hours from UTC.
        let before = offset(at: Instant(seconds: seconds - 93_600))
        let after = offset(at: Instant(seconds: seconds + 93_600))
        if before == after, offset(at: Instant(seconds: seconds - before)) == before {
            return Instant(seconds: seconds - before)
        }
        let early = Instant(seconds: seconds - before)
        if offset(at: early) == before { return early }
        for candidate in [after, offset(at: early)] {
            let late = Instant(seconds: seconds - candidate)
            if offset(at: late) == candidate { return late }
        }
        return early
    }

    /// Whether the zone's clock shows `wall` exactly once, so that every reader understands the same instant.
    public func isPlain(_ wall: CivilDateTime) -> Bool {
        let offsets = Set([-93_600, 93_600].map { offset(at: Instant(seconds: wall.wallSeconds + $0)) })
        return offsets.count { offset(at: Instant(seconds: wall.wallSeconds - $0)) == $0 } == 1
    }
}

/// A zone whose offset never changes.
public struct FixedOffset: TimeZoneRules, Hashable {
    /// Seconds east of UTC.
    public let seconds: Int
    public init(seconds: Int) { self.seconds = seconds }
    public func offset(at instant: Instant) -> Int { seconds }

    public static let utc = FixedOffset(seconds: 0)
}
