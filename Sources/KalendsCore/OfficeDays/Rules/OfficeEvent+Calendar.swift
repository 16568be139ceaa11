// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import OfficeDays

extension OfficeEvent {
    /// The event as it appears in a calendar file, where its UID is a separate identity.
    ///
    /// If the machine no longer knows the zone, the times are in UTC.
    var calendarEvent: Event {
        let (start, end): (EventTime, EventTime) =
            switch span {
            case .allDay(let date):
                (
                    .date(date),
                    .date(CivilDate(daysSinceEpoch: date.daysSinceEpoch + 1))
                )
            case .timed(let start, let end, let zone):
                (Self.time(start, in: zone), Self.time(end, in: zone))
            }
        var event = Event(uid: identity, start: start, end: .time(end), summary: title)
        event.description = notes
        event.location = location
        event.status = "CONFIRMED"
        event.mark(free: availability == .free)
        event.sequence = revision - 1
        event.timestamp = Instant(seconds: changedAt)
        event.lastModified = Instant(seconds: changedAt)
        return event
    }

    private static func time(_ second: Int, in zone: String) -> EventTime {
        let instant = Instant(seconds: second)
        guard let zone = TimeZoneReference(zone) else { return .utc(instant) }
        return .zoned(zone.rules.civil(at: instant), zone)
    }
}
