// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// The tie between an item and its event there, with what both sides last agreed on. There is one for each item.
public struct Link: Hashable, Sendable, Codable {
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// Both sides agree.
        case linked
        /// Something has to be written, and has not been written yet.
        case pending
        /// A person has to decide; nothing is written until then, or until the item changes.
        case conflict
        /// A tombstone: both sides know that the event is gone. It is kept for a year.
        case deleted
        /// The event was deleted there and stays away until its item changes.
        case ignored
        /// This one event is held back, for `reason`.
        case quarantined
        /// It left the window: the event stays where it is, and nobody looks at it.
        case untracked
    }

    /// Which way the last write went.
    public enum Direction: String, Hashable, Sendable, Codable, CaseIterable { case out, `in` }

    public var item: ItemKey
    /// That of the event's mark.
    public var generation: Int
    /// The event's id there; nil before a create was answered and after the event is gone.
    public var externalID: String?
    /// The id that the event of this generation had when it went; an event that comes back under it is the same one.
    public var lastID: String?
    /// That of `agreed.theirs`; nil where the server gave none.
    public var etag: String?
    /// The provider's own stamp of that state; nil where it has none.
    public var stamp: Instant?
    /// Nil until both sides agreed once.
    public var agreed: Agreement?
    public var state: State
    /// Why it is quarantined, in a sentence for people.
    public var reason: String?
    /// What was ours, as the provider would have it, when it was quarantined: another value is tried at once.
    public var refused: Entry?
    public var direction: Direction
    /// When both sides were last seen to agree, by this server's clock.
    public var lastSyncedAt: Instant?
    /// When the state last changed: how old a tombstone is, or a quarantine.
    public var since: Instant
    /// Events of earlier generations that are still there and have to go.
    public var leftovers: [Leftover]
    /// Edits there in the last hour: a field that flips between two values is frozen.
    public var flips: [Flip]

    public init(
        item: ItemKey, generation: Int = 0, externalID: String? = nil, lastID: String? = nil,
        etag: String? = nil, stamp: Instant? = nil, agreed: Agreement? = nil, state: State, reason: String? = nil,
        refused: Entry? = nil,
        direction: Direction = .out, lastSyncedAt: Instant? = nil, since: Instant, leftovers: [Leftover] = [],
        flips: [Flip] = []
    ) {
        self.item = item
        self.generation = generation
        self.externalID = externalID
        self.lastID = lastID
        self.etag = etag
        self.stamp = stamp
        self.agreed = agreed
        self.state = state
        self.reason = reason
        self.refused = refused
        self.direction = direction
        self.lastSyncedAt = lastSyncedAt
        self.since = since
        self.leftovers = leftovers
        self.flips = flips
    }
}

/// What both sides last agreed on. The two differ where a server rewrites what it is given, and where a person left it so.
public struct Agreement: Hashable, Sendable, Codable {
    /// The item's entry, as the provider can express it.
    public var ours: Entry
    /// The event as the server answered it.
    public var theirs: Entry

    public init(ours: Entry, theirs: Entry) {
        self.ours = ours
        self.theirs = theirs
    }
}

/// An event whose place a later generation has taken.
public struct Leftover: Hashable, Sendable, Codable {
    public var id: String
    public var etag: String?
    public var generation: Int

    public init(id: String, etag: String?, generation: Int) {
        self.id = id
        self.etag = etag
        self.generation = generation
    }
}

/// One edit of a field that was seen there.
public struct Flip: Hashable, Sendable, Codable {
    public var field: String
    /// A digest of the value.
    public var value: String
    public var at: Instant

    public init(field: String, value: String, at: Instant) {
        self.field = field
        self.value = value
        self.at = at
    }
}
