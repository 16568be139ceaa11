// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// A conflict: what both sides did to the same thing, with every value that either of them typed.
public struct ConflictRecord: Hashable, Sendable, Codable {
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case bothChanged, deletedThere, editedThere, unreadable
    }

    public enum Side: String, Hashable, Sendable, Codable, CaseIterable { case kalends, calendar }

    public enum State: String, Hashable, Sendable, Codable, CaseIterable { case open, resolved }

    public enum Outcome: String, Hashable, Sendable, Codable, CaseIterable { case kalends, calendar, both, dismissed }

    /// A field with its three values as text for people; a missing value is nil.
    public struct Field: Hashable, Sendable, Codable {
        public var field: EntryField
        public var base: String?
        public var kalends: String?
        public var calendar: String?
        public var kept: Side

        public init(field: EntryField, base: String?, kalends: String?, calendar: String?, kept: Side) {
            self.field = field
            self.base = base
            self.kalends = kalends
            self.calendar = calendar
            self.kept = kept
        }
    }

    /// A digest of what it records: the same conflict, seen again after a crash, has the same id.
    public var id: String
    public var item: ItemKey
    /// The occurrence of a series, named by the instant at which it would have begun.
    public var occurrence: Instant?
    public var at: Instant
    public var kind: Kind
    public var fields: [Field]
    /// The item's whole entry when the conflict was seen; nil when the item was gone.
    public var ours: Entry?
    /// The event's whole entry when the conflict was seen; nil when the event was gone or unreadable.
    public var theirs: Entry?
    public var state: State
    /// The outcome; nil while the conflict is open.
    public var outcome: Outcome?
    public var resolvedAt: Instant?

    public init(
        id: String, item: ItemKey, occurrence: Instant? = nil, at: Instant, kind: Kind, fields: [Field], ours: Entry?,
        theirs: Entry?, state: State, outcome: Outcome? = nil, resolvedAt: Instant? = nil
    ) {
        self.id = id
        self.item = item
        self.occurrence = occurrence
        self.at = at
        self.kind = kind
        self.fields = fields
        self.ours = ours
        self.theirs = theirs
        self.state = state
        self.outcome = outcome
        self.resolvedAt = resolvedAt
    }
}
