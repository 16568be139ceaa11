// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// A change that was made there and is to be made here, in one act.
public struct InboundChange: Hashable, Sendable {
    public enum Edit: Hashable, Sendable {
        /// Moves the whole item; a series with all its occurrences.
        case times(Span)
        /// Moves one occurrence, named by the instant at which it would have begun.
        case occurrenceTimes(Instant, Span)
        /// One occurrence is as the series has it again.
        case occurrenceRestored(Instant)
        case title(String)
        case notes(String)
        case location(String)
        case repetition(Repetition?)
        case reminders([Int])
        case status(Entry.Status)
        case availability(Entry.Availability)
        /// One occurrence has these contents.
        case occurrence(Instant, ChangedEntry)
        case occurrenceCancelled(Instant)
        /// The item is cancelled; it is never removed.
        case cancelled
        /// A second item, like this one, at another time; this one stays as it is. With an instant: of that occurrence.
        case copy(Span, of: Instant?)
    }

    public var item: ItemKey
    /// The revision from which the change was decided.
    public var revision: Int
    public var edits: [Edit]
    /// A word of the engine, for the audit trail.
    public var reason: String

    public init(item: ItemKey, revision: Int, edits: [Edit], reason: String) {
        self.item = item
        self.revision = revision
        self.edits = edits
        self.reason = reason
    }
}

/// What became of a change that came in.
public enum InboundAnswer: Hashable, Sendable {
    /// It is done; this is the item now.
    case applied(Ours)
    /// The item has another revision now; nothing was done.
    case changedMeanwhile
    /// The item cannot be so, for this reason in a sentence; nothing was done.
    case refused(String)
}
