// SPDX-License-Identifier: Apache-2.0

/// A date of a user: what they said about it, and what the program decided.
public struct OfficeDayRecord: Hashable, Sendable {
    public var userID = ""
    /// Days since 1970-01-01.
    public var day = 0
    public var word: String?
    /// The decision with its event, which this module does not interpret.
    public var decision: String?
    /// The parts of the decision that queries look for.
    public var status: String?
    public var eventState: String?
    public var eventTarget: String?
    public var updatedAt = 0
}

extension OfficeDayRecord: StoredRow {
    public init(
        userID: String, day: Int, word: String?, decision: String?, status: String?, eventState: String?,
        eventTarget: String?, now: Int
    ) {
        self.init(
            userID: userID, day: day, word: word, decision: decision, status: status, eventState: eventState,
            eventTarget: eventTarget, updatedAt: now)
    }

    static let table = RecordTable<OfficeDayRecord>(
        "office_days",
        [
            .init("user_id", \.userID), .init("day", \.day), .init("word", \.word), .init("decision", \.decision),
            .init("status", \.status), .init("event_state", \.eventState), .init("event_target", \.eventTarget),
            .init("updated_at", \.updatedAt),
        ])
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
        try all(
            "WHERE user_id = $1 AND day >= $2 AND day <= $3 ORDER BY day",
            [.text(user), .integer(from), .integer(through)])
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
        return try all("WHERE \(condition) ORDER BY day LIMIT $3", arguments)
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
        try put(day)
    }
}
