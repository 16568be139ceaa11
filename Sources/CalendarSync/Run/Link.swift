// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// The link between an item and its event in the calendar, with what both sides last agreed on. Each item has one link.
public struct Link: Hashable, Sendable, Codable {
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// Both sides agree.
        case linked
        /// Something still has to be written.
        case pending
        /// A person has to decide; nothing is written until then, or until the item changes.
        case conflict
        /// A tombstone: both sides know that the event is gone. It is kept for a year.
        case deleted
        /// The event was deleted in the calendar and stays away until its item changes.
        case ignored
        /// This event is held back, for `reason`.
        case quarantined
        /// The event left the window: it stays where it is, and is not looked at.
        case untracked
    }

    /// The direction of the last write.
    public enum Direction: String, Hashable, Sendable, Codable, CaseIterable { case out, `in` }

    public var item: ItemKey
    /// The generation in the event's mark.
    public var generation = 0
    /// The event's id in the calendar; nil before a create was answered and after the event is gone.
    public var externalID: String?
    /// The id of this generation's event before it was gone; an event that comes back with it is the same one.
    public var lastID: String?
    /// The etag of `agreed.theirs`; nil where the server gave none.
    public var etag: String?
    /// The provider's own timestamp of that state; nil where it has none.
    public var stamp: Instant?
    /// What both sides last agreed on; nil until they first agree.
    public var agreed: Agreement?
    public var state: State
    /// Why it is quarantined, in a sentence for people.
    public var reason: String?
    /// The same for other languages.
    public var problem: SyncProblem?
    /// Our entry as the provider can express it, when the link was quarantined: a different entry is tried at once.
    public var refused: Entry?
    /// Which texts the calendar keeps as they were, whatever is written, in a sentence for people; nil for none.
    public var unwritten: String?
    /// The fields of these texts.
    public var unwrittenFields: [EntryField]?
    /// What the provider did not take as a series; nil when it never refused one.
    public var refusedSeries: RefusedSeries?
    public var direction = Direction.out
    /// When both sides were last seen to agree, by this server's clock.
    public var lastSyncedAt: Instant?
    /// When the state last changed: it gives the age of a tombstone or a quarantine.
    public var since: Instant
    /// Events of earlier generations that still exist and have to be removed.
    public var leftovers: [Leftover] = []
    /// The same in calendars that were left before they could be removed; nil for none.
    public var elsewhere: [LeftoverElsewhere]?
    /// Whether a person invited others to the event; nil for no, and when nobody said.
    public var hasGuests: Bool?
    /// Edits in the calendar in the last hour: a field that flips between two values is frozen.
    public var flips: [ObservedFieldEdit] = []
}

/// What both sides last agreed on. The two entries differ where a server rewrites what it receives, and where a person
/// left a difference.
public struct Agreement: Hashable, Sendable, Codable {
    /// The item's entry, as the provider can express it.
    public var ours: Entry
    /// The event's entry, as the server returned it.
    public var theirs: Entry
}

/// A series that its provider refused, although nothing was known against it. Its occurrences are single events.
public struct RefusedSeries: Hashable, Sendable, Codable {
    /// The series, as the provider could otherwise express it.
    public var entry: Entry
    /// Why, in a sentence for people.
    public var reason: String

    /// Reports whether a series would be refused for the same reason: it repeats alike, and what was moved is where it
    /// was.
    func holds(for other: Entry) -> Bool {
        let (refused, other) = (entry.canonical, other.canonical)
        return other.repeats(like: refused)
            && refused.occurrences.keys.allSatisfy { other.takesPlace(like: refused, at: $0) }
    }
}

/// An event that a later generation has replaced.
public struct Leftover: Hashable, Sendable, Codable {
    public var id: String
    public var etag: String?
    public var generation: Int
}

/// An event that a later generation has replaced, in a calendar that is no longer the connection's.
public struct LeftoverElsewhere: Hashable, Sendable, Codable {
    public var account: String
    public var calendar: String
    public var leftover: Leftover

    func isIn(_ fingerprint: Fingerprint) -> Bool {
        account == fingerprint.account && calendar == fingerprint.calendar
    }
}

/// One edit of a field that was seen in the calendar.
public struct ObservedFieldEdit: Hashable, Sendable, Codable {
    public var field: String
    /// A digest of the value.
    public var value: String
    public var at: Instant
}

extension Link {
    /// Remembers whether the event has guests, if an answer said so.
    mutating func note(guests: Bool?) {
        if let guests { hasGuests = guests ? true : nil }
    }

    /// Removes the event's id from the link, and remembers it: the event is gone.
    mutating func away() {
        if let externalID { lastID = externalID }
        (externalID, etag, unwritten) = (nil, nil, nil)
    }

    /// Reports whether anything that both sides agree on is new.
    func differs(from other: Link) -> Bool {
        agreed != other.agreed || etag != other.etag || externalID != other.externalID || state != other.state
    }

    /// The maximum number of edits that are remembered, so that a link is never much longer than its entries.
    private static let mostFlips = 1000

    /// Remembers for an hour the edits that were seen in the calendar.
    mutating func add(_ seen: [EditSeen], at now: Instant) {
        flips.removeAll { now.seconds - $0.at.seconds > Planner.hour }
        flips += seen.map { ObservedFieldEdit(field: $0.field.string, value: $0.value.string, at: now) }
        flips = flips.suffix(Self.mostFlips)
    }
}
