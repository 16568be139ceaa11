// SPDX-License-Identifier: Apache-2.0

/// An item of a circle's schedule as it is stored: the properties that queries need, and its content.
public struct ScheduleItem: Hashable, Sendable {
    /// The kind of an item, by its name in paths, such as `follow-ups`. This module does not know which kinds exist.
    public struct Collection: Hashable, Sendable, ExpressibleByStringLiteral {
        private let name: ByteString

        public init(rawValue: String) { name = ByteString(rawValue) }
        public init(stringLiteral value: String) { self.init(rawValue: value) }

        public var rawValue: String { name.string }
    }

    public var circleID = ""
    public var collection: Collection = ""
    public var id = ""
    public var uid = ""
    public var sequence = 0
    public var patientID: String?
    public var ownerID: String?
    /// The item's own zone; nil when it follows the circle's.
    public var timeZone: String?
    public var isAllDay = false
    /// Its span of time, for look-ups; days begin in UTC. `endsAt` is nil for a series without an end.
    public var startsAt = 0
    public var endsAt: Int?
    /// The item's fields as JSON, which this module does not interpret.
    public var content = ""
    public var createdAt = 0
    public var updatedAt = 0
    public var deletedAt: Int?

    /// Whether it was deleted so long ago that only its id, its UID, its revision and its times are kept.
    public var isEmptied: Bool { deletedAt != nil && content.isEmpty }
}

extension ScheduleItem: StoredRow {
    public init(
        circleID: String, collection: Collection, id: String, patientID: String?, ownerID: String?, timeZone: String?,
        isAllDay: Bool, startsAt: Int, endsAt: Int?, content: String
    ) {
        self.init(
            circleID: circleID, collection: collection, id: id, uid: "", patientID: patientID, ownerID: ownerID,
            timeZone: timeZone, isAllDay: isAllDay, startsAt: startsAt, endsAt: endsAt, content: content)
    }

    static let table = RecordTable<ScheduleItem>(
        "schedule_items",
        [
            .init("circle_id", \.circleID), .init("collection", \.collection), .init("id", \.id), .once("uid", \.uid),
            .init("sequence", \.sequence, in: ColumnRules.sequences), .init("patient_id", \.patientID),
            .init("owner_id", \.ownerID), .init("time_zone", \.timeZone), .init("is_all_day", \.isAllDay),
            .init("starts_at", \.startsAt), .init("ends_at", \.endsAt), .init("content", \.content),
            .once("created_at", \.createdAt), .init("updated_at", \.updatedAt), .init("deleted_at", \.deletedAt),
        ])
}

extension ScheduleItem.Collection: ColumnValue {
    init(_ value: SQLValue, in column: String) throws { self.init(rawValue: try String(value, in: column)) }
    var columnValue: SQLValue { .text(rawValue) }
}

/// The conditions for listing a collection's items.
public struct ScheduleItemQuery: Sendable {
    /// The span that items must overlap, in milliseconds since 1970; nil leaves it open.
    public var from: Int?
    public var to: Int?
    /// The circle's offset from UTC at `from` and at `to`, in milliseconds: its days begin that much earlier than UTC's.
    public var offsetAtFrom = 0
    public var offsetAtTo = 0
    /// Items must have changed at or after this time; tombstones of deleted items are then included.
    public var updatedSince: Int?
    /// Ids must come after this one.
    public var after = ""
    public var limit: Int

    public init(limit: Int) { self.limit = limit }
}

extension ReadTransaction {
    /// Returns an item or its tombstone.
    public func itemEverKnown(
        _ id: String, _ collection: ScheduleItem.Collection, in circle: String
    ) throws -> ScheduleItem? {
        try row(
            "\(select: ScheduleItem.self) WHERE circle_id = $1 AND collection = $2 AND id = $3",
            [.text(circle), .text(collection.rawValue), .text(id)]
        ).map(ScheduleItem.init)
    }

    /// Returns an item that is not deleted.
    public func item(_ id: String, _ collection: ScheduleItem.Collection, in circle: String) throws -> ScheduleItem? {
        try itemEverKnown(id, collection, in: circle).flatMap { $0.deletedAt == nil ? $0 : nil }
    }

    /// Returns items of one collection, in order of id.
    public func items(
        _ collection: ScheduleItem.Collection, in circle: String, _ query: ScheduleItemQuery
    ) throws -> [ScheduleItem] {
        try rows(
            """
            \(select: ScheduleItem.self)
            WHERE circle_id = $1 AND collection = $2 AND id > $3
                AND ($4 = 1 OR deleted_at IS NULL) AND updated_at >= $5
                AND (
                    ((ends_at IS NULL OR ends_at - is_all_day * $9 > $6
                        OR (ends_at = starts_at AND starts_at >= $6)) AND starts_at - is_all_day * $10 < $7)
                    OR EXISTS (SELECT 1 FROM occurrences WHERE occurrences.circle_id = schedule_items.circle_id
                        AND occurrences.collection = schedule_items.collection
                        AND occurrences.item_id = schedule_items.id
                        AND occurrences.ends_at > $6 AND occurrences.starts_at < $7))
            ORDER BY id LIMIT $8
            """,
            [
                .text(circle), .text(collection.rawValue), .text(query.after),
                .integer(query.updatedSince == nil ? 0 : 1), .integer(query.updatedSince ?? 0),
                .integer(query.from ?? Int.min / 2), .integer(query.to ?? Int.max / 2), .integer(query.limit),
                .integer(query.offsetAtFrom), .integer(query.offsetAtTo),
            ]
        ).map(ScheduleItem.init)
    }

