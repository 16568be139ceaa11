// SPDX-License-Identifier: Apache-2.0

/// A date of a user: what they said about it, and what the program decided.
public struct OfficeDayRecord: Hashable, Sendable {
    public var userID: String
    /// Days since 1970-01-01.
    public var day: Int
    public var word: String?
    /// The decision with its event, which this module does not interpret.
    public var decision: String?
    /// The parts of the decision that queries look for.
    public var status: String?
    public var eventState: String?
    public var eventTarget: String?
    public var updatedAt: Int

    public init(
        userID: String, day: Int, word: String?, decision: String?, status: String?, eventState: String?,
        eventTarget: String?, now: Int
    ) {
        (self.userID, self.day, self.word, self.decision) = (userID, day, word, decision)
        (self.status, self.eventState, self.eventTarget) = (status, eventState, eventTarget)
        updatedAt = now
    }

    init(_ row: SQLRow) throws {
        userID = try row.text(required: "user_id")
        day = try row.integer(required: "day")
        word = row.text("word")
        decision = row.text("decision")
        status = row.text("status")
        eventState = row.text("event_state")
        eventTarget = row.text("event_target")
        updatedAt = try row.integer(required: "updated_at")
    }
}

/// The numbers of a user's days and events.
public struct OfficeDayCounts: Hashable, Sendable {
    public var office = 0
    public var remote = 0
    public var managed = 0
    public var unmanaged = 0
    public var removed = 0
}

extension ReadTransaction {
    /// Returns a user's dates from one to another, both included, in order.
    public func officeDays(of user: String, from: Int, through: Int) throws -> [OfficeDayRecord] {
        try rows(
            "\(select: .officeDays) WHERE user_id = $1 AND day >= $2 AND day <= $3 ORDER BY day",
            [.text(user), .integer(from), .integer(through)]
        ).map(OfficeDayRecord.init)
    }

    /// Returns a user's dates that have an event, in order.
    ///
    /// - Parameters:
    ///   - target: where the events are; nil for anywhere.
    ///   - state: the state of the events; nil for any.
    public func officeDaysWithEvent(
        of user: String, target: String? = nil, state: String? = nil, after day: Int = Int.min / 2, limit: Int
    ) throws -> [OfficeDayRecord] {
        var arguments: [SQLValue] = [.text(user), .integer(day), .integer(limit)]
        var condition = "user_id = $1 AND day > $2 AND event_state IS NOT NULL"
        for (column, value) in [("event_target", target), ("event_state", state)] {
            guard let value else { continue }
            arguments.append(.text(value))
            condition += " AND \(column) = $\(arguments.count)"
        }
        return try rows("\(select: .officeDays) WHERE \(condition) ORDER BY day LIMIT $3", arguments)
            .map(OfficeDayRecord.init)
    }

    /// Counts the days of a span by status, and all events by state.
    public func officeDayCounts(of user: String, from: Int, through: Int) throws -> OfficeDayCounts {
        var counts = OfficeDayCounts()
        let row = try row(
            """
            SELECT COUNT(CASE WHEN status = 'inOffice' AND day >= $2 AND day <= $3 THEN 1 END) AS office,
                COUNT(CASE WHEN status = 'remote' AND day >= $2 AND day <= $3 THEN 1 END) AS remote,
                COUNT(CASE WHEN event_state = 'managed' THEN 1 END) AS managed,
                COUNT(CASE WHEN event_state = 'unmanaged' THEN 1 END) AS unmanaged,
                COUNT(CASE WHEN event_state = 'removed' THEN 1 END) AS removed
            FROM office_days WHERE user_id = $1
            """, [.text(user), .integer(from), .integer(through)])
        guard let row else { return counts }
        counts.office = try row.integer(required: "office")
        counts.remote = try row.integer(required: "remote")
        counts.managed = try row.integer(required: "managed")
        counts.unmanaged = try row.integer(required: "unmanaged")
        counts.removed = try row.integer(required: "removed")
        return counts
    }
}

extension WriteTransaction {
    /// Stores a new or changed date; one without any content is removed.
    public func putOfficeDay(_ day: OfficeDayRecord) throws {
        guard day.word != nil || day.decision != nil else {
            try execute(
                "DELETE FROM office_days WHERE user_id = $1 AND day = $2", [.text(day.userID), .integer(day.day)])
            return
        }
        try execute(
            """
            INSERT INTO office_days (user_id, day, word, decision, status, event_state, event_target, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (user_id, day) DO UPDATE SET word = EXCLUDED.word, decision = EXCLUDED.decision,
                status = EXCLUDED.status, event_state = EXCLUDED.event_state, event_target = EXCLUDED.event_target,
                updated_at = EXCLUDED.updated_at
            """,
            [
                .text(day.userID), .integer(day.day), SQLValue(day.word), SQLValue(day.decision),
                SQLValue(day.status), SQLValue(day.eventState), SQLValue(day.eventTarget), .integer(day.updatedAt),
            ])
    }
}
