// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// The days that a feed shows, whole ones in the circle's zone.
struct FeedWindow: Hashable, Sendable {
    /// The day it stands on.
    var today: CivilDate
    var firstDay: CivilDate
    /// The day after the last one shown.
    var endDay: CivilDate
    var from: Instant
    var to: Instant
    init(_ configuration: FeedConfiguration, today: CivilDate, zone: TimeZoneReference) {
        self.today = today
        firstDay = today.adding(days: -configuration.pastDays)
        endDay = today.adding(days: configuration.futureDays + 1)
        func midnight(_ date: CivilDate) -> Instant { zone.rules.instant(of: CivilDateTime(startOf: date)) }
        from = midnight(firstDay)
        to = midnight(endDay)
    }

    /// Whether something that takes this time is shown; what takes none is where it starts.
    func shows(start: EventTime, end: EventTime, zone: TimeZoneReference) -> Bool {
        if case .date(let first) = start {
            let last = end.civilDate
            return first < endDay && (last > firstDay || first >= firstDay)
        }
        let begins = start.instant(floatingIn: zone.rules)
        let ends = end.instant(floatingIn: zone.rules)
        return begins < to && (ends > from || begins >= from)
    }
}
