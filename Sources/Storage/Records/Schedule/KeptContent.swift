// SPDX-License-Identifier: Apache-2.0

/// What an item or one of its occurrences held before a change, so that the change can be shown and undone.
///
/// What it held afterwards is stored with the next change, or is what it holds now.
public struct KeptContent: Hashable, Sendable {
    public var circleID = ""
    public var collection = ""
    public var itemID = ""
    /// The original start of an occurrence; empty for the item itself.
    public var part = ""
    /// The number of the change.
    public var number = 0
    /// The number of the change that is undone together with this one; its own number for a change that is undone by itself.
    public var cause = 0
    public var at = 0
    /// Nil if it did not exist.
    public var content: String?
    var bytes = 0
}

extension KeptContent: StoredRow {
    init(
        _ content: String?, ofPart part: String = "", of item: String, _ collection: ScheduleItem.Collection,
        in circle: String, number: Int, cause: Int? = nil, now: Int
    ) {
        self.init(
            circleID: circle, collection: collection.rawValue, itemID: item, part: part, number: number,
            cause: cause ?? number, at: now, content: content, bytes: Self.rowBytes + (content?.utf8.count ?? 0))
    }

    /// The approximate number of bytes that a row takes in addition to its content.
    private static let rowBytes = 200

    /// The collection of imported events, whose ids are their UIDs.
    public static let events = ScheduleItem.Collection(rawValue: "events")

    static let table = RecordTable<KeptContent>(
        "kept_contents",
        [
            .once("circle_id", \.circleID), .once("collection", \.collection), .once("item_id", \.itemID),
            .once("part", \.part), .once("number", \.number), .once("cause", \.cause), .once("at", \.at),
            .once("content", \.content), .once("bytes", \.bytes),
        ])
}

extension ReadTransaction {
    /// Returns what was kept from some changes of one item or occurrence after a number, in order.
    public func keptContents(
        of item: String, _ collection: ScheduleItem.Collection, part: String, in circle: String, after number: Int,
        limit: Int
    ) throws -> [KeptContent] {
        try all(
            """
            WHERE circle_id = $1 AND collection = $2 AND item_id = $3 AND part = $5 AND number > $4
            ORDER BY number LIMIT $6
            """,
            [
                .text(circle), .text(collection.rawValue), .text(item), .integer(number), .text(part), .integer(limit),
            ])
    }

    /// Returns what was kept from the last changes of an item, the latest first.
    public func lastKeptContents(
        of item: String, _ collection: ScheduleItem.Collection, in circle: String, limit: Int
    ) throws -> [KeptContent] {
        try all(
            """
            WHERE circle_id = $1 AND collection = $2 AND item_id = $3 AND part = '' ORDER BY number DESC LIMIT $4
            """, [.text(circle), .text(collection.rawValue), .text(item), .integer(limit)])
    }

    /// Returns the ids, after one, of the items in a collection for which something is kept, in the order of their bytes.
    public func idsOfKeptContents(
        _ collection: ScheduleItem.Collection, in circle: String, after id: String, limit: Int
    ) throws -> [String] {
        try rows(
            """
            SELECT DISTINCT item_id FROM kept_contents
            WHERE circle_id = $1 AND collection = $2 AND part = '' AND item_id > $3 ORDER BY item_id LIMIT $4
            """, [.text(circle), .text(collection.rawValue), .text(id), .integer(limit)]
        ).map { try $0.text(required: "item_id") }
    }

    /// Returns what was kept from the occurrences that changed with their series, by the number of its change.
    public func keptContents(
        of item: String, _ collection: ScheduleItem.Collection, causedBy number: Int, in circle: String
    ) throws -> [KeptContent] {
        try all(
            """
            WHERE circle_id = $1 AND collection = $2 AND item_id = $3 AND part > '' AND number >= $4 AND cause = $4
            ORDER BY part
            """, [.text(circle), .text(collection.rawValue), .text(item), .integer(number)])
    }

    /// Returns the number of the last change for which nothing is kept any more, because later ones needed the room; 0 as
    /// long as everything is kept.
    public func keptFloor(in circle: String) throws -> Int {
        try row("SELECT kept_after FROM circle_usage WHERE circle_id = $1", [.text(circle)])?.integer("kept_after")
            ?? 0
    }
}

extension WriteTransaction {
    /// Keeps what items or occurrences of a circle held before they changed.
    func keep(_ contents: [KeptContent], in circle: String) throws {
        guard !contents.isEmpty else { return }
        try insert(all: contents)
        try addKept(contents.reduce(0) { $0 + $1.bytes }, in: circle)
    }

