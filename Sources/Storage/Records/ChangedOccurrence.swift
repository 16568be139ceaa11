// SPDX-License-Identifier: Apache-2.0

/// One changed or cancelled occurrence of a repeating appointment.
public struct ChangedOccurrence: Hashable, Sendable {
    public var circleID: String
    public var itemID: String
    /// Its original start in the form of the URL: `YYYYMMDDTHHMMSSZ`.
    public var originalStart: String
    public var startsAt: Int
    public var endsAt: Int
    /// The changed fields as JSON, which this module does not interpret.
    public var content: String
    public var createdAt: Int
    public var updatedAt: Int

    public init(circleID: String, itemID: String, originalStart: String, startsAt: Int, endsAt: Int, content: String) {
        self.circleID = circleID
        self.itemID = itemID
        self.originalStart = originalStart
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.content = content
        self.createdAt = 0
        self.updatedAt = 0
    }

    init(_ row: SQLRow) throws {
        circleID = try row.text(required: "circle_id")
        itemID = try row.text(required: "item_id")
        originalStart = try row.text(required: "original_start")
        startsAt = try row.integer(required: "starts_at")
        endsAt = try row.integer(required: "ends_at")
        content = try row.text(required: "content")
        createdAt = try row.integer(required: "created_at")
        updatedAt = try row.integer(required: "updated_at")
    }
}

extension ScheduleItem.Collection {
    /// The collection whose items have occurrences.
    public static let appointments: Self = "appointments"
}

extension ScheduleItem {
    /// Whether occurrences of the item can be changed one by one.
    public var hasOccurrences: Bool { collection == .appointments }
}

extension ReadTransaction {
    public func occurrence(_ originalStart: String, of item: String, in circle: String) throws -> ChangedOccurrence? {
        try row(
            """
            \(select: .occurrences)
            WHERE circle_id = $1 AND collection = 'appointments' AND item_id = $2 AND original_start = $3
            """, [.text(circle), .text(item), .text(originalStart)]
        ).map(ChangedOccurrence.init)
    }

    /// Returns changed occurrences of one appointment after a given one, in order of original start.
    public func occurrences(
        of item: String, in circle: String, after originalStart: String, limit: Int
    ) throws -> [ChangedOccurrence] {
        try rows(
            """
            \(select: .occurrences)
            WHERE circle_id = $1 AND collection = 'appointments' AND item_id = $2 AND original_start > $3
            ORDER BY original_start LIMIT $4
            """, [.text(circle), .text(item), .text(originalStart), .integer(limit)]
        ).map(ChangedOccurrence.init)
    }

    /// Returns the times of the changed occurrences of an appointment, without their other changes, in order of
    /// original start.
    public func occurrenceTimes(
        of item: String, in circle: String, limit: Int
    ) throws -> [(originalStart: String, startsAt: Int, endsAt: Int)] {
        try rows(
            """
            SELECT original_start, starts_at, ends_at FROM occurrences
            WHERE circle_id = $1 AND collection = 'appointments' AND item_id = $2
            ORDER BY original_start LIMIT $3
            """, [.text(circle), .text(item), .integer(limit)]
        ).map { row in
            (
                try row.text(required: "original_start"), try row.integer(required: "starts_at"),
                try row.integer(required: "ends_at")
            )
        }
    }

    /// Returns all changed occurrences of one appointment, or of the whole circle when `item` is nil, in order of
    /// original start.
    public func occurrences(of item: String?, in circle: String) throws -> [ChangedOccurrence] {
        try rows(
            """
            \(select: .occurrences) WHERE circle_id = $1 AND (CAST($2 AS TEXT) IS NULL OR item_id = $2)
            ORDER BY item_id, original_start
            """, [.text(circle), SQLValue(item)]
        ).map(ChangedOccurrence.init)
    }
}

extension ReadTransaction {
    /// Returns the changed occurrences of some appointments, each appointment's in order of original start.
    public func occurrences(of items: [String], in circle: String) throws -> [ChangedOccurrence] {
        try eachGroup(items, from: 2) { parameters, values in
            try rows(
                """
                \(select: .occurrences)
                WHERE circle_id = $1 AND collection = 'appointments' AND item_id IN (\(parameters))
                ORDER BY item_id, original_start
                """, [.text(circle)] + values
            ).map(ChangedOccurrence.init)
        }
    }
}

extension WriteTransaction {
    public func putOccurrence(_ occurrence: ChangedOccurrence, now: Int) throws {
        let isNew = try self.occurrence(occurrence.originalStart, of: occurrence.itemID, in: occurrence.circleID) == nil
        try execute(
            """
            INSERT INTO occurrences (circle_id, collection, item_id, original_start, starts_at, ends_at, content,
                created_at, updated_at)
            VALUES ($1, 'appointments', $2, $3, $4, $5, $6, $7, $7)
            ON CONFLICT (circle_id, collection, item_id, original_start) DO UPDATE SET
                starts_at = EXCLUDED.starts_at, ends_at = EXCLUDED.ends_at, content = EXCLUDED.content,
                updated_at = EXCLUDED.updated_at
            """,
            [
                .text(occurrence.circleID), .text(occurrence.itemID), .text(occurrence.originalStart),
                .integer(occurrence.startsAt), .integer(occurrence.endsAt), .text(occurrence.content), .integer(now),
            ])
        try note(
            .occurrence, isNew ? .created : .updated, in: occurrence.circleID, collection: "appointments",
            id: occurrence.itemID, part: occurrence.originalStart, now: now)
    }

    /// Deletes a changed occurrence; returns false when the occurrence has not been changed.
    public func deleteOccurrence(_ originalStart: String, of item: String, in circle: String, now: Int) throws -> Bool {
        let deleted = try execute(
            """
            DELETE FROM occurrences
            WHERE circle_id = $1 AND collection = 'appointments' AND item_id = $2 AND original_start = $3
            """, [.text(circle), .text(item), .text(originalStart)])
        guard deleted > 0 else { return false }
        try note(
            .occurrence, .deleted, in: circle, collection: "appointments", id: item, part: originalStart, now: now)
        return true
    }
}
