// SPDX-License-Identifier: Apache-2.0

/// An item to be stored, either a new one or in place of an existing item or tombstone.
public struct ItemPut: Sendable {
    /// The item as it will be stored.
    public let item: ScheduleItem
    fileprivate let isNew: Bool
    /// What the item held before; nil if it did not exist.
    fileprivate let before: String?
    /// Whether calendars show the change.
    fileprivate let isNews: Bool

    /// - Parameters:
    ///   - old: the stored item or tombstone.
    ///   - newUID: the UID for a new item; an existing one keeps its own.
    ///   - isVisible: whether calendars show the change, so that the SEQUENCE rises.
    public init(
        _ item: ScheduleItem, replacing old: ScheduleItem?, newUID: String, isVisible: Bool, now: Int
    ) {
        var item = item
        item.uid = old?.uid ?? newUID
        item.sequence = old.map { $0.sequence + (isVisible ? 1 : 0) } ?? 0
        item.createdAt = old?.createdAt ?? now
        // The time of change in calendars stays the same when they show nothing new.
        item.updatedAt = isVisible ? now : old?.updatedAt ?? now
        item.deletedAt = nil
        self.item = item
        isNew = old.map { $0.deletedAt != nil } ?? true
        before = isNew ? nil : old?.content
        // With another patient the item appears in other feeds, even when it looks the same.
        isNews = isVisible || old?.patientID != item.patientID
    }

    /// The effect on an existing row.
    private static func replacement(isNews: Bool) -> String {
        """
        \(ScheduleItem.table.otherwise), changed_in = EXCLUDED.changed_in,
            \(isNews
                ? "shown_in = NULL, shown_as = EXCLUDED.shown_as"
                : "shown_in = COALESCE(schedule_items.shown_in, schedule_items.changed_in)")
        """
    }

    fileprivate static func store(
        _ puts: ArraySlice<ItemPut>, changedIn version: Int, in transaction: some WriteTransaction
    ) throws {
        guard let isNews = puts.first?.isNews else { return }
        try transaction.insert(
            all: puts.map(\.item), with: "changed_in, shown_as",
            { [.integer(version), .text(puts[puts.startIndex + $0].isNew ? "created" : "updated")] },
            otherwise: replacement(isNews: isNews))
    }

    /// Returns the end of the run from `start` that one statement can store: all its puts have the same `isNews`, and no
    /// item occurs twice, because PostgreSQL cannot change a row twice in one statement.
    fileprivate static func end(of puts: [ItemPut], from start: Int) -> Int {
        var keys: Set<Key> = []
        return puts[start...].firstIndex { $0.isNews != puts[start].isNews || !keys.insert($0.key).inserted }
            ?? puts.count
    }

    private struct Key: Hashable {
        let collection: ScheduleItem.Collection
        let id: ByteString
    }

    private var key: Key { Key(collection: item.collection, id: ByteString(item.id)) }
}

extension ReadTransaction {
    /// Returns those of a collection's items with these ids that exist or existed, in no order.
    public func itemsEverKnown(
        _ ids: [String], _ collection: ScheduleItem.Collection, in circle: String
    ) throws -> [ScheduleItem] {
        try eachGroup(ids, from: 3) { parameters, values in
            try rows(
                "\(select: ScheduleItem.self) WHERE circle_id = $1 AND collection = $2 AND id IN (\(parameters))",
                [.text(circle), .text(collection.rawValue)] + values
            ).map(ScheduleItem.init)
        }
    }

    /// Returns the items with these ids, in a collection, for which only the id, the UID, the revision and the times are kept.
    public func emptiedItems(
        _ ids: [String], _ collection: ScheduleItem.Collection, in circle: String
    ) throws -> Set<ByteString> {
        Set(
            try eachGroup(ids, from: 3) { parameters, values in
                try rows(
                    """
                    SELECT id FROM schedule_items WHERE circle_id = $1 AND collection = $2 AND id IN (\(parameters))
                        AND deleted_at IS NOT NULL AND content = ''
                    """, [.text(circle), .text(collection.rawValue)] + values
                ).map { ByteString(try $0.text(required: "id")) }
            })
    }
}

extension WriteTransaction {
    /// Stores items of a circle in their order, and notes each as a change of the circle.
    ///
    /// - Returns: the number of the last of these changes; nil without any.
    @discardableResult
    public func putItems(_ puts: [ItemPut], in circle: String, now: Int) throws -> Int? {
        guard !puts.isEmpty else { return nil }
        // The circle's version rises once, at the end of the transaction. Without the circle the schema refuses its items.
        let version = try row("SELECT version FROM circles WHERE id = $1", [.text(circle)])?.integer("version") ?? 0
        var start = 0
        while start < puts.count {
            let end = ItemPut.end(of: puts, from: start)
            try ItemPut.store(puts[start..<end], changedIn: version + 1, in: self)
            start = end
        }
        let numbers = try note(
            puts.map {
                CircleChange(
                    .item, $0.isNew ? .created : .updated, collection: $0.item.collection.rawValue, id: $0.item.id)
            }, in: circle, now: now)
        try keep(
            zip(puts, numbers).compactMap { put, number in
                put.before.map {
                    KeptContent($0, of: put.item.id, put.item.collection, in: circle, number: number, now: now)
                }
            }, in: circle)
        return numbers.upperBound
    }
}
