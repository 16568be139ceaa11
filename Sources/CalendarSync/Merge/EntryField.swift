// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// A part of an entry that is merged separately.
public enum EntryField: String, Hashable, Sendable, Codable, CaseIterable {
    case title, notes, location
    /// Start, end, zone, and whether it is all day.
    case times
    /// The rule and its additional dates.
    case recurrence
    case reminders, status, availability
    /// Whether the event, or an occurrence of it, takes place.
    case existence

    /// The fields of an event as a whole.
    static let ofEvents: [EntryField] = [
        .title, .notes, .location, .times, .recurrence, .reminders, .status, .availability,
    ]

    /// The fields of an occurrence that takes place.
    static let ofOccurrences: [EntryField] = [.title, .notes, .location, .times, .status]
}

/// The value of one field, for comparison.
enum FieldValue: Hashable {
    case text(String)
    case times(TimeSpan)
    case recurrence(SeriesRule?)
    case reminders([Int])
    case existence(Bool)

    /// The value as text, for people and for digests.
    var text: String {
        switch self {
        case .text(let text): text
        case .times(let span): span.text
        case .recurrence(let rule): rule?.text ?? ""
        case .reminders(let minutes): minutes.map(String.init).joined(separator: ",")
        case .existence(let exists): exists ? "present" : "removed"
        }
    }
}

extension TimeSpan {
    /// An ISO 8601 interval: two times and then the zone, as in
    /// `2026-05-04T07:00:00Z/2026-05-04T08:00:00Z Europe/Berlin`, or two dates, the second of them exclusive.
    var text: String {
        switch self {
        case .timed(let start, let end, let zone): "\(start)/\(end) \(zone)"
        case .days(let first, let until): "\(first)/\(until)"
        }
    }

    /// Returns the times of the series' occurrence that would have begun at `start`.
    func moved(to start: Instant) -> TimeSpan {
        guard case .timed(let first, let end, let zone) = self else { return self }
        return .timed(start: start, end: end.adding(seconds: start.seconds - first.seconds), zone: zone)
    }
}

extension Entry {
    /// The value of a field.
    subscript(field: EntryField) -> FieldValue {
        switch field {
        case .title: .text(title)
        case .notes: .text(notes)
        case .location: .text(location)
        case .times: .times(span)
        case .recurrence: .recurrence(rule)
        case .reminders: .reminders(reminders)
        case .status: .text(status.rawValue)
        case .availability: .text(availability.rawValue)
        case .existence: .existence(true)
        }
    }

    /// Takes the value of one field from another version.
    mutating func take(_ field: EntryField, of other: Entry) {
        switch field {
        case .title: title = other.title
        case .notes: notes = other.notes
        case .location: location = other.location
        case .times: span = other.span
        case .recurrence: repetition = other.repetition
        case .reminders: reminders = other.reminders
        case .status: status = other.status
        case .availability: availability = other.availability
        case .existence: break
        }
    }
}
