// SPDX-License-Identifier: Apache-2.0

/// One changed or cancelled occurrence of a repeating appointment.
public struct ChangedOccurrence: Hashable, Sendable {
    public var circleID = ""
    public var itemID = ""
    /// Its original start in the form of the URL: `YYYYMMDDTHHMMSSZ`.
    public var originalStart = ""
    public var startsAt = 0
    public var endsAt = 0
    /// The changed fields as JSON, which this module does not interpret.
    public var content = ""
    public var createdAt = 0
    public var updatedAt = 0
}

extension ChangedOccurrence: StoredRow {
    public init(circleID: String, itemID: String, originalStart: String, startsAt: Int, endsAt: Int, content: String) {
        self.init(
            circleID: circleID, itemID: itemID, originalStart: originalStart, startsAt: startsAt, endsAt: endsAt,
            content: content, createdAt: 0)
    }

    /// Its approximate share in the usage of its circle: its content, and what its row takes when the circle is read.
    public var bytes: Int { Self.besidesContent + content.utf8.count }
    /// The bytes of an occurrence besides its content.
    public static let besidesContent = 700

    static let table = RecordTable<ChangedOccurrence>(
        "occurrences",
        [
            .init("circle_id", \.circleID), .derived("collection") { _ in "appointments" }, .init("item_id", \.itemID),
            .init("original_start", \.originalStart), .init("starts_at", \.startsAt), .init("ends_at", \.endsAt),
            .init("content", \.content), .once("created_at", \.createdAt), .init("updated_at", \.updatedAt),
        ])
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
        try first(
            "WHERE circle_id = $1 AND collection = 'appointments' AND item_id = $2 AND original_start = $3",
            [.text(circle), .text(item), .text(originalStart)])
    }

    /// Returns the changed occurrences of one appointment at some original starts, in order.
    public func occurrences(at starts: [String], of item: String, in circle: String) throws -> [ChangedOccurrence] {
        try eachGroup(starts, from: 3) { parameters, values in
            try all(
                """
                WHERE circle_id = $1 AND collection = 'appointments' AND item_id = $2
                    AND original_start IN (\(parameters))
                """, [.text(circle), .text(item)] + values)
        }.sorted { $0.originalStart < $1.originalStart }
    }

    /// Returns the original starts of all changed occurrences of one appointment, in order.
    public func occurrenceStarts(of item: String, in circle: String) throws -> [String] {
        try values(
            """
            SELECT original_start FROM occurrences
            WHERE circle_id = $1 AND collection = 'appointments' AND item_id = $2 ORDER BY original_start
            """, [.text(circle), .text(item)]
        ) { try $0.text(required: "original_start") }
    }

    /// Returns the number of changed occurrences of one appointment, and the bytes of their contents.
    public func occurrenceUsage(of item: String, in circle: String) throws -> Usage {
        let row = try row(
            """
            SELECT COUNT(*) AS count, CAST(COALESCE(SUM(length(CAST(content AS BLOB))), 0) AS BIGINT) AS bytes
            FROM occurrences WHERE circle_id = $1 AND collection = 'appointments' AND item_id = $2
            """, [.text(circle), .text(item)])
        return Usage(count: row?.integer("count") ?? 0, bytes: row?.integer("bytes") ?? 0)
    }

    /// Returns the bytes of changed occurrences by appointment, of those that have any.
    public func occurrenceBytes(of items: [String], in circle: String) throws -> [ByteString: Int] {
        let found = try eachGroup(items, from: 2) { parameters, values in
            try self.values(
                """
                SELECT item_id, CAST(SUM(\(ChangedOccurrence.besidesContent) + length(CAST(content AS BLOB))) AS BIGINT) AS bytes
                FROM occurrences WHERE circle_id = $1 AND collection = 'appointments' AND item_id IN (\(parameters)) GROUP BY item_id
                """, [.text(circle)] + values
            ) { (ByteString(try $0.text(required: "item_id")), try $0.integer(required: "bytes")) }
        }
        return Dictionary(uniqueKeysWithValues: found)
    }

    /// Returns changed occurrences of one appointment after a given one, in order of original start.
    public func occurrences(
        of item: String, in circle: String, after originalStart: String, limit: Int
    ) throws -> [ChangedOccurrence] {
        try all(
            """
            WHERE circle_id = $1 AND collection = 'appointments' AND item_id = $2 AND original_start > $3
            ORDER BY original_start LIMIT $4
            """, [.text(circle), .text(item), .text(originalStart), .integer(limit)])
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
        try all(
            """
            WHERE circle_id = $1 AND (CAST($2 AS TEXT) IS NULL OR item_id = $2)
            ORDER BY item_id, original_start
            """, [.text(circle), SQLValue(item)])
    }

    /// Returns the changed occurrences of some appointments, each appointment's in order of original start.
    public func occurrences(of items: [String], in circle: String) throws -> [ChangedOccurrence] {
        try eachGroup(items, from: 2) { parameters, values in
            try all(
                """
                WHERE circle_id = $1 AND collection = 'appointments' AND item_id IN (\(parameters))
                ORDER BY item_id, original_start
                """, [.text(circle)] + values)
        }
    }
}

