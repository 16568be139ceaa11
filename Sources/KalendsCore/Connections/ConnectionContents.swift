// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

/// What is read of a circle for a connection's calendar; what it comes to is worked out without the database.
struct ConnectionRows: Sendable {
    /// Those that may be in the window, and those that are linked.
    let items: [ScheduleItem]
    let changed: [ByteString: [ChangedOccurrence]]
    let names: CircleNames
    /// Linked items that were deleted.
    let deleted: Set<ItemKey>
    /// The user's office days, where this connection carries them.
    let officeDays: [Ours]

    init(of connection: Connection, window: FeedWindow, in transaction: any ReadTransaction) throws {
        let circle = connection.circleID
        guard try transaction.circle(circle) != nil else {
            (items, changed, names, deleted, officeDays) = ([], [:], CircleNames(), [], [])
            return
        }
        let (from, to) = (window.from.milliseconds - EntrySpan.slack, window.to.milliseconds + EntrySpan.slack)
        let near = try transaction.items(in: circle, from: from, to: to)
        var known = Set(near.map(ItemKey.init))
        let others = try transaction.linkedItems(of: connection.id, in: circle, notFrom: from, to: to).filter {
            known.insert(ItemKey($0)).inserted
        }
        items = near + others.filter { $0.deletedAt == nil }
        deleted = Set(others.filter { $0.deletedAt != nil }.map(ItemKey.init))
        officeDays = try OfficeDayEntries.shown(of: connection, from: from, to: to, in: transaction)
        names = try CircleNames(circle, in: transaction)
        changed = Dictionary(grouping: try transaction.occurrences(of: nil, in: circle), by: \.itemID)
    }
}

extension ItemKey {
    init(_ item: ScheduleItem) { self.init(Collection(item.collection), item.id) }
}

extension ItemKey.Collection {
    init(_ collection: ScheduleItem.Collection) {
        self =
            switch collection {
            case .tasks: .tasks
            case .shifts: .shifts
            case .appointments: .appointments
            case .followUps: .followUps
            }
    }

    /// Nil for what is not an item of a circle.
    var ofItems: ScheduleItem.Collection? { ScheduleItem.Collection(rawValue: rawValue) }
}

extension ConnectionParts {
    /// Items made into entries before others have their turn.
    private static let itemsAtOnce = 100

    /// All that the calendar is to show.
    func desired(_ rows: ConnectionRows, now: Int) async throws -> Desired {
        let filter = FeedFilter(
            configuration.feed, userID: connection.userID, window: window(now: now), zone: zone)
        let builder = builder(rows.names)
        var items: [Ours] = []
        for (index, item) in rows.items.enumerated() {
            if index % Self.itemsAtOnce == Self.itemsAtOnce - 1 { await Task.yield() }
            let content = try ItemContent(item)
            guard !content.isCancelled, filter.exclusion(of: EntryTraits(item, content)) == nil,
                let entry = try entry(of: item, content, rows.changed[item.id] ?? [], builder)
            else { continue }
            items.append(Ours(item, entry))
        }
        return Desired(items: items + rows.officeDays, deleted: rows.deleted)
    }

    /// One item as an entry, whether or not the calendar is to show it; nil for one without a place in time.
    func entry(
        of item: ScheduleItem, _ content: ItemContent, _ changed: [ChangedOccurrence], _ builder: EntryBuilder
    ) throws -> Entry? {
        let events = try builder.events(
            of: item, content, occurrences: item.collection == .appointments ? changed : [],
            isOwn: content.ownerID == connection.userID)
        return Entry(events, in: content.timeZone.flatMap { TimeZoneReference($0) } ?? zone)
    }
}

extension Ours {
    init(_ item: ScheduleItem, _ entry: Entry) {
        self.init(
            item: ItemKey(item), entry: entry, changedAt: Instant(milliseconds: item.updatedAt),
            revision: item.sequence)
    }
}

extension ItemContent {
    /// Whether it does not take place, so that no calendar that is kept in step shows it.
    package var isCancelled: Bool {
        switch self {
        case .task(let task): task.status == .cancelled
        case .appointment(let appointment): appointment.status == .cancelled
        case .shift, .followUp: false
        }
    }
}
