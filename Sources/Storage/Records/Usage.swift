// SPDX-License-Identifier: Apache-2.0

/// How many things there are of a kind, and how many bytes they take.
public struct Usage: Hashable, Sendable {
    public var count: Int
    public var bytes: Int

    public init(count: Int = 0, bytes: Int = 0) { (self.count, self.bytes) = (count, bytes) }
}

extension ReadTransaction {
    /// The items of a circle that were ever put.
    public func itemUsage(of circle: String) throws -> Usage {
        guard let row = try row("SELECT items, bytes FROM circle_usage WHERE circle_id = $1", [.text(circle)]) else {
            return Usage()
        }
        return Usage(count: try row.integer(required: "items"), bytes: try row.integer(required: "bytes"))
    }

    /// The files that were imported into a circle on a day.
    ///
    /// - Parameter day: counted from 1970 in UTC.
    public func importUsage(of circle: String, day: Int) throws -> Usage {
        let found = try row(
            "SELECT files, bytes FROM import_usage WHERE circle_id = $1 AND day = $2", [.text(circle), .integer(day)])
        guard let found else { return Usage() }
        return Usage(count: try found.integer(required: "files"), bytes: try found.integer(required: "bytes"))
    }

    /// What a user has of their own: events, those that were deleted too, and what their phones have planned.
    public func ownUsage(of user: String) throws -> Usage {
        let (own, planned) = (try personalCalendar(of: user), try plannedUsage(of: user))
        return Usage(count: own.events + planned.count, bytes: own.bytes + planned.bytes)
    }

    /// What a user's phones have planned.
    public func plannedUsage(of user: String) throws -> Usage {
        guard let row = try row("SELECT events, bytes FROM planned_calendars WHERE user_id = $1", [.text(user)]) else {
            return Usage()
        }
        return Usage(count: try row.integer(required: "events"), bytes: try row.integer(required: "bytes"))
    }

    /// The imported and followed events of a circle.
    public func importedEventCount(in circle: String) throws -> Int {
        try count(
            "SELECT COALESCE(SUM(events), 0) AS count FROM event_sources WHERE circle_id = $1", [.text(circle)])
    }

    public func feedCount(of user: String, in circle: String) throws -> Int {
        try count(
            "SELECT COUNT(*) AS count FROM feeds WHERE circle_id = $1 AND user_id = $2", [.text(circle), .text(user)])
    }

    /// Members of a circle, those who have left too.
    public func memberCount(in circle: String) throws -> Int {
        try count("SELECT COUNT(*) AS count FROM members WHERE circle_id = $1", [.text(circle)])
    }

    /// Patients of a circle, those who were taken out too.
    public func patientCount(in circle: String) throws -> Int {
        try count("SELECT COUNT(*) AS count FROM patients WHERE circle_id = $1", [.text(circle)])
    }

    public func subscriptionCount(in circle: String) throws -> Int {
        try count("SELECT COUNT(*) AS count FROM subscriptions WHERE circle_id = $1", [.text(circle)])
    }

    public func occurrenceCount(of item: String, in circle: String) throws -> Int {
        try count(
            """
            SELECT COUNT(*) AS count FROM occurrences
            WHERE circle_id = $1 AND collection = 'appointments' AND item_id = $2
            """, [.text(circle), .text(item)])
    }

    public func webhookCount() throws -> Int { try count("SELECT COUNT(*) AS count FROM webhooks", []) }

    private func count(_ sql: String, _ arguments: [SQLValue]) throws -> Int {
        try row(sql, arguments)?.integer("count") ?? 0
    }
}

extension WriteTransaction {
    /// Adds to what is known of a circle's items; either number may be below zero.
    public func addItemUsage(_ added: Usage, of circle: String) throws {
        guard added != Usage() else { return }
        try execute(
            """
            INSERT INTO circle_usage (circle_id, items, bytes) VALUES ($1, $2, $3)
            ON CONFLICT (circle_id) DO UPDATE SET items = circle_usage.items + EXCLUDED.items,
                bytes = circle_usage.bytes + EXCLUDED.bytes
            """, [.text(circle), .integer(added.count), .integer(added.bytes)])
    }

    /// Adds to what is known of a user's planned events; either number may be below zero.
    public func addPlannedUsage(_ added: Usage, of user: String) throws {
        guard added != Usage() else { return }
        try execute(
            """
            INSERT INTO planned_calendars (user_id, events, bytes) VALUES ($1, $2, $3)
            ON CONFLICT (user_id) DO UPDATE SET events = planned_calendars.events + EXCLUDED.events,
                bytes = planned_calendars.bytes + EXCLUDED.bytes
            """, [.text(user), .integer(added.count), .integer(added.bytes)])
    }

    /// Adds a file to those of a day, and forgets the days before the last.
    public func addImportUsage(bytes: Int, of circle: String, day: Int) throws {
        try execute(
            """
            INSERT INTO import_usage (circle_id, day, files, bytes) VALUES ($1, $2, 1, $3)
            ON CONFLICT (circle_id, day) DO UPDATE SET files = import_usage.files + 1,
                bytes = import_usage.bytes + EXCLUDED.bytes
            """, [.text(circle), .integer(day), .integer(bytes)])
        try execute("DELETE FROM import_usage WHERE circle_id = $1 AND day < $2", [.text(circle), .integer(day - 1)])
    }
}
