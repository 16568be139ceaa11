// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

/// A search for items of a collection, by times and days of the circle.
package struct ItemSearch: Sendable {
    /// A time, or the start of a day in the circle's zone.
    package enum Moment: Sendable {
        case time(Instant)
        case day(CivilDate)

        func instant(in zone: TimeZoneReference) -> Instant {
            switch self {
            case .time(let instant): instant
            case .day(let day): zone.rules.instant(of: CivilDateTime(startOf: day))
            }
        }
    }

    /// Finds items that end after this.
    package var from: Moment?
    /// Finds items that begin before this.
    package var to: Moment?
    /// Finds items that changed since this, including deleted ones.
    package var updatedSince: Moment?
    /// The faults of the request; reported only to callers who may see the circle.
    package var faults = FaultList()

    package init() {}

    func query(in zone: TimeZoneReference) -> ScheduleItemQuery {
        func offset(_ instant: Instant?) -> Int { instant.map { zone.rules.offset(at: $0) * 1000 } ?? 0 }
        let (from, to) = (from?.instant(in: zone), to?.instant(in: zone))
        var query = ScheduleItemQuery(limit: 0)
        (query.from, query.to) = (from?.milliseconds, to?.milliseconds)
        query.updatedSince = updatedSince?.instant(in: zone).milliseconds
        (query.offsetAtFrom, query.offsetAtTo) = (offset(from), offset(to))
        return query
    }
}
