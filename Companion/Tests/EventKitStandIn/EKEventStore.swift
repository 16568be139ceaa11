// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The result of `predicateForEvents`.
public final class EKEventPredicate {
    let start: Date
    let end: Date
    let calendars: [String]?

    init(_ start: Date, _ end: Date, _ calendars: [String]?) {
        (self.start, self.end, self.calendars) = (start, end, calendars)
    }
}

public final class EKEventStore {
    let device: StandInDevice
    private var pending: [(inout [Int: StandInDevice.Row], inout Int, Int) throws -> Void] = []
    private var saved: [EKEvent] = []

    public init() {
        device = StandInDevice.current
        device.follow(self)
    }

    public class func authorizationStatus(for type: EKEntityType) -> EKAuthorizationStatus {
        StandInDevice.current.call("authorizationStatus")
        return StandInDevice.current.authorization
    }

    public func requestFullAccessToEvents(completion: @escaping @Sendable (Bool, (any Error)?) -> Void) {
        completion(device.ask() == .fullAccess, nil)
    }

    private var isAllowed: Bool { device.authorization == .fullAccess }

    // MARK: Calendars

    public func calendars(for type: EKEntityType) -> [EKCalendar] {
        device.call("calendars")
        switch device.authorization {
        case .fullAccess: return device.calendars.filter { !$0.isHidden }.map { EKCalendar($0) }
        case .writeOnly:
            // In this state there is one virtual calendar, whatever calendars the device has.
            return [EKCalendar(.init(id: "virtual", title: "Calendar", type: .local, canWrite: true))]
        default: return []
        }
    }

    public func calendar(withIdentifier id: String) -> EKCalendar? {
        guard isAllowed else { return nil }
        return device.visible(id).map { EKCalendar($0) }
    }

    public var defaultCalendarForNewEvents: EKCalendar? {
        calendars(for: .event).first { $0.allowsContentModifications }
    }

    public func saveCalendar(_ calendar: EKCalendar, commit: Bool) throws {
        guard isAllowed else { throw EKError(.eventStoreNotAuthorized) }
        guard calendar.source != nil else { throw EKError(.calendarHasNoSource) }
        calendar.calendarIdentifier = device.addCalendar(calendar.title)
    }

    // MARK: Reading

    public func predicateForEvents(
        withStart start: Date, end: Date, calendars: [EKCalendar]?
    ) -> EKEventPredicate {
        // A span of more than four years is shortened to its first four, without an error.
        let most = start.addingTimeInterval(4 * 365.25 * 86_400)
        return EKEventPredicate(start, min(end, most), calendars?.map(\.calendarIdentifier))
    }

    public func events(matching predicate: EKEventPredicate) -> [EKEvent] {
        device.call("events")
        guard isAllowed else { return [] }
        // An empty list of calendars means all calendars.
        let calendars = predicate.calendars?.isEmpty == true ? nil : predicate.calendars
        return device.occurrences(from: predicate.start, to: predicate.end, calendars: calendars, self)
    }

    /// Returns the first occurrence of the event with this identifier.
    public func event(withIdentifier id: String) -> EKEvent? {
        device.call("event")
        guard isAllowed else { return nil }
        let local = id.components(separatedBy: "/RID=")[0]
        guard let number = device.number(local: local), let row = device.events[number] else { return nil }
        return first(number, row)
    }

    public func calendarItems(withExternalIdentifier id: String) -> [EKCalendarItem] {
        device.call("calendarItems")
        guard isAllowed else { return [] }
        return device.numbers(external: id).compactMap { number in device.events[number].flatMap { first(number, $0) } }
    }

    private func first(_ number: Int, _ row: StandInDevice.Row) -> EKEvent? {
        guard !row.rules.isEmpty else { return device.occurrence(number, nil, self) }
        // This is the series' own start, even if that occurrence was changed or left out.
        var plain = row
        (plain.leftOut, plain.detached) = ([], [:])
        guard let event = device.occurrence(number, nil, self) else { return nil }
        event.moment = plain.fields.when.moment
        event.occurrenceDate = event.startDate
        return event
    }

