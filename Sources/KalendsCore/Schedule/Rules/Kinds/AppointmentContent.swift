// SPDX-License-Identifier: Apache-2.0

package import CalendarSync
package import ICalBridge
package import Storage

/// An appointment of a patient with a provider, once or repeating.
package struct AppointmentContent: ItemContent {
    package enum Status: String, Hashable, Sendable, CaseIterable {
        case confirmed, tentative, cancelled
    }

    package var patient = ""
    package var provider = ""
    package var startAt = Instant(seconds: 0)
    /// By default an hour after the start.
    package var endAt = Instant(seconds: 3600)
    package var timeZone: String?
    package var location: String?
    package var notes: String?
    package var status = Status.confirmed
    package var reminders: [Int] = []
    package var recurrence: Repetition?

    package init() {}

    package static let parts: [ItemPart<AppointmentContent>] = [
        .required("patientId", \.patient, .identifier), .required("provider", \.provider, .text),
        .span(\.startAt, \.endAt, isRequired: true), .timeZone, .optional("location", \.location, .looseText),
        .optional("notes", \.notes, .notes), .given("status", \.status, .choice),
        .given("reminders", \.reminders, .reminders), .occurrences,
        .optional("recurrence", \.recurrence, .repetition),
    ]

    package static let collection = ScheduleItem.Collection.appointments
    package static let name = "Appointment"
    package static let resource = Refusal.Resource("appointment", .appointmentNotFound)
    package static let example: JSONValue = [
        "patientId": "mom", "provider": "Dr. Lee", "startAt": "2026-01-22T10:00:00-08:00", "durationMinutes": 45,
        "recurrence": ["rrule": "FREQ=WEEKLY;COUNT=6"],
    ]
    package static let inputNote: String? = "With `endAt` or `durationMinutes`, or for an hour."
    package static let namesInTitles: Set<NameInTitle> = [.patient]

    package var patientID: String? { patient }
    package var statusWord: String? { status.rawValue }
    package var isCancelled: Bool { status == .cancelled }

    package func title(_ names: CircleNames) -> String { provider }

    package func careItem(_ names: CircleNames, in zone: TimeZoneReference) -> CareItem {
        var item = CareItem(
            category: "Appointment", label: "Appt", title: [names.patient(patient), provider],
            span: .timed(start: startAt, end: endAt, zone: zone.identifier), availability: .busy)
        item.status =
            switch status {
            case .confirmed: .planned
            case .tentative: .tentative
            case .cancelled: .cancelled
            }
        item.reminders = reminders
        item.notes = notes
        item.location = location
        item.recurrence = rules(in: zone)
        return item
    }

    package mutating func move(to span: TimeSpan) throws {
        guard case .timed(let start, let end, _) = span else {
            throw InboundRefusal("An appointment has a time of day, so it cannot be moved to whole days.")
        }
        (startAt, endAt) = (start, end)
    }

    /// Takes over the part after the patient's name, or the whole title if a person wrote it without the name.
    package mutating func rename(_ title: String, _ names: CircleNames) throws {
        provider = title.removingPrefix(Self.titleBeginning(names.patient(patient)))
    }

    /// Returns what a title has before the provider: the patient's name, in the form in which the entry shows it.
    static func titleBeginning(_ patient: String) -> String { patient.withoutHiddenCharacters + " - " }

    package mutating func place(_ location: String?) throws { self.location = location }
    package mutating func remind(_ minutes: [Int]) throws { reminders = minutes }
    package mutating func cancel() throws { status = .cancelled }
}

extension ItemPart<AppointmentContent> {
    /// The original and new starts of changed occurrences, for responses.
    static var occurrences: ItemPart {
        let moved = JSONSchema.output(
            .required("originalStart", .instant), .required("startAt", .instant), .required("endAt", .instant))
        return ItemPart(output: [
            .required(
                "occurrences",
                JSONSchema.array(of: moved, maximum: ShownItem.mostMoved).described(
                    "The times of the first \(ShownItem.mostMoved) changed occurrences; all are listed, and each "
                        + "can be read, under `occurrences`."))
        ])
    }
}
