// SPDX-License-Identifier: Apache-2.0

public import Calendar
import Foundation
public import KalendsCompanion
import OfficeDays

#if canImport(EventKit)
internal import EventKit
#else
internal import EventKitStandIn
#endif

extension EventKitStore {
    public func events(
        in window: TimeRange, calendars ids: [String]
    ) throws(StoreFailure) -> [StoreEvent] {
        units(try fetch(window, ids), window)
    }

    public func occurrences(
        in window: TimeRange, calendars ids: [String]
    ) throws(StoreFailure) -> [StoreOccurrence] {
        try fetch(window, ids).map { event in
            let start = seconds(event.startDate)
            let end = event.isAllDay ? afterDays(event) : seconds(event.endDate)
            return StoreOccurrence(
                key: key(of: event, base: event), title: event.title ?? "",
                range: TimeRange(seconds: start..<max(start, end)), isAllDay: event.isAllDay,
                calendarTitle: event.calendar?.title ?? "", url: event.url?.absoluteString)
        }
    }

    public func events(externalID: String) throws(StoreFailure) -> [StoreEvent] {
        try allowed()
        var found: [StoreEvent] = []
        for case let event as EKEvent in events.calendarItems(withExternalIdentifier: externalID) {
            // Changed occurrences of one series may be among the items.
            if let whole = whole(event), !found.contains(where: { $0.key == whole.key }) { found.append(whole) }
        }
        return found
    }

    public func event(localID: String) throws(StoreFailure) -> StoreEvent? {
        try allowed()
        return events.event(withIdentifier: localID).flatMap { whole($0) }
    }

    /// Fetches events, and checks the permission before and after: without it, EventKit returns no events and no error.
    private func fetch(_ window: TimeRange, _ ids: [String]) throws(StoreFailure) -> [EKEvent] {
        try allowed()
        var calendars: [EKCalendar] = []
        for id in ids {
            guard let calendar = events.calendar(withIdentifier: id) else { throw .calendarGone(id) }
            calendars.append(calendar)
        }
        // EventKit does not document what an empty list of calendars means.
        guard !calendars.isEmpty else { return [] }
        let predicate = events.predicateForEvents(
            withStart: Date(window.from), end: Date(window.to), calendars: calendars)
        let found = events.events(matching: predicate)
        try allowed()
        return found
    }

    /// Returns an event with the occurrences around its start if it is a series.
    private func whole(_ found: EKEvent) -> StoreEvent? {
        let event = found.isDetached ? main(of: found) ?? found : found
        guard event.hasRecurrenceRules, let calendar = event.calendar else { return single(event) }
        let start = seconds(event.startDate)
        let window = TimeRange(seconds: start - 31 * 86_400..<start + 3 * TimeRange.year)
        let predicate = events.predicateForEvents(
            withStart: Date(window.from), end: Date(window.to), calendars: [calendar])
        let same = parts(of: event, among: events.events(matching: predicate))
        return series(event, same, window)
    }

    // MARK: Making events from occurrences

    private func units(_ found: [EKEvent], _ window: TimeRange) -> [StoreEvent] {
        let plain = found.filter { !$0.hasRecurrenceRules && !$0.isDetached }.compactMap { single($0) }
        return plain + series(of: found).compactMap { series($0.main, $0.parts, window) }
    }

    private func single(_ event: EKEvent) -> StoreEvent? {
        guard let content = content(of: event) else { return nil }
        return store(event, EventUnit(content), latest: event.lastModifiedDate, known: nil)
    }

