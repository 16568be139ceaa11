// SPDX-License-Identifier: Apache-2.0

package import ICalBridge

/// The fields of a schedule item as they are stored.
package enum ItemContent: Hashable, Sendable {
    case task(TaskContent)
    case shift(ShiftContent)
    case appointment(AppointmentContent)
    case followUp(FollowUpContent)
}

package struct TaskContent: Hashable, Sendable, Codable {
    package var title: String
    package var dueAt: Instant
    package var durationMinutes: Int
    var timeZone: String?
    var patientId: String?
    var ownerId: String?
    package var status: CareTask.Status
    package var reminders: [Int]
    package var notes: String?
}

package struct ShiftContent: Hashable, Sendable, Codable {
    package var patientId: String
    package var ownerId: String?
    var startAt: Instant?
    var endAt: Instant?
    var startDate: CivilDate?
    /// The last day, included.
    var endDate: CivilDate?
    var timeZone: String?
    package var notes: String?
}

package struct AppointmentContent: Hashable, Sendable, Codable {
    package struct Repetition: Hashable, Sendable, Codable {
        var rrule: String?
        var exdates: [Instant]
        var rdates: [Instant]
    }

    var patientId: String
    package var provider: String
    package var startAt: Instant
    package var endAt: Instant
    package var timeZone: String?
    package var location: String?
    package var notes: String?
    package var status: Appointment.Status
    package var recurrence: Repetition?
    package var reminders: [Int]
}

package struct FollowUpContent: Hashable, Sendable, Codable {
    package var description: String
    package var dueAt: Instant
    package var durationMinutes: Int
    var timeZone: String?
    var patientId: String?
    var ownerId: String?
    package var reminders: [Int]
    package var notes: String?
}

/// What one changed occurrence has of its own; nil is as in the series.
package struct OccurrenceContent: Hashable, Sendable, Codable {
    package var provider: String?
    package var startAt: Instant
    package var endAt: Instant
    package var location: String?
    package var notes: String?
    package var status: Appointment.Status
}
