// SPDX-License-Identifier: Apache-2.0

package import CalendarSync
import ICalBridge
import Storage

/// The rows of a circle that are read for a connection's calendar; its contents are then computed without the database.
struct ConnectionRows: Sendable {
    /// The items that may be in the window, and those that are linked.
    let items: [ScheduleItem]
    let changed: [ByteString: [ChangedOccurrence]]
    let names: CircleNames
    /// The linked items that were deleted.
    let deleted: Set<ItemKey>
    /// The user's office days, if this connection carries them.
    let officeDays: [Ours]
    /// The circle's version from which this was made; 0 for a deleted circle.
    let version: Int

    init(of connection: Connection, window: FeedWindow, in transaction: any ReadTransaction) throws {
        let circle = connection.circleID
        guard let version = try transaction.circle(circle)?.version else {
            (items, changed, names, deleted, officeDays, version) = ([], [:], CircleNames(), [], [], 0)
            return
        }
        self.version = version
        let (from, to) = (window.from.milliseconds - EntrySpan.slack, window.to.milliseconds + EntrySpan.slack)
        let near = try transaction.items(in: circle, from: from, to: to)
        var known = Set(near.compactMap(ItemKey.init))
        let others = try transaction.linkedItems(of: connection.id, in: circle, notFrom: from, to: to).filter {
            ItemKey($0).map { known.insert($0).inserted } ?? false
        }
        items = near + others.filter { $0.deletedAt == nil }
        deleted = Set(others.filter { $0.deletedAt != nil }.compactMap(ItemKey.init))
        officeDays = try OfficeDayEntries.shown(of: connection, from: from, to: to, in: transaction)
        names = try CircleNames(circle, in: transaction)
        changed = Dictionary(grouping: try transaction.occurrences(of: nil, in: circle), by: \.itemID)
    }
}

extension ItemKey {
    /// Returns nil for an item of a kind that is not synchronized.
    init?(_ item: ScheduleItem) {
        guard let collection = Collection(text: item.collection.rawValue) else { return nil }
        self.init(collection, item.id)
    }
}

extension ItemKinds {
    /// Returns nil for a collection that does not hold items of a circle.
    package subscript(collection: ItemKey.Collection) -> (any ItemContent.Type)? {
        self[ScheduleItem.Collection(rawValue: collection.rawValue)]
    }
}

extension ConnectionParts {
    /// How many items are made into entries before other tasks get a turn.
    private static let itemsAtOnce = 100

    /// Returns everything that the calendar should show.
    func desired(_ rows: ConnectionRows, now: Int) async throws -> Desired {
        let filter = FeedFilter(
            configuration.feed, userID: connection.userID, window: window(now: now), zone: zone)
        let builder = builder(rows.names)
        var items: [Ours] = []
        for (index, item) in rows.items.enumerated() {
            if index % Self.itemsAtOnce == Self.itemsAtOnce - 1 { await Task.yield() }
            let content = try kinds.content(of: item)
            guard !content.isCancelled, filter.exclusion(of: EntryTraits(item, content)) == nil,
                let entry = try entry(of: item, content, rows.changed[item.id] ?? [], builder)
            else { continue }
            if let ours = Ours(item, entry) { items.append(ours) }
        }
        return Desired(items: items + rows.officeDays, deleted: rows.deleted, version: rows.version)
    }

    /// Returns an item as an entry, whether or not the calendar should show it; nil if the item has no time.
    func entry(
        of item: ScheduleItem, _ content: any ItemContent, _ changed: [ChangedOccurrence], _ builder: EntryBuilder
    ) throws -> Entry? {
        let events = try builder.events(
            of: item, content, occurrences: item.hasOccurrences ? changed : [],
            isOwn: content.ownerID == connection.userID)
        return Entry(events, in: content.zone(or: zone))
    }
}

extension Ours {
    /// Returns nil for an item of a kind that is not synchronized.
    init?(_ item: ScheduleItem, _ entry: Entry) {
        guard let key = ItemKey(item) else { return nil }
        self.init(
            item: key, entry: entry, changedAt: Instant(milliseconds: item.updatedAt),
            revision: item.sequence)
    }
}
