// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// An item as a connection's configuration shows it.
public struct Ours: Hashable, Sendable {
    public var item: ItemKey
    public var entry: Entry
    /// When the item last changed, by this server's clock.
    public var changedAt: Instant
    /// The item's revision: a change that comes in is applied to this one only.
    public var revision: Int

    public init(item: ItemKey, entry: Entry, changedAt: Instant, revision: Int) {
        self.item = item
        self.entry = entry
        self.changedAt = changedAt
        self.revision = revision
    }
}

/// All that a connection's calendar is to show.
public struct Desired: Sendable {
    /// Every item that the configuration shows and that is linked already or may overlap the window. Items beyond the
    /// window do no harm: the engine judges it.
    ///
    /// A cancelled item is not among them.
    public var items: [Ours]
    /// Linked items that a person deleted. An edit of their event there is not lost with them.
    public var deleted: Set<ItemKey>

    public init(items: [Ours], deleted: Set<ItemKey> = []) {
        self.items = items
        self.deleted = deleted
    }
}
