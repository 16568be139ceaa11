// SPDX-License-Identifier: Apache-2.0

/// What a phone has in its calendars at a time: a title, and nothing else of it.
public struct PlannedEvent: Hashable, Sendable {
    public var userID: String
    public var source: String
    /// The phone's id, which all occurrences of a series share.
    public var externalID: String
    /// Milliseconds since 1970.
    public var startsAt: Int
    public var endsAt: Int
    /// Seconds east of UTC, as the phone wrote the times.
    public var startOffset: Int
    public var endOffset: Int
    public var isAllDay: Bool
    public var title: String
    public var calendarName: String?
    /// Minted once.
    public var uid: String
    public var sequence: Int
    public var createdAt: Int
    public var updatedAt: Int

    /// Bytes of its texts, which a user may have only so many of.
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

extension ReadTransaction {
    /// A source's events that begin before a range's end and end after its start.
    public func plannedEvents(of user: String, source: String, overlapping range: Range<Int>) throws -> [PlannedEvent] {
        try rows(
            """
            SELECT * FROM planned_events WHERE user_id = $1 AND source = $2 AND ends_at > $3 AND starts_at < $4
            """, [.text(user), .text(source), .integer(range.lowerBound), .integer(range.upperBound)]
        ).map(PlannedEvent.init)
    }

    public func plannedEvent(
        _ externalID: String, at start: Int, of user: String, source: String
    ) throws -> PlannedEvent? {
        try row(
            """
            SELECT * FROM planned_events
            WHERE user_id = $1 AND source = $2 AND external_id = $3 AND starts_at = $4
            """, [.text(user), .text(source), .text(externalID), .integer(start)]
        ).map(PlannedEvent.init)
    }

    /// A user's planned events that lie in a range, in order of their starts; what takes no time is where it starts.
    ///
    /// - Parameter last: the one after which the list begins.
    public func plannedEvents(
        of user: String, from: Int, to: Int, after last: (start: Int, source: String, id: String)?, limit: Int
    ) throws -> [PlannedEvent] {
        let last = last ?? (.min / 2, "", "")
        return try rows(
            """
            SELECT * FROM planned_events
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
    /// Stores an event, new or as it is now.
    public func putPlannedEvent(_ event: PlannedEvent) throws {
        try execute(
            """
            INSERT INTO planned_events (user_id, source, external_id, starts_at, ends_at, start_offset, end_offset,
                is_all_day, title, calendar_name, uid, sequence, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
            ON CONFLICT (user_id, source, external_id, starts_at) DO UPDATE SET ends_at = EXCLUDED.ends_at,
                start_offset = EXCLUDED.start_offset, end_offset = EXCLUDED.end_offset,
                is_all_day = EXCLUDED.is_all_day, title = EXCLUDED.title, calendar_name = EXCLUDED.calendar_name,
                sequence = EXCLUDED.sequence, updated_at = EXCLUDED.updated_at
            """,
            [
                .text(event.userID), .text(event.source), .text(event.externalID), .integer(event.startsAt),
                .integer(event.endsAt), .integer(event.startOffset), .integer(event.endOffset),
                .integer(event.isAllDay ? 1 : 0), .text(event.title), SQLValue(event.calendarName), .text(event.uid),
                .integer(event.sequence), .integer(event.createdAt), .integer(event.updatedAt),
            ])
    }

    /// How many events one statement deletes: each statement costs as much as some of them.
    private static var deletedAtOnce: Int { 100 }

    /// Deletes a user's events of one source.
    public func deletePlannedEvents(_ events: [PlannedEvent], of user: String, source: String) throws {
        var rest = events[...]
        while !rest.isEmpty {
            let some = rest.prefix(Self.deletedAtOnce)
            rest = rest.dropFirst(some.count)
            let places = (0..<some.count).map { "($\(2 * $0 + 3), $\(2 * $0 + 4))" }.joined(separator: ", ")
            try execute(
                """
                DELETE FROM planned_events
                WHERE user_id = $1 AND source = $2 AND (external_id, starts_at) IN (VALUES \(places))
                """,
                [.text(user), .text(source)] + some.flatMap { [.text($0.externalID), .integer($0.startsAt)] })
        }
    }
}
