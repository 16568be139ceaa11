// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// All that is stored of a connection and that a run begins with.
public struct SyncState: Sendable {
    public var links: [Link]
    /// Operations whose outcome is not known.
    public var operations: [Operation]
    /// Conflicts that are open.
    public var conflicts: [ConflictRecord]
    /// Where the last pull ended; nil before the first.
    public var position: Position?
    /// Deletions of the last 24 hours, without those that a person approved or asked for.
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

/// Where a pull ended, and what it was a pull of.
public struct Position: Hashable, Sendable, Codable {
    /// Nil when the provider has none: each pull is a full listing then.
    public var cursor: String?
    public var fingerprint: Fingerprint
    /// What was listed when the cursor began.
    public var listed: SyncWindow
    /// Whether no run has ended in this calendar, which came in the place of another: what has no event yet may have one of
    /// an earlier time in it. Nil means no.
    public var isBegun: Bool?

    public init(cursor: String?, fingerprint: Fingerprint, listed: SyncWindow, isBegun: Bool? = nil) {
        self.cursor = cursor
        self.fingerprint = fingerprint
        self.listed = listed
        self.isBegun = isBegun
    }
}

/// Deletions within a day.
public struct DeletionCount: Hashable, Sendable, Codable {
    /// Events that we deleted there: journal entries `delete` of direction `out`, of runs without a `held`.
    public var out: Int
    /// Events that were found missing there: journal entries `missing`, of runs without a `held`.
    public var missing: Int

    public init(out: Int = 0, missing: Int = 0) {
        self.out = out
        self.missing = missing
    }
}

/// An event that is a person's from now on, because they edited or deleted it there.
public struct HandOver: Hashable, Sendable {
    public enum Kind: Hashable, Sendable { case edited, deleted }

    public var item: ItemKey
    public var kind: Kind

    public init(item: ItemKey, kind: Kind) { (self.item, self.kind) = (item, kind) }
}

/// What is stored in one transaction. Each record replaces the one with its identity.
public struct SyncBatch: Sendable {
    /// By item.
    public var links: [Link] = []
    /// By key. What is not open any longer need not be kept.
    public var operations: [Operation] = []
    /// By id. A record that a person has resolved already stays resolved.
    public var conflicts: [ConflictRecord] = []
    public var journal: [JournalEntry] = []
    /// Events of office days that are not written again.
    public var handedOver: [HandOver] = []
    /// Nil leaves the stored one.
    public var position: Position?
    public var run: RunRecord?

    public init() {}

    public var isEmpty: Bool {
        links.isEmpty && operations.isEmpty && conflicts.isEmpty && journal.isEmpty && handedOver.isEmpty
            && position == nil && run == nil
    }
}

/// Where a connection's state is kept, and the way to its items. One run at a time uses it.
public protocol SyncStore: Sendable {
    /// - Parameter dayAgo: deletions after this instant are counted.
    func load(deletionsAfter dayAgo: Instant) async throws -> SyncState

    /// The items to show, as they are now.
    func desired() async throws -> Desired

    /// Stores all of a batch or, when it throws, nothing of it.
    func commit(_ batch: SyncBatch) async throws

    /// Makes a change that came in on the item itself, under the rights of the connection's user, and stores the batch in
    /// the same transaction. When the answer is not `applied`, nothing of either was stored.
    func apply(_ change: InboundChange, recording batch: SyncBatch) async throws -> InboundAnswer

    /// All that a run wrote, in its order.
    func journal(of run: String) async throws -> [JournalEntry]
}
