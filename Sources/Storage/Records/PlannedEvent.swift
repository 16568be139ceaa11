// SPDX-License-Identifier: Apache-2.0

public import Base

/// A busy time in one of a phone's calendars, with nothing but its title.
public struct PlannedEvent: Hashable, Sendable {
    public var userID: String
    public var source: String
    /// The phone's id, which all occurrences of a series share.
    public var externalID: String
    /// Milliseconds since 1970.
    public var startsAt: Int
    public var endsAt: Int
    /// Seconds east of UTC in which the phone wrote the times.
    public var startOffset: Int
    public var endOffset: Int
    public var isAllDay: Bool
    public var title: String
    public var calendarName: String?
    /// The UID, created once.
    public var uid: String
    public var sequence: Int
    public var createdAt: Int
    public var updatedAt: Int

    /// The bytes of its texts, which are limited for each user.
    public var bytes: Int { externalID.utf8.count + title.utf8.count + (calendarName?.utf8.count ?? 0) }

    public init(
        userID: String, source: String, externalID: String, startsAt: Int, endsAt: Int, startOffset: Int,
        endOffset: Int, isAllDay: Bool, title: String, calendarName: String?, uid: String, now: Int
    ) {
        (self.userID, self.source, self.externalID) = (userID, source, externalID)
        (self.startsAt, self.endsAt) = (startsAt, endsAt)
        (self.startOffset, self.endOffset) = (startOffset, endOffset)
        (self.isAllDay, self.title, self.calendarName, self.uid) = (isAllDay, title, calendarName, uid)
        (self.sequence, self.createdAt, self.updatedAt) = (0, now, now)
    }

    init(_ row: SQLRow) throws {
        userID = try row.text(required: "user_id")
        source = try row.text(required: "source")
        externalID = try row.text(required: "external_id")
        startsAt = try row.integer(required: "starts_at")
        endsAt = try row.integer(required: "ends_at")
        startOffset = try row.integer(required: "start_offset")
        endOffset = try row.integer(required: "end_offset")
        isAllDay = try row.integer(required: "is_all_day") != 0
        title = try row.text(required: "title")
        calendarName = row.text("calendar_name")
        uid = try row.text(required: "uid")
        sequence = try row.integer(required: "sequence")
        createdAt = try row.integer(required: "created_at")
        updatedAt = try row.integer(required: "updated_at")
    }
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
                SELECT \(columns: .plannedEvents, of: "planned_events")
                FROM (VALUES \(tuples)) AS wanted JOIN planned_events
                    ON planned_events.external_id = wanted.column1 AND planned_events.starts_at = wanted.column2
                WHERE planned_events.user_id = $1 AND planned_events.source = $2
                """, [.text(user), .text(source)] + group
            ).map(PlannedEvent.init)
        }
        return found
    }

    /// Returns a user's planned events that lie in a range, in order of their starts; an event without a duration lies
    /// at its start.
    ///
    /// - Parameter last: the event after which the list begins.
    public func plannedEvents(
        of user: String, from: Int, to: Int, after last: (start: Int, source: String, id: String)?, limit: Int
    ) throws -> [PlannedEvent] {
        let last = last ?? (.min / 2, "", "")
        return try rows(
            """
            \(select: .plannedEvents)
            WHERE user_id = $1 AND starts_at >= $4 AND starts_at < $3 AND (ends_at > $2 OR starts_at >= $2)
                AND (starts_at > $4 OR source > $5 OR (source = $5 AND external_id > $6))
            ORDER BY starts_at, source, external_id LIMIT $7
            """,
            [
                .text(user), .integer(from), .integer(to), .integer(last.start), .text(last.source), .text(last.id),
                .integer(limit),
            ]
        ).map(PlannedEvent.init)
    }
}

extension WriteTransaction {
    /// Stores a user's new or changed events.
    public func putPlannedEvents(_ events: [PlannedEvent]) throws {
        try insertRows(
            into: """
                planned_events (user_id, source, external_id, starts_at, ends_at, start_offset, end_offset,
                    is_all_day, title, calendar_name, uid, sequence, created_at, updated_at)
                """, events.map(\.values),
            otherwise: """
                ON CONFLICT (user_id, source, external_id, starts_at) DO UPDATE SET ends_at = EXCLUDED.ends_at,
                    start_offset = EXCLUDED.start_offset, end_offset = EXCLUDED.end_offset,
                    is_all_day = EXCLUDED.is_all_day, title = EXCLUDED.title,
                    calendar_name = EXCLUDED.calendar_name, sequence = EXCLUDED.sequence,
                    updated_at = EXCLUDED.updated_at
                """)
    }

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

    fileprivate var values: [SQLValue] {
        [
            .text(userID), .text(source), .text(externalID), .integer(startsAt), .integer(endsAt),
            .integer(startOffset), .integer(endOffset), .integer(isAllDay ? 1 : 0), .text(title),
            SQLValue(calendarName), .text(uid), .integer(sequence), .integer(createdAt), .integer(updatedAt),
        ]
    }
}
