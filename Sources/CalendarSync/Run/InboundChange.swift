// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// A change that was made there and is to be made here, in one act.
public struct InboundChange: Hashable, Sendable {
    public enum Edit: Hashable, Sendable {
        /// Moves the whole item. A series takes its occurrences along: those that were changed are named by their new
        /// place, and those that were cancelled are so there. When a changed one takes place is the store's to say.
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

extension Entry {
    /// What an item's entry is after a change that came in, as far as an entry can show it.
    public func applying(_ edits: [InboundChange.Edit]) -> Entry {
        var entry = canonical
        for edit in edits { entry.apply(edit) }
        return entry.canonical
    }

    private mutating func apply(_ edit: InboundChange.Edit) {
        switch edit {
        case .times(let span): move(to: span)
        case .occurrenceTimes(let start, let span):
            var changed = effective(at: start) ?? plain(at: start)
            changed.span = span
            occurrences[start] = .changed(changed)
        case .occurrenceRestored(let start):
            var changed = effective(at: start) ?? plain(at: start)
            changed.span = span.moved(to: start)
            occurrences[start] = .changed(changed)
        case .title(let title): self.title = title
        case .notes(let notes): self.notes = notes
        case .location(let location): self.location = location
        case .repetition(let repetition): self.repetition = repetition
        case .reminders(let reminders): self.reminders = reminders
        case .status(let status): self.status = status
        case .availability(let availability): self.availability = availability
        case .occurrence(let start, let changed): occurrences[start] = .changed(changed)
        case .occurrenceCancelled(let start): occurrences[start] = .cancelled
        case .cancelled, .copy: break
        }
    }

    /// Moves a series by the difference of the two starts, on the clock of an instant.
    private mutating func move(to span: Span) {
        let delta = span.start.seconds - self.span.start.seconds
        self.span = span
        guard delta != 0 else { return }
        var moved: [Instant: Occurrence] = [:]
        for (start, occurrence) in occurrences {
            var occurrence = occurrence
            if case .changed(var changed) = occurrence {
                changed.span = changed.span.moved(to: changed.span.start.adding(seconds: delta))
                occurrence = .changed(changed)
            }
            moved[start.adding(seconds: delta)] = occurrence
        }
        occurrences = moved
    }
}
