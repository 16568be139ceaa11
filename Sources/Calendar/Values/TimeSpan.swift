// SPDX-License-Identifier: Apache-2.0

/// When something takes place; it ends before its end.
public enum TimeSpan: Hashable, Sendable, Codable {
    /// Two instants, and the IANA name of the zone in whose local time a series repeats.
    case timed(start: Instant, end: Instant, zone: String)
    /// Whole days; `until` is the day after the last (RFC 5545 section 3.6.1).
    case days(first: CivilDate, until: CivilDate)

    /// - Parameter zone: the zone of times that name none.
    package init(from start: EventTime, until end: EventTime, in zone: TimeZoneReference) {
        if case .date(let first) = start {
            self = .days(first: first, until: end.civilDate)
        } else {
            self = .timed(
                start: start.instant(floatingIn: zone.rules), end: end.instant(floatingIn: zone.rules),
                zone: (start.zone ?? zone).identifier)
        }
    }

    /// The last of whole days that begin with `first`, which is at least that one.
    package static func last(from first: CivilDate, until end: CivilDate) -> CivilDate {
        max(first, end.adding(days: -1))
    }
}