    private func addKept(_ bytes: Int, in circle: String) throws {
        try execute(
            """
            INSERT INTO circle_usage (circle_id, items, bytes, kept_bytes) VALUES ($1, 0, 0, $2)
            ON CONFLICT (circle_id) DO UPDATE SET kept_bytes = circle_usage.kept_bytes + EXCLUDED.kept_bytes
            """, [.text(circle), .integer(bytes)])
    }

    /// Deletes the oldest kept contents of a circle that exceeds `most` bytes, about 2,000 rows per call.
    public func trimKeptContents(in circle: String, to most: Int) throws {
        let kept = try row("SELECT kept_bytes FROM circle_usage WHERE circle_id = $1", [.text(circle)])?
            .integer("kept_bytes")
        guard let kept, kept > most else { return }
        // More rows than a transaction adds, so that what is kept does not grow on.
        let oldest = try rows(
            "SELECT number, bytes FROM kept_contents WHERE circle_id = $1 ORDER BY number LIMIT $2",
            [.text(circle), .integer(2_000)])
        var (bytes, last) = (0, 0)
        for row in oldest {
            let number = try row.integer(required: "number")
            // The rows of one change go together.
            if kept - bytes <= most, number != last { break }
            (bytes, last) = (bytes + (try row.integer(required: "bytes")), number)
        }
        let said = try rows(
            """
            SELECT \(Self.ofTombstone) WHERE kept.circle_id = $1 AND kept.number <= $2 AND item.content IS NOT NULL
            """, [.text(circle), .integer(last)])
        for row in said { try emptyItem(of: row) }
        let gone = try rows(
            "DELETE FROM kept_contents WHERE circle_id = $1 AND number <= $2 RETURNING bytes",
            [.text(circle), .integer(last)]
        ).reduce(0) { try $0 + $1.integer(required: "bytes") }
        try execute(
            "UPDATE circle_usage SET kept_bytes = kept_bytes - $2, kept_after = $3 WHERE circle_id = $1",
            [.text(circle), .integer(gone), .integer(last)])
    }

    /// What was kept from changes; for a deletion that was the item's last change, what its tombstone still says.
    private static var ofTombstone: String {
        """
        kept.circle_id, kept.collection, kept.item_id, kept.part, kept.number, kept.bytes, item.content
        FROM kept_contents AS kept LEFT JOIN schedule_items AS item
            ON item.circle_id = kept.circle_id AND item.collection = kept.collection AND item.id = kept.item_id
                AND kept.part = '' AND item.deleted_at <= kept.at AND item.content <> ''
                AND NOT EXISTS (
                    SELECT 1 FROM kept_contents AS later
                    WHERE later.circle_id = kept.circle_id AND later.collection = kept.collection
                        AND later.item_id = kept.item_id AND later.part = '' AND later.number > kept.number)
        """
    }

    /// Removes an item's contents from its tombstone, once nothing is kept about its deletion: nobody can undo it any more. Its
    /// id, its UID, its revision and its times stay.
    private func emptyItem(of kept: SQLRow) throws {
        guard let said = kept.text("content") else { return }
        let circle = try kept.text(required: "circle_id")
        let changed = try execute(
            """
            UPDATE schedule_items SET content = '', patient_id = NULL, owner_id = NULL, time_zone = NULL
            WHERE circle_id = $1 AND collection = $2 AND id = $3 AND content <> ''
            """,
            [.text(circle), .text(try kept.text(required: "collection")), .text(try kept.text(required: "item_id"))])
        if changed > 0 { try addItemUsage(Usage(bytes: -said.utf8.count), of: circle) }
    }

    /// Removes some of what was kept before a time; returns whether more is left.
    public func pruneKeptContents(before time: Int, limit: Int) throws -> Bool {
        let old = try rows(
            """
            SELECT \(Self.ofTombstone) WHERE kept.at < $1 LIMIT $2
            """,
            [.integer(time), .integer(limit)])
        var bytes: [ByteString: Int] = [:]
        for row in old {
            let circle = try row.text(required: "circle_id")
            try execute(
                """
                DELETE FROM kept_contents
                WHERE circle_id = $1 AND collection = $2 AND item_id = $3 AND part = $4 AND number = $5
                """,
                [
                    .text(circle), .text(try row.text(required: "collection")),
                    .text(try row.text(required: "item_id")), .text(try row.text(required: "part")),
                    .integer(try row.integer(required: "number")),
                ])
            try emptyItem(of: row)
            bytes[ByteString(circle), default: 0] += try row.integer(required: "bytes")
        }
        for (circle, gone) in bytes { try addKept(-gone, in: circle.string) }
        return old.count == limit
    }
}
