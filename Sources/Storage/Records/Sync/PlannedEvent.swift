// SPDX-License-Identifier: Apache-2.0

/// A busy time in one of a phone's calendars, with nothing but its title.
public struct PlannedEvent: Hashable, Sendable {
    public var userID = ""
    public var source = ""
    /// The phone's id, which all occurrences of a series share.
    public var externalID = ""
    /// Milliseconds since 1970.
    public var startsAt = 0
    public var endsAt = 0
    /// Seconds east of UTC in which the phone wrote the times.
    public var startOffset = 0
    public var endOffset = 0
    public var isAllDay = false
    public var title = ""
    public var calendarName: String?
    /// The UID, created once.
    public var uid = ""
    public var sequence = 0
    public var createdAt = 0
    public var updatedAt = 0

    /// The bytes of its texts, which are limited for each user.
    public var bytes: Int { externalID.utf8.count + title.utf8.count + (calendarName?.utf8.count ?? 0) }
}

extension PlannedEvent: StoredRow {
    public init(
        userID: String, source: String, externalID: String, startsAt: Int, endsAt: Int, startOffset: Int,
        endOffset: Int, isAllDay: Bool, title: String, calendarName: String?, uid: String, now: Int
    ) {
        self.init(
            userID: userID, source: source, externalID: externalID, startsAt: startsAt, endsAt: endsAt,
            startOffset: startOffset, endOffset: endOffset, isAllDay: isAllDay, title: title,
            calendarName: calendarName, uid: uid, createdAt: now, updatedAt: now)
    }

    static let table = RecordTable<PlannedEvent>(
        "planned_events",
        [
            .init("user_id", \.userID), .init("source", \.source), .init("external_id", \.externalID),
            .init("starts_at", \.startsAt), .init("ends_at", \.endsAt),
            .init("start_offset", \.startOffset, in: ColumnRules.offsets),
            .init("end_offset", \.endOffset, in: ColumnRules.offsets), .init("is_all_day", \.isAllDay),
            .init("title", \.title),
            .init("calendar_name", \.calendarName), .once("uid", \.uid),
            .init("sequence", \.sequence, in: ColumnRules.sequences),
            .once("created_at", \.createdAt), .init("updated_at", \.updatedAt),
        ])
}

/// The properties that distinguish one planned event of a source from the others.
public struct PlannedEventKey: Hashable, Sendable {
    public var externalID: ByteString
    /// Milliseconds since 1970.
    public var startsAt: Int

    public init(externalID: String, startsAt: Int) {
        (self.externalID, self.startsAt) = (ByteString(externalID), startsAt)
    }

    fileprivate var values: [SQLValue] { [.text(externalID.string), .integer(startsAt)] }
}

extension ReadTransaction {
    /// Returns the keys of a source's events that begin before a range's end and end after its start.
    public func plannedEventKeys(
        of user: String, source: String, overlapping range: Range<Int>
    ) throws -> [PlannedEventKey] {
        try rows(
            """
            SELECT external_id, starts_at FROM planned_events
            WHERE user_id = $1 AND source = $2 AND ends_at > $3 AND starts_at < $4
            """, [.text(user), .text(source), .integer(range.lowerBound), .integer(range.upperBound)]
        ).map {
            PlannedEventKey(
                externalID: try $0.text(required: "external_id"), startsAt: try $0.integer(required: "starts_at"))
        }
    }

    /// Returns the bytes of the texts of a source's events that begin before a range's end and end after its start.
    public func plannedBytes(of user: String, source: String, overlapping range: Range<Int>) throws -> Int {
        try row(
            """
            SELECT SUM(length(CAST(external_id AS BLOB)) + length(CAST(title AS BLOB))
                + COALESCE(length(CAST(calendar_name AS BLOB)), 0)) AS bytes
            FROM planned_events WHERE user_id = $1 AND source = $2 AND ends_at > $3 AND starts_at < $4
            """, [.text(user), .text(source), .integer(range.lowerBound), .integer(range.upperBound)]
        )?.integer("bytes") ?? 0
    }

    /// Returns a source's events with some keys; each key must appear only once.
    public func plannedEvents(of user: String, source: String, _ keys: [PlannedEventKey]) throws -> [PlannedEvent] {
        let together = 50
        let tuples = SQLText.tuples(together, of: 2, from: 3)
        var found: [PlannedEvent] = []
        for start in stride(from: 0, to: keys.count, by: together) {
            // Groups are filled up to one length with a key that no event has, so that there is only one statement. It
            // uses a join, because SQLite looks up pairs in a list by reading all events of the user.
            let group = (start..<start + together).flatMap { $0 < keys.count ? keys[$0].values : [.text(""), .null] }
            found += try rows(
                """
                SELECT \(columns: PlannedEvent.self, of: "planned_events")
                FROM (VALUES \(tuples)) AS wanted JOIN planned_events
                    ON planned_events.external_id = wanted.column1 AND planned_events.starts_at = wanted.column2
                WHERE planned_events.user_id = $1 AND planned_events.source = $2
                """, [.text(user), .text(source)] + group
            ).map(PlannedEvent.init)
        }
        return found
    }

    /// Returns a user's planned events within a range, in order of their starts; an event without a duration is at its
    /// start.
    ///
    /// - Parameter last: the event after which the list begins.
    public func plannedEvents(
        of user: String, from: Int, to: Int, after last: (start: Int, source: String, id: String)?, limit: Int
    ) throws -> [PlannedEvent] {
        let last = last ?? (.min / 2, "", "")
        return try all(
            """
            WHERE user_id = $1 AND starts_at >= $4 AND starts_at < $3 AND (ends_at > $2 OR starts_at >= $2)
                AND (starts_at > $4 OR source > $5 OR (source = $5 AND external_id > $6))
            ORDER BY starts_at, source, external_id LIMIT $7
            """,
            [
                .text(user), .integer(from), .integer(to), .integer(last.start), .text(last.source), .text(last.id),
                .integer(limit),
            ])
    }
}

/// Rows of planned events, made before the transaction that stores them and in the order in which the table has them.
public struct PlannedEventRows: Sendable {
    fileprivate let rows: RecordRows<PlannedEvent>

    public init(_ events: [PlannedEvent]) {
        rows = RecordRows(events.sorted { ($0.externalID, $0.startsAt) < ($1.externalID, $1.startsAt) })
    }
}

extension WriteTransaction {
    /// Stores a user's new or changed events.
    public func putPlannedEvents(_ events: PlannedEventRows) throws { try put(events.rows) }

    public func deletePlannedEvent(_ key: PlannedEventKey, of user: String, source: String) throws {
        try execute(
            """
            DELETE FROM planned_events
            WHERE user_id = $1 AND source = $2 AND external_id = $3 AND starts_at = $4
            """, [.text(user), .text(source)] + key.values)
    }

    /// Deletes a source's events that begin before a range's end and end after its start.
    public func deletePlannedEvents(of user: String, source: String, overlapping range: Range<Int>) throws {
        try execute(
            """
            DELETE FROM planned_events WHERE user_id = $1 AND source = $2 AND ends_at > $3 AND starts_at < $4
            """, [.text(user), .text(source), .integer(range.lowerBound), .integer(range.upperBound)])
    }
}

extension PlannedEvent {
    public var key: PlannedEventKey { PlannedEventKey(externalID: externalID, startsAt: startsAt) }
}
