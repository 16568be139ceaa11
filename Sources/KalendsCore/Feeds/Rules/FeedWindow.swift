// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// The days that a feed shows, as whole days in the circle's zone.
struct FeedWindow: Hashable, Sendable {
    /// The day that the window is relative to.
    var today: CivilDate
    var firstDay: CivilDate
    /// The day after the last one shown.
    var endDay: CivilDate
    let times: TimeRange
    var from: Instant { times.from }
    var to: Instant { times.to }

    init(_ configuration: FeedConfiguration, today: CivilDate, zone: TimeZoneReference) {
        self.today = today
        firstDay = today.adding(days: -configuration.pastDays)
        endDay = today.adding(days: configuration.futureDays + 1)
        func midnight(_ date: CivilDate) -> Instant { zone.rules.instant(of: CivilDateTime(startOf: date)) }
        times = TimeRange(from: midnight(firstDay), to: midnight(endDay))
    }

    func shows(_ span: TimeSpan) -> Bool {
        switch span {
        case .days(let first, let until): shows(days: first, until: until)
        case .timed(let start, let end, _): times.overlaps(start, until: end)
        }
    }

    /// Whether any of some days is shown; `last` is the day after the last one.
    func shows(days first: CivilDate, until last: CivilDate) -> Bool {
        first < endDay && (last > firstDay || first >= firstDay)
    }
}
