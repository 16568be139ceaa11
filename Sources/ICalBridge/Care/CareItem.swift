// SPDX-License-Identifier: Apache-2.0

/// A task: something to do at a time.
public struct CareTask: Hashable, Sendable {
    public enum Status: String, Hashable, Sendable, CaseIterable, Codable {
        case open, completed, cancelled
    }

    public var title: String
    public var dueAt: Instant
    /// Whole minutes.
    public var durationMinutes: Int
    public var status: Status
    /// Minutes before `dueAt`.
    public var reminders: [Int]
    public var notes: String?

    public init(
        title: String, dueAt: Instant, durationMinutes: Int = 30, status: Status = .open, reminders: [Int] = [],
        notes: String? = nil
    ) {
        self.title = title
        self.dueAt = dueAt
        self.durationMinutes = durationMinutes
        self.status = status
        self.reminders = reminders
        self.notes = notes
    }
}

/// A shift: who looks after whom, for some hours or for whole days.
public struct Shift: Hashable, Sendable {
    public enum Span: Hashable, Sendable {
        case timed(start: Instant, end: Instant)
        /// Whole days, the last one included.
        case days(first: CivilDate, last: CivilDate)
    }

    public var patientName: String
    /// Nil for a shift that nobody has taken.
    public var ownerName: String?
    public var span: Span
    public var notes: String?

    public init(patientName: String, ownerName: String?, span: Span, notes: String? = nil) {
        self.patientName = patientName
        self.ownerName = ownerName
        self.span = span
        self.notes = notes
    }
}

/// An appointment of a patient with a provider, once or repeating.
public struct Appointment: Hashable, Sendable {
    public enum Status: String, Hashable, Sendable, CaseIterable, Codable {
        case confirmed, tentative, cancelled
    }

    public var patientName: String
    public var provider: String
    public var startAt: Instant
    public var endAt: Instant
    public var location: String?
    public var status: Status
    /// Minutes before `startAt`.
    public var reminders: [Int]
    public var notes: String?
    /// In the appointment's own zone.
    public var recurrence: Recurrence
    /// The original start that this appointment replaces in its series, nil for the whole.
    public var recurrenceID: EventTime?

    public init(
        patientName: String, provider: String, startAt: Instant, endAt: Instant, location: String? = nil,
        status: Status = .confirmed, reminders: [Int] = [], notes: String? = nil, recurrence: Recurrence = Recurrence(),
        recurrenceID: EventTime? = nil
    ) {
        self.patientName = patientName
        self.provider = provider
        self.startAt = startAt
        self.endAt = endAt
        self.location = location
        self.status = status
        self.reminders = reminders
        self.notes = notes
        self.recurrence = recurrence
        self.recurrenceID = recurrenceID
    }
}

/// A follow-up: what a handoff left to be done.
public struct FollowUp: Hashable, Sendable {
    public var description: String
    public var dueAt: Instant
    /// Whole minutes.
    public var durationMinutes: Int
    /// Minutes before `dueAt`.
    public var reminders: [Int]
    public var notes: String?

    public init(
        description: String, dueAt: Instant, durationMinutes: Int = 30, reminders: [Int] = [], notes: String? = nil
    ) {
        self.description = description
        self.dueAt = dueAt
        self.durationMinutes = durationMinutes
        self.reminders = reminders
        self.notes = notes
    }
}

/// One of the four kinds of items that a host application schedules.
public enum CareItem: Hashable, Sendable {
    case task(CareTask)
    case shift(Shift)
    case appointment(Appointment)
    case followUp(FollowUp)
}
