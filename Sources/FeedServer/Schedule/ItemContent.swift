// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// The fields of a schedule item as they are stored.
enum ItemContent: Hashable, Sendable {
    case task(TaskContent)
    case shift(ShiftContent)
    case appointment(AppointmentContent)
    case followUp(FollowUpContent)
}

struct TaskContent: Hashable, Sendable, Codable {
    var title: String
    var dueAt: Instant
    var durationMinutes: Int
    var timeZone: String?
    var patientId: String?
    var ownerId: String?
    var status: CareTask.Status
    var reminders: [Int]
    var notes: String?
}

struct ShiftContent: Hashable, Sendable, Codable {
    var patientId: String
    var ownerId: String?
    var startAt: Instant?
    var endAt: Instant?
    var startDate: CivilDate?
    /// The last day, included.
    var endDate: CivilDate?
    var timeZone: String?
    var notes: String?
}

struct AppointmentContent: Hashable, Sendable, Codable {
    struct Repetition: Hashable, Sendable, Codable {
        var rrule: String?
        var exdates: [Instant]
        var rdates: [Instant]
    }

    var patientId: String
    var provider: String
    var startAt: Instant
    var endAt: Instant
    var timeZone: String?
    var location: String?
    var notes: String?
    var status: Appointment.Status
    var recurrence: Repetition?
    var reminders: [Int]
}

struct FollowUpContent: Hashable, Sendable, Codable {
    var description: String
    var dueAt: Instant
    var durationMinutes: Int
    var timeZone: String?
    var patientId: String?
    var ownerId: String?
    var reminders: [Int]
    var notes: String?
}

/// What one changed occurrence has of its own; nil is as in the series.
struct OccurrenceContent: Hashable, Sendable, Codable {
    var provider: String?
    var startAt: Instant
    var endAt: Instant
    var location: String?
    var notes: String?
    var status: Appointment.Status
}
