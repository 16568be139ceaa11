// SPDX-License-Identifier: Apache-2.0

internal import Calendar
import Foundation
public import KalendsCompanion
import OfficeDays

#if canImport(EventKit)
internal import EventKit
#else
internal import EventKitStandIn
#endif

extension EventKitStore {
    public func save(_ draft: EventDraft) throws(StoreFailure) -> SaveTicket {
        try allowed()
        let content = draft.unit.content
        guard content.recurrence?.additions.isEmpty ?? true else { throw .invalid("additionalDates") }
        var rule: EKRecurrenceRule?
        if let text = content.recurrence?.rule {
            guard let own = RecurrenceRule(ofPhone: text) else { throw .invalid("rule") }
            rule = own.eventKit(zones)
        }
        var event: EKEvent
        if let key = draft.key {
            // Saving an event that was deleted would create it again.
            guard let found = events.event(withIdentifier: key.localID), let old = try self.event(localID: key.localID)
            else { throw .eventGone }
            event = found
            let back = (old.unit.content.recurrence?.exceptions ?? [])
                .subtracting(content.recurrence?.exceptions ?? [])
            if !back.isEmpty, old.unit.content.span == content.span, rule != nil {
                // An occurrence that was left out cannot be restored, so the series is created again and the old one is
                // removed.
                event = EKEvent(eventStore: events)
                event.url = found.url
                event.availability = found.availability
                event.calendar = found.calendar
                do { try events.remove(found, span: .futureEvents, commit: false) } catch { throw Self.failure(error) }
            }
        } else {
            event = EKEvent(eventStore: events)
            guard let calendar = events.calendar(withIdentifier: draft.calendarID) else {
                throw .calendarGone(draft.calendarID)
            }
            event.calendar = calendar
        }
        fill(event, content)
        if let url = draft.url { event.url = URL(string: url) }
        if let isBusy = draft.isBusy { event.availability = isBusy ? .busy : .free }
        let wasSeries = event.hasRecurrenceRules
        if !isSame(event.recurrenceRules?.first, rule) { event.recurrenceRules = rule.map { [$0] } }
        let span: EKSpan = wasSeries || rule != nil ? .futureEvents : .thisEvent
        // It is not a failure when there was nothing to save; only an error is.
        do { try events.save(event, span: span, commit: false) } catch { throw Self.failure(error) }
        let ticket = ticket()
        unsaved.append(Unsaved(ticket: ticket, event: event, draft: draft, span: span))
        return ticket
    }

    public func remove(_ key: EventKey) throws(StoreFailure) {
        try allowed()
        guard let event = events.event(withIdentifier: key.localID) else { throw .eventGone }
        do {
            try events.remove(event, span: event.hasRecurrenceRules ? .futureEvents : .thisEvent, commit: false)
        } catch {
            throw Self.failure(error)
        }
    }

    public func commit() throws(StoreFailure) -> [SaveTicket: Result<StoreEvent, StoreFailure>] {
        try allowed()
        let saves = unsaved
        unsaved = []
        do { try events.commit() } catch { throw Self.failure(error) }
        // A series that fails below resets the store, and with it the events that are not read yet.
        let names = saves.map(\.event.eventIdentifier)
        var saved: [SaveTicket: Result<StoreEvent, StoreFailure>] = [:]
        for case (let save, let id?) in zip(saves, names) {
            // The others are in the calendar for good, whatever happens to one series.
            do throws(StoreFailure) {
                if save.draft.unit.content.recurrence != nil { try shape(id, save) }
                // The event is read back to see how the calendar changed it.
                saved[save.ticket] = try event(localID: id).map { .success($0) }
            } catch {
                saved[save.ticket] = .failure(error)
            }
        }
        return saved
    }

    public func rollback() {
        unsaved = []
        events.reset()
    }

    /// Gives a saved series its changed occurrences, and removes those that are left out.
    ///
    /// If this fails for a new series, the series is removed, so that no part of it stays.
    private func shape(_ id: String, _ save: Unsaved) throws(StoreFailure) {
        guard let now = try event(localID: id)?.unit else { return }
        let wanted = save.draft.unit
        let moments = Set(wanted.changed.keys).union(wanted.content.recurrence?.exceptions ?? [])
            .union(now.changed.keys)
        do {
            var isChanged = false
            for moment in moments.sorted() {
                let isLeftOut = wanted.content.recurrence?.exceptions.contains(moment) == true
                if !isLeftOut, now.changed[moment] == wanted.changed[moment] { continue }
                guard let event = occurrence(of: id, at: moment, now) else { continue }
                if isLeftOut {
                    try events.remove(event, span: .thisEvent, commit: false)
                } else {
                    fill(event, wanted.changed[moment] ?? now.content.occurrence(at: moment, zones))
                    try events.save(event, span: .thisEvent, commit: false)
                }
                isChanged = true
            }
            if isChanged { try events.commit() }
        } catch {
            events.reset()
            if save.draft.key == nil, let event = events.event(withIdentifier: id) {
                try? events.remove(event, span: .futureEvents, commit: true)
            }
            throw Self.failure(error)
        }
    }

    private func occurrence(of id: String, at moment: EventMoment, _ unit: EventUnit) -> EKEvent? {
        guard let main = events.event(withIdentifier: id), let calendar = main.calendar else { return nil }
        let content = unit.changed[moment] ?? unit.content.occurrence(at: moment, zones)
        let place = zones.window(of: content.span).widened(by: 86_400)
        let predicate = events.predicateForEvents(
            withStart: Date(place.from), end: Date(place.to), calendars: [calendar])
        return parts(of: main, among: events.events(matching: predicate)).first { event in
            self.moment(of: event, in: unit.content.span) == moment
        }
    }

    private func isSame(_ old: EKRecurrenceRule?, _ new: EKRecurrenceRule?) -> Bool {
        guard let old, let new else { return old == nil && new == nil }
        return RecurrenceRule(old, isAllDay: false, zones) == RecurrenceRule(new, isAllDay: false, zones)
    }

    private func fill(_ event: EKEvent, _ content: EventContent) {
        event.title = content.title
        event.location = content.location.isEmpty ? nil : content.location
        event.notes = content.notes.isEmpty ? nil : content.notes
        let window = zones.window(of: content.span)
        event.startDate = Date(window.from)
        switch content.span {
        case .allDay:
            event.isAllDay = true
            event.timeZone = nil
            // EventKit's last day is inclusive.
            event.endDate = Date(window.to.adding(seconds: -1))
        case .timed(_, _, let zone):
            event.isAllDay = false
            event.timeZone = zone.flatMap { TimeZone(identifier: $0) }
            event.endDate = Date(window.to)
        }
    }
}
