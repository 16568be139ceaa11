// SPDX-License-Identifier: Apache-2.0

// How much is recorded about a connection, and which part of it is removed to make room.

extension ReadTransaction {
    /// Returns how many conflicts of a connection are open, and their bytes.
    public func openConflictSize(of connection: String) throws -> Usage {
        let row = try row(
            """
            SELECT COUNT(*) AS found, CAST(COALESCE(SUM(bytes), 0) AS BIGINT) AS size FROM sync_conflicts
            WHERE connection_id = $1 AND state = 'open'
            """, [.text(connection)])
        return Usage(count: row?.integer("found") ?? 0, bytes: row?.integer("size") ?? 0)
    }

    /// Returns about how many bytes of a connection's links and of its events on a phone a run reads.
    public func runSize(of connection: String) throws -> Int {
        let row = try row(
            """
            SELECT CAST(COALESCE((SELECT SUM(LENGTH(content)) FROM sync_links WHERE connection_id = $1), 0) AS BIGINT)
                    AS links,
                CAST(COALESCE((
                    SELECT SUM(\(PersonalEvent.itemBytes)) FROM personal_events WHERE connection_id = $1
                ), 0) AS BIGINT) AS events
            """, [.text(connection)])
        return (row?.integer("links") ?? 0) + (row?.integer("events") ?? 0)
    }

    /// Returns about how many bytes a user's events have that show items.
    public func itemEventBytes(of user: String) throws -> Int {
        try row(
            """
            SELECT CAST(COALESCE(SUM(\(PersonalEvent.itemBytes)), 0) AS BIGINT) AS size FROM personal_events
            WHERE user_id = $1 AND connection_id IS NOT NULL
            """, [.text(user)])?.integer("size") ?? 0
    }
}

extension PersonalEvent {
    /// The size of a row that shows an item.
    fileprivate static let itemBytes =
        "1024 + "
        + [
            "title", "description", "location", "recurrence", "earlier", "external_id", "external_calendar_id",
            "external_instance_id", "source_device",
        ].map { "COALESCE(length(CAST(\($0) AS BLOB)), 0)" }.joined(separator: " + ")
}

extension WriteTransaction {
    /// Removes some of the oldest lines of a connection's journal and some of its oldest resolved conflicts, if they
    /// have more than this many bytes; its newest line stays. Returns whether more have to go.
    public func trimSyncRecords(of connection: String, to bytes: Int, limit: Int) throws -> Bool {
        func trim(_ table: SchemaTable, _ condition: String, sparing spared: String = "") throws -> Int {
            let sum = try row(
                "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) AS size FROM \(table.name) WHERE \(condition)",
                [.text(connection)])
            let surplus = (sum?.integer("size") ?? 0) - bytes
            return try deleteSome(
                of: table, by: "connection_id, number", where: "\(condition) \(spared) ORDER BY number",
                [.text(connection)], bytes: surplus, limit: limit)
        }
        let journal = try trim(
            "sync_journal", "connection_id = $1",
            sparing: "AND number < (SELECT MAX(number) FROM sync_journal WHERE connection_id = $1)")
        let conflicts = try trim("sync_conflicts", "connection_id = $1 AND state = 'resolved'")
        return journal + conflicts > 0
    }

    /// The bytes with which a step has removed enough: with a row more, which may be as large, it takes some ten
    /// milliseconds.
    private static var mostBytes: Int { 1 << 20 }

    /// Removes the first rows of a table that meet a condition, until `limit` rows or `bytes` bytes are removed, at
    /// most 1 MiB: others who write wait for as long as that takes. Returns how many rows are gone.
    ///
    /// - Parameters:
    ///   - key: the columns that name a row, in whose order they are; nil for the primary key.
    ///   - size: a row's bytes. A column is read without the rest of the row, `LENGTH` with it.
    ///   - condition: what follows `WHERE`, with the order where there is one.
    func deleteSome(
        of table: SchemaTable, by key: String? = nil, size: String = "bytes", where condition: String,
        _ arguments: [SQLValue], bytes: Int = .max, limit: Int
    ) throws -> Int {
        let (name, key) = (table.name, key ?? table.key.joined(separator: ", "))
        return try execute(
            """
            DELETE FROM \(name) WHERE (\(key)) IN (
                SELECT \(key) FROM (
                    SELECT \(key), size, SUM(size) OVER (ORDER BY \(key)) AS total FROM (
                        SELECT \(key), \(size) AS size FROM \(name)
                        WHERE \(condition) LIMIT $\(arguments.count + 1)
                    ) AS found
                ) AS summed WHERE total - size < $\(arguments.count + 2))
            """, arguments + [.integer(limit), .integer(min(bytes, Self.mostBytes))])
    }
}
