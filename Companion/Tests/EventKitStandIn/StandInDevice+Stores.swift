// SPDX-License-Identifier: Apache-2.0

import Foundation

// MARK: Actions of stores

extension StandInDevice {
    func ask() -> EKAuthorizationStatus {
        locked {
            if status == .notDetermined { status = answer }
            return status
        }
    }

    func visible(_ id: String) -> Calendar? { locked { calendarRows.first { $0.id == id && !$0.isHidden } } }

    func number(local: String) -> Int? {
        locked { rows.first { $0.value.local == local && visible($0.value.calendar) != nil }?.key }
    }

    func numbers(external: String) -> [Int] {
        locked { rows.filter { $0.value.external == external && visible($0.value.calendar) != nil }.keys.sorted() }
    }

    /// Applies all saves and removals, or none of them.
    func commit(_ changes: [(inout [Int: Row], inout Int, Int) throws -> Void]) throws {
        try locked {
            if failures > 0 {
                failures -= 1
                throw EKError(.internalFailure)
            }
            var copy = rows
            var number = next
            for change in changes { try change(&copy, &number, seconds) }
            (rows, next) = (copy, number)
        }
        announce()
    }

    var zoneNow: TimeZone { TimeZone(identifier: zone) ?? .gmt }

    /// Returns the date for a row's start on this device at present.
    func date(_ moment: Int, of when: When) -> Date {
        switch when {
        case .timed: return Date(timeIntervalSince1970: Double(moment))
        case .allDay, .floating:
            let zone = zoneNow
            let guess = Date(timeIntervalSince1970: Double(moment))
            let first = Date(timeIntervalSince1970: Double(moment - zone.secondsFromGMT(for: guess)))
            return Date(timeIntervalSince1970: Double(moment - zone.secondsFromGMT(for: first)))
        }
    }

    func occurrence(_ number: Int, _ moment: Int?, _ store: EKEventStore) -> EKEvent? {
        guard let row = locked({ rows[number] }), let calendar = visible(row.calendar) else { return nil }
        if let moment, row.leftOut.contains(moment) { return nil }
        return event(number, row, moment, calendar, store)
    }

    private func event(
        _ number: Int, _ row: Row, _ moment: Int?, _ calendar: Calendar, _ store: EKEventStore
    ) -> EKEvent {
        let event = EKEvent(eventStore: store)
        let changed = moment.flatMap { row.detached[$0] }
        var fields = changed ?? row.fields
        if changed == nil, let moment { fields.when = row.fields.when.moved(to: moment) }
        event.row = number
        event.moment = moment
        event.calendarItemIdentifier = "item-\(row.local)"
        event.calendarItemExternalIdentifier = row.external
        event.eventIdentifier = row.local
        event.title = fields.title
        event.location = fields.location
        event.notes = fields.notes
        event.url = fields.url.flatMap { URL(string: $0) }
        event.calendar = EKCalendar(calendar)
        event.lastModifiedDate = Date(timeIntervalSince1970: Double(row.modified))
        event.recurrenceRules = row.rules.isEmpty ? nil : row.rules
        event.hasAttendees = row.hasAttendees
        event.availability = fields.isFree ? .free : .busy
        event.isDetached = changed != nil
        if changed != nil { name(event, row, "/RID=\(moment ?? 0)", calendar.changedNames) }
        if let moment { event.occurrenceDate = date(moment, of: row.fields.when) }
        let when = fields.when
        event.startDate = date(when.moment, of: when)
        switch when {
        case .allDay(_, let last):
            event.isAllDay = true
            // This is the last second of the last day, since EventKit's end is inclusive.
            event.endDate = date((last + 1) * 86_400, of: when).addingTimeInterval(-1)
        case .timed(_, let end, let zone):
            event.timeZone = TimeZone(identifier: zone)
            event.endDate = Date(timeIntervalSince1970: Double(end))
        case .floating(_, let end): event.endDate = date(end, of: when)
        }
        return event
    }

    /// Gives a changed occurrence the identifiers that its account has for it.
    private func name(_ event: EKEvent, _ row: Row, _ suffix: String, _ names: ChangedNames) {
        event.eventIdentifier = row.local + suffix
        guard names != .shared else { return }
        event.recurrenceRules = nil
        event.calendarItemIdentifier += suffix
        if names == .suffixed {
            event.calendarItemExternalIdentifier = row.external + suffix
            event.eventIdentifier = "own-\(row.local)\(suffix)"
        } else {
            event.calendarItemExternalIdentifier = "own-\(row.external)\(suffix)"
        }
    }

    /// Returns the occurrences that overlap a span, in no particular order.
    func occurrences(from start: Date, to end: Date, calendars: [String]?, _ store: EKEventStore) -> [EKEvent] {
        var found: [EKEvent] = []
        for (number, row) in locked({ rows }).sorted(by: { $0.key < $1.key }) {
            guard let calendar = visible(row.calendar), calendars?.contains(calendar.id) ?? true else { continue }
            for moment in moments(of: row, before: end) where !(moment.map { row.leftOut.contains($0) } ?? false) {
                let event = event(number, row, moment, calendar, store)
                guard let first = event.startDate, let last = event.endDate else { continue }
                if first < end, last > start || (first == last && first >= start) { found.append(event) }
            }
        }
        return shuffled(found)
    }

    private func moments(of row: Row, before end: Date) -> [Int?] {
        guard let rule = row.rules.first else { return [nil] }
        let first = row.fields.when.moment
        var zone = TimeZone.gmt
        if case .timed(_, _, let name) = row.fields.when { zone = TimeZone(identifier: name) ?? .gmt }
        let starts = rule.starts(
            from: Date(timeIntervalSince1970: Double(first)), before: end.addingTimeInterval(86_400), in: zone)
        // Moved occurrences may begin before their original starts.
        var moments = Set(starts.map { Int($0.timeIntervalSince1970) })
        moments.formUnion(row.detached.keys)
        return moments.sorted()
    }
}
