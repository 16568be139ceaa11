// SPDX-License-Identifier: Apache-2.0

/// The number of things of one kind, and the bytes that they take.
public struct Usage: Hashable, Sendable {
    public var count: Int
    public var bytes: Int

    public init(count: Int = 0, bytes: Int = 0) { (self.count, self.bytes) = (count, bytes) }
}

extension ReadTransaction {
    /// Returns the usage of all items that were ever stored in a circle, with the bytes of their changed occurrences.
    public func itemUsage(of circle: String) throws -> Usage {
        guard let row = try row("SELECT items, bytes FROM circle_usage WHERE circle_id = $1", [.text(circle)]) else {
            return Usage()
        }
        return Usage(count: try row.integer(required: "items"), bytes: try row.integer(required: "bytes"))
    }

    /// Returns the usage of a circle's events from imports and subscriptions.
    public func importedUsage(in circle: String) throws -> Usage {
        let row = try row(
            """
            SELECT (SELECT COALESCE(SUM(events), 0) FROM event_sources WHERE circle_id = $1) AS count,
                (SELECT event_bytes FROM circle_usage WHERE circle_id = $1) AS bytes
            """, [.text(circle)])
        return Usage(count: row?.integer("count") ?? 0, bytes: row?.integer("bytes") ?? 0)
    }

    /// Counts the bytes of the contents of a circle's events from imports and subscriptions one by one.
    public func eventBytes(in circle: String) throws -> Int {
        let row = try row(
            """
            SELECT CAST(COALESCE(SUM(length(CAST(content AS BLOB))), 0) AS BIGINT) AS bytes FROM event_versions
            WHERE circle_id = $1 AND until_epoch = \(EventEpoch.open)
            """, [.text(circle)])
        return row?.integer("bytes") ?? 0
    }

    /// Returns the usage of files that were imported into a circle on a day.
    ///
    /// - Parameter day: days since 1970-01-01 in UTC.
    public func importUsage(of circle: String, day: Int) throws -> Usage {
        let found = try row(
            "SELECT files, bytes FROM import_usage WHERE circle_id = $1 AND day = $2", [.text(circle), .integer(day)])
        guard let found else { return Usage() }
        return Usage(count: try found.integer(required: "files"), bytes: try found.integer(required: "bytes"))
    }

    /// Returns the usage of a user's own events, including deleted ones, of their phones' planned events, and of what
    /// feeds show of their own calendars at most.
    public func ownUsage(of user: String) throws -> Usage {
        let (own, planned) = (try personalCalendar(of: user), try plannedUsage(of: user))
        let calendars = try ownCalendars(of: user).map(\.usage)
        let shown = min(calendars.reduce(0) { $0 + $1.bytes }, OwnCalendar.mostShownBytes)
        return Usage(
            count: own.events + planned.count + calendars.reduce(0) { $0 + $1.count },
            bytes: own.bytes + planned.bytes + shown)
    }

    /// Returns the usage of the planned events from a user's phones.
    public func plannedUsage(of user: String) throws -> Usage {
        guard let row = try row("SELECT events, bytes FROM planned_calendars WHERE user_id = $1", [.text(user)]) else {
            return Usage()
        }
        return Usage(count: try row.integer(required: "events"), bytes: try row.integer(required: "bytes"))
    }

    /// Returns a number that each change of the planned events from a user's phones raises.
    public func plannedVersion(of user: String) throws -> Int {
        try row("SELECT version FROM planned_calendars WHERE user_id = $1", [.text(user)])?.integer("version") ?? 0
    }

    public func feedCount(of user: String, in circle: String) throws -> Int {
        try count(
            "SELECT COUNT(*) AS count FROM feeds WHERE circle_id = $1 AND user_id = $2", [.text(circle), .text(user)])
    }

    /// Counts the members of a circle, including those who have left.
    public func memberCount(in circle: String) throws -> Int {
        try count("SELECT COUNT(*) AS count FROM members WHERE circle_id = $1", [.text(circle)])
    }

    /// Counts the patients of a circle, including removed ones.
    public func patientCount(in circle: String) throws -> Int {
        try count("SELECT COUNT(*) AS count FROM patients WHERE circle_id = $1", [.text(circle)])
    }

    public func subscriptionCount(in circle: String) throws -> Int {
        try count("SELECT COUNT(*) AS count FROM subscriptions WHERE circle_id = $1", [.text(circle)])
    }

    public func webhookCount() throws -> Int { try count("SELECT COUNT(*) AS count FROM webhooks", []) }

    func count(_ sql: String, _ arguments: [SQLValue]) throws -> Int {
        try row(sql, arguments)?.integer("count") ?? 0
    }
}

extension WriteTransaction {
    /// Adds to the stored usage of a circle's items; either number may be negative.
    public func addItemUsage(_ added: Usage, of circle: String) throws {
        guard added != Usage() else { return }
        try execute(
            """
            INSERT INTO circle_usage (circle_id, items, bytes) VALUES ($1, $2, $3)
            ON CONFLICT (circle_id) DO UPDATE SET items = circle_usage.items + EXCLUDED.items,
                bytes = circle_usage.bytes + EXCLUDED.bytes
            """, [.text(circle), .integer(added.count), .integer(added.bytes)])
    }

    /// Stores what `eventBytes` has counted.
    public func setEventBytes(_ bytes: Int, in circle: String) throws {
        try execute(
            "UPDATE circle_usage SET event_bytes = $2 WHERE circle_id = $1", [.text(circle), .integer(bytes)])
    }

    /// Adds to the stored usage of a user's planned events, which have changed; either number may be negative.
    public func addPlannedUsage(_ added: Usage, of user: String) throws {
        try execute(
            """
            INSERT INTO planned_calendars (user_id, events, bytes, version) VALUES ($1, $2, $3, 1)
            ON CONFLICT (user_id) DO UPDATE SET events = planned_calendars.events + EXCLUDED.events,
                bytes = planned_calendars.bytes + EXCLUDED.bytes, version = planned_calendars.version + 1
            """, [.text(user), .integer(added.count), .integer(added.bytes)])
    }

    /// Adds a file to the usage of a day, and removes entries from before the previous day.
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