    // MARK: Writing

    /// Defers a save until `commit()`, or commits it at once.
    public func save(_ event: EKEvent, span: EKSpan, commit isLast: Bool) throws {
        device.call("save")
        guard isAllowed else { throw EKError(.eventStoreNotAuthorized) }
        guard event.store === self else { throw EKError(.objectBelongsToDifferentStore) }
        guard let start = event.startDate else { throw EKError(.noStartDate) }
        guard let end = event.endDate else { throw EKError(.noEndDate) }
        guard end >= start else { throw EKError(.datesInverted) }
        guard let id = event.calendar?.calendarIdentifier, let calendar = device.visible(id) else {
            throw EKError(.noCalendar)
        }
        guard calendar.canWrite else { throw EKError(.calendarReadOnly) }
        var fields = fields(of: event, start, end)
        if !calendar.keepsURLs { fields.url = nil }
        let written = fields
        let rules = event.recurrenceRules ?? []
        let moment = event.moment
        let row = event.row
        let names = (device.name(), device.name())
        pending.append { rows, next, now in
            if let row, var old = rows[row] {
                old.modified = now
                if let moment, span == .thisEvent, !old.rules.isEmpty {
                    old.detached[moment] = written
                } else {
                    if old.fields.when != written.when || !old.rules.elementsEqual(rules, by: { $0 === $1 }) {
                        // A different series has different occurrences.
                        (old.detached, old.leftOut) = ([:], [])
                    }
                    old.fields = written
                    old.rules = rules
                    old.calendar = id
                }
                rows[row] = old
            } else {
                // Saving an event that was deleted creates a new one.
                let external = calendar.type == .local ? names.0 : names.1
                rows[next] = StandInDevice.Row(
                    fields: written, calendar: id, external: external, local: names.0, modified: now, rules: rules)
                event.row = next
                next += 1
            }
        }
        saved.append(event)
        if isLast { try commit() }
    }

    public func remove(_ event: EKEvent, span: EKSpan, commit isLast: Bool) throws {
        device.call("remove")
        guard isAllowed else { throw EKError(.eventStoreNotAuthorized) }
        guard event.store === self else { throw EKError(.objectBelongsToDifferentStore) }
        if let id = event.calendar?.calendarIdentifier, device.visible(id)?.canWrite == false {
            throw EKError(.calendarReadOnly)
        }
        guard let row = event.row else { return }
        let moment = event.moment
        pending.append { rows, _, now in
            guard var old = rows[row] else { return }
            if let moment, span == .thisEvent, !old.rules.isEmpty {
                old.detached[moment] = nil
                old.leftOut.insert(moment)
                old.modified = now
                rows[row] = old
            } else {
                rows[row] = nil
            }
        }
        if isLast { try commit() }
    }

    public func commit() throws {
        device.call("commit")
        guard isAllowed else { throw EKError(.eventStoreNotAuthorized) }
        defer { (pending, saved) = ([], []) }
        try device.commit(pending)
        // Saved events are read again from the database.
        for event in saved { _ = event.refresh() }
    }

    public func reset() { (pending, saved) = ([], []) }

    public func refreshSourcesIfNecessary() {}

    private func fields(of event: EKEvent, _ start: Date, _ end: Date) -> StandInDevice.Fields {
        func wall(_ date: Date) -> Int {
            Int(date.timeIntervalSince1970) + device.zoneNow.secondsFromGMT(for: date)
        }
        let when: StandInDevice.When
        if event.isAllDay {
            let first = wall(start) / 86_400
            when = .allDay(first: first, last: max(first, wall(end) / 86_400))
        } else if let zone = event.timeZone {
            when = .timed(
                start: Int(start.timeIntervalSince1970), end: Int(end.timeIntervalSince1970), zone: zone.identifier)
        } else {
            when = .floating(start: wall(start), end: wall(end))
        }
        var fields = StandInDevice.Fields(
            title: event.title ?? "", location: event.location, notes: event.notes,
            url: event.url?.absoluteString, when: when)
        fields.isFree = event.availability == .free
        return fields
    }
}
