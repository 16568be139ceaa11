// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

/// The names that stand in titles, by id; of those who have left too.
package struct CircleNames: Hashable, Sendable {
    package var patients: [ByteString: String]
    package var members: [ByteString: String]

    init(patients: [ByteString: String] = [:], members: [ByteString: String] = [:]) {
        self.patients = patients
        self.members = members
    }

    init(_ circle: String, in transaction: any ReadTransaction) throws {
        patients = Dictionary(
            uniqueKeysWithValues: try transaction.patientsEverKnown(in: circle).map { ($0.id, $0.displayName) })
        members = Dictionary(
            uniqueKeysWithValues: try transaction.membersEverKnown(in: circle).map { ($0.userID, $0.displayName) })
    }
}

extension ItemContent {
    /// What calendars show of the item, with the names that its title needs, for times on the clock of `zone`.
    func careItem(names: CircleNames, in zone: TimeZoneReference) -> CareItem {
        switch self {
        case .task(let content):
            .task(
                CareTask(
                    title: content.title, dueAt: content.dueAt, durationMinutes: content.durationMinutes,
                    status: content.status, reminders: content.reminders,
                    notes: content.notes))
        case .shift(let content):
            .shift(
                Shift(
                    patientName: names.patients[content.patientId] ?? content.patientId,
                    ownerName: content.ownerId.map { names.members[$0] ?? $0 }, span: content.span, notes: content.notes
                ))
        case .appointment(let content):
            .appointment(content.appointment(names: names, in: zone))
        case .followUp(let content):
            .followUp(
                FollowUp(
                    description: content.description, dueAt: content.dueAt, durationMinutes: content.durationMinutes,
                    reminders: content.reminders, notes: content.notes))
        }
    }
}

extension ShiftContent {
    package var span: Shift.Span {
        if let startDate { return .days(first: startDate, last: endDate ?? startDate) }
        let start = startAt ?? Instant(seconds: 0)
        return .timed(start: start, end: endAt ?? start)
    }
}

extension AppointmentContent {
    func appointment(names: CircleNames, in zone: TimeZoneReference) -> Appointment {
        Appointment(
            patientName: names.patients[patientId] ?? patientId, provider: provider, startAt: startAt, endAt: endAt,
            location: location, status: status, reminders: reminders,
            notes: notes, recurrence: rules(in: zone))
    }

    /// The repetition on the clock of a zone; UNTIL in UTC, as RFC 5545 wants it beside a zoned start.
    func rules(in zone: TimeZoneReference) -> Recurrence {
        guard let recurrence else { return Recurrence() }
        func zoned(_ instant: Instant) -> EventTime { .zoned(zone.rules.civil(at: instant), zone) }
        var rules: [RecurrenceRule] = []
        if let text = recurrence.rrule, var rule = try? RecurrenceRule(text) {
            switch rule.until {
            case .date(let date):
                let end = CivilDateTime(startOf: date).adding(seconds: 86_399)
                rule.until = .utc(zone.rules.instant(of: end))
            case .floating(let wall): rule.until = .utc(zone.rules.instant(of: wall))
            case .utc, nil: break
            }
            rules = [rule]
        }
        return Recurrence(
            rules: rules, additions: recurrence.rdates.map { Recurrence.Addition(start: zoned($0)) },
            exclusions: recurrence.exdates.map(zoned))
    }

    /// One changed occurrence as an appointment of its own.
    func appointment(
        _ occurrence: OccurrenceContent, originalStart: Instant, names: CircleNames, in zone: TimeZoneReference
    ) -> Appointment {
        var changed = appointment(names: names, in: zone)
        changed.provider = occurrence.provider ?? provider
        changed.startAt = occurrence.startAt
        changed.endAt = occurrence.endAt
        changed.location = occurrence.location ?? location
        changed.notes = occurrence.notes ?? notes
        // With the series every occurrence is cancelled.
        changed.status = status == .cancelled ? .cancelled : occurrence.status
        changed.recurrence = Recurrence()
        changed.recurrenceID = .zoned(zone.rules.civil(at: originalStart), zone)
        return changed
    }
}