extension WriteTransaction {
    /// Stores changed occurrences of one series, each at most once, and counts their bytes.
    ///
    /// - Parameters:
    ///   - old: those of the same original starts that are stored.
    ///   - cause: the number of the change of the series that this is a part of; nil for changes of their own.
    public func putOccurrences(
        _ occurrences: [ChangedOccurrence], replacing old: [ChangedOccurrence] = [], causedBy cause: Int? = nil,
        now: Int
    ) throws {
        guard let circle = occurrences.first?.circleID else { return }
        let known = Dictionary(old.map { (ByteString($0.originalStart), $0) }) { $1 }
        let before = occurrences.map { known[ByteString($0.originalStart)] }
        try put(
            all: occurrences.map {
                var stored = $0
                (stored.createdAt, stored.updatedAt) = (now, now)
                return stored
            })
        try addItemUsage(Usage(bytes: occurrences.bytes - before.compactMap(\.self).bytes), of: circle)
        let numbers = try note(
            zip(occurrences, before).map { CircleChange($0, $1 == nil ? .created : .updated) }, in: circle, now: now)
        try keep(
            zip(zip(occurrences, before), numbers).compactMap { part, number in
                // An occurrence that comes by itself had no content before, as its change says.
                part.1 == nil && cause == nil
                    ? nil : KeptContent(part.0, part.1?.content, number: number, cause: cause, now: now)
            }, in: circle)
    }

    /// Deletes changed occurrences of one series.
    ///
    /// - Parameter cause: the number of the change of the series that this is a part of; nil for changes of their own.
    public func deleteOccurrences(_ occurrences: [ChangedOccurrence], causedBy cause: Int? = nil, now: Int) throws {
        guard let first = occurrences.first else { return }
        let circle = first.circleID
        _ = try eachGroup(occurrences.map(\.originalStart), from: 3) { parameters, values in
            [
                try execute(
                    """
                    DELETE FROM occurrences WHERE circle_id = $1 AND collection = 'appointments' AND item_id = $2
                        AND original_start IN (\(parameters))
                    """, [.text(circle), .text(first.itemID)] + values)
            ]
        }
        try addItemUsage(Usage(bytes: -occurrences.bytes), of: circle)
        let numbers = try note(occurrences.map { CircleChange($0, .deleted) }, in: circle, now: now)
        try keep(
            zip(occurrences, numbers).map { KeptContent($0, $0.content, number: $1, cause: cause, now: now) },
            in: circle)
    }
}

extension [ChangedOccurrence] {
    /// Their share in the usage of their circle.
    public var bytes: Int { reduce(0) { $0 + $1.bytes } }
}

extension CircleChange {
    fileprivate init(_ occurrence: ChangedOccurrence, _ kind: Kind) {
        self.init(
            .occurrence, kind, collection: ScheduleItem.Collection.appointments.rawValue, id: occurrence.itemID,
            part: occurrence.originalStart)
    }
}

extension KeptContent {
    fileprivate init(
        _ occurrence: ChangedOccurrence, _ content: String?, number: Int, cause: Int?, now: Int
    ) {
        self.init(
            content, ofPart: occurrence.originalStart, of: occurrence.itemID, .appointments, in: occurrence.circleID,
            number: number, cause: cause, now: now)
    }
}