    /// Returns all items of a circle that may overlap a span, from all collections, in order of time, then id.
    public func items(in circle: String, from: Int, to: Int) throws -> [ScheduleItem] {
        var items: [ScheduleItem] = []
        try eachItem(in: circle, from: from, to: to) { items.append($0) }
        return items
    }

    /// Passes on the items of `items(in:from:to:)` one by one.
    ///
    /// - Parameter body: must not query the database.
    public func eachItem(in circle: String, from: Int, to: Int, _ body: (ScheduleItem) throws -> Void) throws {
        try eachRow("\(select: ScheduleItem.self) \(Self.near)", [.text(circle), .integer(from), .integer(to)]) {
            try body(ScheduleItem($0))
        }
    }

    private static var near: String {
        """
        WHERE circle_id = $1 AND deleted_at IS NULL
            AND (((ends_at IS NULL OR ends_at >= $2) AND starts_at < $3)
                OR EXISTS (SELECT 1 FROM occurrences WHERE occurrences.circle_id = schedule_items.circle_id
                    AND occurrences.collection = schedule_items.collection
                    AND occurrences.item_id = schedule_items.id
                    AND occurrences.ends_at >= $2 AND occurrences.starts_at < $3))
        ORDER BY starts_at, collection, id
        """
    }

    /// Returns only which items `items(in:from:to:)` has, in the same order.
    public func itemPlaces(
        in circle: String, from: Int, to: Int
    ) throws -> [(collection: ScheduleItem.Collection, id: ByteString)] {
        try values(
            "SELECT collection, id FROM schedule_items \(Self.near)",
            [.text(circle), .integer(from), .integer(to)]
        ) { (.init(rawValue: try $0.text(required: "collection")), ByteString(try $0.text(required: "id"))) }
    }

    /// Returns items that changed after the circle had this version, including tombstones.
    public func items(in circle: String, changedAfter version: Int) throws -> [ScheduleItem] {
        try rows(
            "\(select: ScheduleItem.self) WHERE circle_id = $1 AND changed_in > $2",
            [.text(circle), .integer(version)]
        ).map(ScheduleItem.init)
    }
}

extension WriteTransaction {
    /// Turns an item into a tombstone and deletes its occurrences. Returns false when there is no such item.
    public func deleteItem(
        _ id: String, _ collection: ScheduleItem.Collection, in circle: String, now: Int
    ) throws -> Bool {
        let key: [SQLValue] = [.text(circle), .text(collection.rawValue), .text(id)]
        let deleted = try row(
            """
            UPDATE schedule_items SET deleted_at = $4, updated_at = $4, shown_in = NULL,
                changed_in = (SELECT version + 1 FROM circles WHERE id = $1)
            WHERE circle_id = $1 AND collection = $2 AND id = $3 AND deleted_at IS NULL RETURNING content
            """, key + [.integer(now)])
        guard let deleted else { return false }
        let occurrences = collection == .appointments ? try self.occurrences(of: id, in: circle) : []
        if !occurrences.isEmpty {
            try execute("DELETE FROM occurrences WHERE circle_id = $1 AND collection = $2 AND item_id = $3", key)
            try addItemUsage(Usage(bytes: -occurrences.bytes), of: circle)
        }
        let number = try note(
            [CircleChange(.item, .deleted, collection: collection.rawValue, id: id)], in: circle, now: now
        ).lowerBound
        func kept(_ content: String, part: String = "") -> KeptContent {
            KeptContent(content, ofPart: part, of: id, collection, in: circle, number: number, now: now)
        }
        try keep(
            [kept(try deleted.text(required: "content"))]
                + occurrences.map { kept($0.content, part: $0.originalStart) }, in: circle)
        return true
    }

    /// Raises the revision of an item when a part of it that is stored elsewhere has changed.
    public func reviseItem(_ id: String, _ collection: ScheduleItem.Collection, in circle: String, now: Int) throws {
        try execute(
            """
            UPDATE schedule_items SET sequence = sequence + 1, updated_at = $4, shown_in = NULL, shown_as = 'updated',
                changed_in = (SELECT version + 1 FROM circles WHERE id = $1)
            WHERE circle_id = $1 AND collection = $2 AND id = $3
            """, [.text(circle), .text(collection.rawValue), .text(id), .integer(now)])
    }
}
