// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

extension ItemContent {
    /// Returns the row of an item with this content; `zone` is the circle's.
    ///
    /// - Parameter followed: what was computed from the series before, if it is still valid.
    func item(
        _ id: String, in circle: String, zone: TimeZoneReference, followed: FollowedSeries? = nil
    ) throws -> ScheduleItem {
        let span = rowSpan(in: self.zone(or: zone), followed)
        return ScheduleItem(
            circleID: circle, collection: Self.collection, id: id, patientID: patientID, ownerID: ownerID,
            timeZone: timeZone, isAllDay: span.isAllDay, startsAt: span.start.milliseconds,
            endsAt: span.end?.milliseconds, content: try stored())
    }

    /// Returns the start and end for look-ups; the end is nil for a series without one.
    private func rowSpan(
        in zone: TimeZoneReference, _ followed: FollowedSeries?
    ) -> (start: Instant, end: Instant?, isAllDay: Bool) {
        switch careItem(CircleNames(), in: zone).span {
        case .timed(let start, let end, _):
            guard let series = self as? AppointmentContent, series.recurrence != nil else { return (start, end, false) }
            if let followed, followed.timing == series.timing(in: zone) { return (start, followed.lastEnd, false) }
            return (start, series.lastEnd(in: zone), false)
        case .days(let first, let until):
            return (
                FixedOffset.utc.instant(of: CivilDateTime(startOf: first)),
                FixedOffset.utc.instant(of: CivilDateTime(startOf: until)), true
            )
        // This is later than any time that an item can have: the item is found where no end is asked for, and is in no
        // feed's window.
        case nil: return (.afterAllItems, .afterAllItems, false)
        }
    }
}

extension Instant {
    /// The last second of the year 9999, the last that can be written.
    fileprivate static let afterAllItems = Instant(seconds: 253_402_300_799)
}
