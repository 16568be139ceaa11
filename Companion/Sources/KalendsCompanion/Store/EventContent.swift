// SPDX-License-Identifier: Apache-2.0

/// How an event repeats.
public struct EventRecurrence: Hashable, Sendable, Codable {
    /// The value of RRULE (RFC 5545 section 3.3.10); nil when the event repeats only at `additions`.
    public var rule: String?
    /// Starts of occurrences that are left out.
    public var exceptions: Set<EventMoment>
    /// Starts of occurrences in addition to the rule's.
    public var additions: Set<EventMoment>

    public init(rule: String?, exceptions: Set<EventMoment> = [], additions: Set<EventMoment> = []) {
        self.rule = rule
        self.exceptions = exceptions
        self.additions = additions
    }
}

/// The fields of an event, or of one occurrence, that are synced.
public struct EventContent: Hashable, Sendable, Codable {
    public var title: String
    public var span: EventSpan
    /// Empty when the event has no location.
    public var location: String
    /// Empty when the event has no notes.
    public var notes: String
    /// Nil for an event that does not repeat, and for a changed occurrence.
    public var recurrence: EventRecurrence?

    public init(
        title: String, span: EventSpan, location: String = "", notes: String = "", recurrence: EventRecurrence? = nil
    ) {
        self.title = title
        self.span = span
        self.location = location
        self.notes = notes
        self.recurrence = recurrence
    }
}
