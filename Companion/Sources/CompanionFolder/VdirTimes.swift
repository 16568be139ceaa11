// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCompanion
import OfficeDays

/// Converts between the times of a calendar file and those of the companion.
struct VdirTimes {
    let zones: Zones

    init(_ zones: Zones) { self.zones = zones }

    /// Returns a file's event as one unit; nil for a repetition that a unit cannot hold.
    func unit(_ master: Event, _ overrides: [Event]) -> EventUnit? {
        guard var content = content(master) else { return nil }
        let recurrence = master.recurrence
        guard recurrence.rules.count <= 1, recurrence.exclusionRules.isEmpty,
            recurrence.additions.allSatisfy({ $0.end == nil })
        else { return nil }
        if !recurrence.rules.isEmpty || !recurrence.additions.isEmpty {
            // The series repeats in a zone that only this file defines.
            guard master.start?.zone?.definition == nil else { return nil }
            content.recurrence = EventRecurrence(
                rule: recurrence.rules.first?.description,
                exceptions: Set(recurrence.exclusions.map { moment($0, in: master) }),
                additions: Set(recurrence.additions.map { moment($0.start, in: master) }))
        } else if !overrides.isEmpty {
            return nil
        }
        var changed: [EventMoment: EventContent] = [:]
        for event in overrides {
            guard let id = event.recurrenceID else { return nil }
            let moment = moment(id, in: master)
            if event.isCancelled {
                content.recurrence?.exceptions.insert(moment)
            } else {
                guard let own = self.content(event) else { return nil }
                changed[moment] = own
            }
        }
        return EventUnit(content, changed: changed)
    }

    func content(_ event: Event) -> EventContent? {
        span(event).map {
            EventContent(
                title: event.summary ?? "", span: $0, location: event.location ?? "", notes: event.description ?? "")
        }
    }

    func span(_ event: Event) -> EventSpan? {
        guard let start = event.start, let end = event.effectiveEnd else { return nil }
        switch start {
        case .date(let first):
            let last = max(first, end.civilDate.adding(days: -1))
            return .allDay(
                first: Day(daysSinceEpoch: first.daysSinceEpoch), last: Day(daysSinceEpoch: last.daysSinceEpoch))
        case .floating(let wall):
            let until = max(wall.wallSeconds, end.civil.wallSeconds)
            return .timed(start: WallTime(total: wall.wallSeconds), end: WallTime(total: until), zone: nil)
        case .utc, .zoned:
            let zone = name(start)
            let from = instant(start)
            return .timed(
                start: zones.wall(from, in: zone), end: zones.wall(max(from, instant(end)), in: zone), zone: zone)
        }
    }

    /// Returns the start of an occurrence of a series. A date in a series with times means the occurrence of that day.
    func moment(_ time: EventTime, in master: Event) -> EventMoment {
        guard let start = master.start else { return .instant(instant(time)) }
        if start.isDate { return .day(Day(daysSinceEpoch: time.civilDate.daysSinceEpoch)) }
        guard case .date(let date) = time else { return .instant(instant(time)) }
        let wall = CivilDateTime(wallSeconds: date.daysSinceEpoch * 86_400 + start.civil.wallSeconds % 86_400)
        return .instant(instant(start.with(civil: wall)))
    }

    // MARK: Writing

    /// Returns the start and end of a span in a file's form.
    func times(_ span: EventSpan) -> (start: EventTime, end: EventTime) {
        switch span {
        case .allDay(let first, let last):
            return (.date(date(first)), .date(date(max(first, last)).adding(days: 1)))
        case .timed(let start, let end, let zone):
            let from = time(start, zone)
            return (from, end > start ? time(end, zone) : from)
        }
    }

    /// Returns a moment of a series as an EXDATE, RDATE or RECURRENCE-ID, in the form of the series' start.
    func time(_ moment: EventMoment, of span: EventSpan) -> EventTime {
        switch (moment, span) {
        case (.day(let day), _): .date(date(day))
        case (.instant(let instant), .timed(_, _, let zone)): time(zones.wall(instant, in: zone), zone)
        case (.instant(let instant), .allDay):
            .date(CivilDate(daysSinceEpoch: zones.wall(instant, in: nil).day.daysSinceEpoch))
        }
    }

    private func time(_ wall: WallTime, _ zone: String?) -> EventTime {
        let civil = CivilDateTime(wallSeconds: wall.total)
        guard let zone else { return .floating(civil) }
        if Self.isUTC(zone) { return .utc(Instant(utc: civil)) }
        if let reference = TimeZoneReference(zone) { return .zoned(civil, reference) }
        return .utc(Instant(seconds: zones.instant(wall, in: zone)))
    }

    private func date(_ day: Day) -> CivilDate { day }

    private func instant(_ time: EventTime) -> Int {
        switch time {
        case .floating(let wall): zones.instant(WallTime(total: wall.wallSeconds), in: nil)
        default: time.instant(floatingIn: FixedOffset.utc).seconds
        }
    }

    /// Returns the zone in which a time is reported; UTC for a zone that only the file defines.
    private func name(_ time: EventTime) -> String {
        guard let zone = time.zone, zone.definition == nil, zones.clock(zone.identifier) != nil else { return "UTC" }
        return zone.identifier
    }

    private static func isUTC(_ zone: String) -> Bool {
        ["UTC", "Etc/UTC", "GMT", "Etc/GMT"].contains { $0 == zone }
    }
}
