// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.
public import ICalBridge

/// One event in the form in which both sides of a connection are compared: the same for every provider, and normalized.
///
/// A series is one entry with all its changed occurrences, each of which is an entry with a title, notes, a location, a
/// span and a status: the rest is as in the series. Absent text is empty, and reminders are sorted and unique, so that
/// entries with the same meaning are equal.
public struct Entry: Hashable, Sendable, Codable {
    public enum Status: String, Hashable, Sendable, Codable { case confirmed, tentative }
    public enum Availability: String, Hashable, Sendable, Codable { case busy, free }

    public var title: String
    /// Plain text with LF line ends.
    public var notes: String
    public var location: String
    public var span: TimeSpan
    /// How the event repeats; nil for a single event.
    public var repetition: Repetition?
    /// The differences from the series, by the instant at which the occurrence would have begun.
    public var occurrences: [Instant: Occurrence]
    /// Whole minutes before the start, ascending and unique.
    public var reminders: [Int]
    public var status: Status
    public var availability: Availability

    public init(
        title: String, notes: String = "", location: String = "", span: TimeSpan, repetition: Repetition? = nil,
        occurrences: [Instant: Occurrence] = [:], reminders: [Int] = [], status: Status = .confirmed,
        availability: Availability = .busy
    ) {
        self.title = title
        self.notes = notes
        self.location = location
        self.span = span
        self.repetition = repetition
        self.occurrences = occurrences
        self.reminders = Set(reminders).sorted()
        self.status = status
        self.availability = availability
    }
}

/// How a series repeats (RFC 5545 section 3.8.5). All starts are instants: only timed entries repeat.
public struct Repetition: Hashable, Sendable, Codable {
    /// The value of RRULE as `RecurrenceRule` writes it; nil for a series of RDATEs only.
    public var rrule: String?
    /// Starts that are left out, ascending and unique.
    public var exdates: [Instant]
    /// Starts in addition to those of the rule, ascending and unique.
    public var rdates: [Instant]

    public init(rrule: String?, exdates: [Instant] = [], rdates: [Instant] = []) {
        self.rrule = rrule
        self.exdates = Set(exdates).sorted()
        self.rdates = Set(rdates).sorted()
    }
}

/// One occurrence of a series that differs from the series.
public enum Occurrence: Hashable, Sendable, Codable {
    /// It does not take place; the same as an EXDATE.
    case cancelled
    /// Stored apart, because a calendar may cancel many thousand occurrences.
    indirect case changed(Entry)
}

// Coded by hand: the compiler's code writes a dictionary in an order that changes from process to process, and stored
// text must not change.
extension Entry {
    private enum CodingKeys: String, CodingKey {
        case title, notes, location, span, repetition, occurrences, cancelled, reminders, status, availability
    }

    /// One pair of `occurrences`, which are coded in order. Cancelled ones are only listed, because a series may have
    /// thousands of them.
    private struct CodedOccurrence: Codable {
        var start: Instant
        var occurrence: Occurrence
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let occurrences = try values.decodeIfPresent([CodedOccurrence].self, forKey: .occurrences) ?? []
        let cancelled = try values.decodeIfPresent([Instant].self, forKey: .cancelled) ?? []
        self.init(
            title: try values.decode(String.self, forKey: .title),
            notes: try values.decodeIfPresent(String.self, forKey: .notes) ?? "",
            location: try values.decodeIfPresent(String.self, forKey: .location) ?? "",
            span: try values.decode(TimeSpan.self, forKey: .span),
            repetition: try values.decodeIfPresent(Repetition.self, forKey: .repetition),
            occurrences: Dictionary(
                occurrences.map { ($0.start, $0.occurrence) } + cancelled.map { ($0, .cancelled) },
                uniquingKeysWith: { $1 }),
            reminders: try values.decodeIfPresent([Int].self, forKey: .reminders) ?? [],
            status: try values.decodeIfPresent(Status.self, forKey: .status) ?? .confirmed,
            availability: try values.decodeIfPresent(Availability.self, forKey: .availability) ?? .busy)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(title, forKey: .title)
        if !notes.isEmpty { try values.encode(notes, forKey: .notes) }
        if !location.isEmpty { try values.encode(location, forKey: .location) }
        try values.encode(span, forKey: .span)
        try values.encodeIfPresent(repetition, forKey: .repetition)
        let cancelled = occurrences.filter { $0.value == .cancelled }.keys.sorted()
        let changed = occurrences.filter { $0.value != .cancelled }.sorted { $0.key < $1.key }
        if !cancelled.isEmpty { try values.encode(cancelled, forKey: .cancelled) }
        if !changed.isEmpty {
            try values.encode(
                changed.map { CodedOccurrence(start: $0.key, occurrence: $0.value) }, forKey: .occurrences)
        }
        if !reminders.isEmpty { try values.encode(reminders, forKey: .reminders) }
        if status != .confirmed { try values.encode(status, forKey: .status) }
        if availability != .busy { try values.encode(availability, forKey: .availability) }
    }
}
