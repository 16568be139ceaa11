// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// An item as a connection's configuration shows it.
public struct Ours: Hashable, Sendable {
    public var item: ItemKey
    public var entry: Entry
    /// When the item last changed, by this server's clock.
    public var changedAt: Instant
    /// The item's revision: a change from the calendar is applied only to this revision.
    public var revision: Int

    public init(item: ItemKey, entry: Entry, changedAt: Instant, revision: Int) {
        self.item = item
        self.entry = entry
        self.changedAt = changedAt
        self.revision = revision
    }
}

/// All that a connection's calendar should show.
public struct Desired: Sendable {
    /// Every item that the configuration shows and that is already linked or may overlap the window. Items outside the
    /// window do no harm: the engine checks the window itself.
    ///
    /// Cancelled items are not included.
    public var items: [Ours]
    /// Linked items that a person deleted. An edit of their event in the calendar is not lost with them.
    public var deleted: Set<ItemKey>
    /// The version of all of it, which rises with each change.
    public var version: Int

    public init(items: [Ours], deleted: Set<ItemKey> = [], version: Int = 0) {
        self.items = items
        self.deleted = deleted
        self.version = version
    }
}
