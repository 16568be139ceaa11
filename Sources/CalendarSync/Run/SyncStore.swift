// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// The stored state of a connection that a run begins with.
public struct SyncState: Sendable {
    public var links: [Link]
    /// Operations whose outcome is not known.
    public var operations: [Operation]
    /// The open conflicts.
    public var conflicts: [ConflictRecord]
    /// Where the last pull ended; nil before the first.
    public var position: Position?
    /// Deletions of the last 24 hours, except those that a person approved or asked for.
    public var deletions: DeletionCount

    public init(
        links: [Link] = [], operations: [Operation] = [], conflicts: [ConflictRecord] = [], position: Position? = nil,
        deletions: DeletionCount = DeletionCount()
    ) {
        self.links = links
        self.operations = operations
        self.conflicts = conflicts
        self.position = position
        self.deletions = deletions
    }
}

/// Where the last pull ended, so that the next one continues there, and which events it listed.
public struct Position: Hashable, Sendable, Codable {
    /// The provider's cursor; nil when it has none, so that each pull is a full listing.
    public var cursor: String?
    public var fingerprint: Fingerprint
    /// The window that was listed when the cursor began.
    public var listed: TimeRange
    /// Whether no run has ended yet in this calendar, which replaced another one: it may hold events from an earlier
    /// time for items that have none. Nil means no.
    public var isBegun: Bool?
    /// What is left to be done of the change to this calendar; nil when every link belongs to it.
    public var leaving: Leaving?

    /// A calendar to which links still belong, although another one has replaced it.
    public struct Leaving: Hashable, Sendable, Codable {
        public var from: Fingerprint
        /// The last item, in order, whose link belongs to the new calendar.
        public var through: ItemKey
    }

    public init(cursor: String?, fingerprint: Fingerprint, listed: TimeRange, isBegun: Bool? = nil) {
        self.cursor = cursor
        self.fingerprint = fingerprint
        self.listed = listed
        self.isBegun = isBegun
    }
}

/// The numbers of deletions within 24 hours.
public struct DeletionCount: Hashable, Sendable, Codable {
    /// Events that we deleted in the calendar: journal entries `delete` of direction `out`, of runs without a `held`.
    public var out: Int
    /// Events found missing from the calendar: journal entries `missing`, of runs without a `held`.
    public var missing: Int

    public init(out: Int = 0, missing: Int = 0) {
        self.out = out
        self.missing = missing
    }
}

/// An event that belongs to a person from now on, because they edited or deleted it in the calendar.
public struct EventTakenByPerson: Hashable, Sendable {
    public enum Kind: Hashable, Sendable { case edited, deleted }

    public var item: ItemKey
    public var kind: Kind
}

/// What is stored in one transaction. Each record replaces the one with the same identity.
public struct SyncBatch: Sendable {
    /// Links, each identified by its item.
    public var links: [Link] = []
    /// Operations, each identified by its key. Those that are no longer open need not be kept.
    public var operations: [Operation] = []
    /// Conflicts, each identified by its id. A record that a person has already resolved stays resolved.
    public var conflicts: [ConflictRecord] = []
    public var journal: [JournalEntry] = []
    /// Office days whose events are not written again.
    public var handedOver: [EventTakenByPerson] = []
    /// The new position; nil keeps the stored one.
    public var position: Position?
    public var run: RunRecord?

    public init() {}

    public var isEmpty: Bool {
        links.isEmpty && operations.isEmpty && conflicts.isEmpty && journal.isEmpty && handedOver.isEmpty
            && position == nil && run == nil
    }
}

/// Stores a connection's state, and gives access to its items. Only one run at a time uses it.
public protocol SyncStore: Sendable {
    /// Returns the stored state.
    ///
    /// - Parameter dayAgo: deletions after this instant are counted.
    func load(deletionsAfter dayAgo: Instant) async throws -> SyncState

    /// Returns the current items to show.
    func desired() async throws -> Desired

    /// Returns the ids of the events that the circle's other connections have of these items.
    func eventsOfOthers(_ items: Set<ItemKey>) async throws -> Set<ByteString>

    /// Stores all of a batch or, if it throws, none of it.
    func commit(_ batch: SyncBatch) async throws

    /// Applies a change from the calendar to the item itself, with the rights of the connection's user, and stores the
    /// batch in the same transaction. Unless the answer is `applied`, the batch was not stored; of a change with very many
    /// edits, the first ones may have been.
    func apply(_ change: InboundChange, recording batch: SyncBatch) async throws -> InboundAnswer

    /// Returns all that a run wrote, in order.
    func journal(of run: String) async throws -> [JournalEntry]
}
