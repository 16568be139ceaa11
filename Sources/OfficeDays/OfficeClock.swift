// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
public import Calendar
public import FoundationEssentials
#else
public import Foundation
#endif

/// The clock of a time zone. A server and a phone get their zone data from different places, so each brings its own.
public protocol OfficeClock: Sendable {
    /// The offset east of UTC, in seconds, at a second since 1970.
    func secondsEast(at second: Int) -> Int
}

/// A Foundation time zone as a clock.
///
/// On Linux a zone other than UTC needs all of Foundation in the program, because that contains the zone data.
public struct FoundationClock: OfficeClock {
    public let zone: TimeZone

    public init(_ zone: TimeZone) { self.zone = zone }

    /// The clock of an IANA zone; nil for a name that Foundation does not know.
    public init?(identifier: String) {
        guard let zone = TimeZone(identifier: identifier) else { return nil }
        self.zone = zone
    }

    public func secondsEast(at second: Int) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second)))
    }
}

/// The clock of UTC.
public struct UTCClock: OfficeClock {
    public init() {}
    public func secondsEast(at second: Int) -> Int { 0 }
}

extension OfficeClock {
    /// The date that the clock shows at a second since 1970.
    public func date(at second: Int) -> CivilDate {
        CivilDate(daysSinceEpoch: (second + secondsEast(at: second)).floorDivided(by: 86_400))
    }

    /// The first second at which the clock shows this date or a later one; where it skips midnight, the end of the gap.
    public func start(of date: CivilDate) -> Int {
        let wall = date.daysSinceEpoch * 86_400
        // No zone is more than 26 hours from UTC, and none changes twice within the days around a midnight.
        let before = secondsEast(at: wall - 93_600)
        let after = secondsEast(at: wall + 93_600)
        if before == after { return wall - before }
        var (early, late) = (wall - max(before, after) - 1, wall - min(before, after))
        while late - early > 1 {
            let middle = (early + late).floorDivided(by: 2)
            if middle + secondsEast(at: middle) >= wall { late = middle } else { early = middle }
        }
        return late
    }

    /// The last minute before the next date: 23:59, or what the clock shows instead where it skips or repeats that
    /// minute.
    public func lastMinute(of date: CivilDate) -> Int { start(of: date.adding(days: 1)) - 60 }

    /// The second since 1970 at which the clock shows a time on a date.
    ///
    /// A time that the clock skips is read with the offset before the gap; of a time that occurs twice, the first is
    /// returned (RFC 5545 section 3.3.5).
    public func second(of date: CivilDate, minute: Int) -> Int {
        let wall = date.daysSinceEpoch * 86_400 + minute * 60
        let before = secondsEast(at: wall - 93_600)
        let after = secondsEast(at: wall + 93_600)
        let early = wall - before
        if before == after || secondsEast(at: early) == before { return early }
        let late = wall - after
        return secondsEast(at: late) == after ? late : early
    }
}