    private func series(_ main: EKEvent, _ found: [EKEvent], _ window: TimeRange) -> StoreEvent? {
        guard var content = content(of: main) else { return nil }
        let rule = main.recurrenceRules?.first.flatMap { RecurrenceRule($0, isAllDay: main.isAllDay, zones) }
        content.recurrence = EventRecurrence(rule: rule?.description)
        var unit = EventUnit(content)
        var present: Set<EventMoment> = []
        for event in found {
            guard let moment = moment(of: event, in: content.span) else { continue }
            present.insert(moment)
            if event.isDetached, let changed = self.content(of: event) { unit.changed[moment] = changed }
        }
        if let rule {
            unit.content.recurrence?.exceptions = missing(rule, content, main, window, besides: present)
        }
        let latest = (found + [main]).compactMap(\.lastModifiedDate).max()
        return store(main, unit, latest: latest, known: window)
    }

    /// Returns occurrences that the rule has but the calendar does not; EventKit does not report which ones were left
    /// out.
    private func missing(
        _ rule: RecurrenceRule, _ content: EventContent, _ main: EKEvent, _ window: TimeRange,
        besides present: Set<EventMoment>
    ) -> Set<EventMoment> {
        let moments = rule.moments(of: content.span, in: window, zones)
        let candidates = moments.filter { !present.contains($0) }
        guard !candidates.isEmpty, let calendar = main.calendar else { return [] }
        // A changed occurrence may have moved out of the span.
        let wide = window.widened(by: TimeRange.year)
        let predicate = events.predicateForEvents(
            withStart: Date(wide.from), end: Date(wide.to), calendars: [calendar])
        let moved = parts(of: main, among: events.events(matching: predicate)).filter(\.isDetached)
            .compactMap { moment(of: $0, in: content.span) }
        return Set(candidates).subtracting(moved)
    }

    private func key(of event: EKEvent, base: EKEvent) -> EventKey {
        EventKey(
            calendarID: event.calendar?.calendarIdentifier ?? "", localID: base.eventIdentifier ?? "",
            externalID: name(of: event))
    }

    private func store(_ main: EKEvent, _ unit: EventUnit, latest: Date?, known: TimeRange?) -> StoreEvent {
        StoreEvent(
            key: key(of: main, base: main), unit: unit, url: main.url?.absoluteString,
            lastModified: latest.map { Int($0.timeIntervalSince1970 * 1000) }, hasAttendees: main.hasAttendees,
            known: known)
    }

    // MARK: Times

    func seconds(_ date: Date?) -> Int { Int((date ?? .distantPast).timeIntervalSince1970.rounded(.down)) }

    /// Returns midnight after an event's last day, by the device's clock.
    private func afterDays(_ event: EKEvent) -> Int {
        let zone = zones.device()
        let last = zones.wall(max(seconds(event.startDate), seconds(event.endDate)), in: zone).day
        return zones.instant(WallTime(last.adding(days: 1), second: 0), in: zone)
    }

    /// Returns nil for an event without times. Whole days are in the device's zone, whatever it is at the time.
    private func content(of event: EKEvent) -> EventContent? {
        guard event.startDate != nil, event.endDate != nil else { return nil }
        let (start, end) = (seconds(event.startDate), max(seconds(event.startDate), seconds(event.endDate)))
        let span: EventSpan
        if event.isAllDay {
            let zone = zones.device()
            span = .allDay(first: zones.wall(start, in: zone).day, last: zones.wall(end, in: zone).day)
        } else {
            var zone = event.timeZone?.identifier
            if let name = zone, zones.clock(name) == nil { zone = "UTC" }
            let clock = zone ?? zones.device()
            span = .timed(start: zones.wall(start, in: clock), end: zones.wall(end, in: clock), zone: zone)
        }
        return EventContent(
            title: event.title ?? "", span: span, location: event.location ?? "", notes: event.notes ?? "")
    }

    /// Returns an occurrence's original start.
    func moment(of event: EKEvent, in span: EventSpan) -> EventMoment? {
        guard let date = event.occurrenceDate ?? event.startDate else { return nil }
        return span.isAllDay ? .day(zones.wall(seconds(date), in: zones.device()).day) : .instant(seconds(date))
    }
}

extension Date {
    init(_ instant: Instant) { self.init(timeIntervalSince1970: Double(instant.seconds)) }
}
