// SPDX-License-Identifier: Apache-2.0

// How much is recorded of a connection, and what of it makes room.

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
}

extension ReadTransaction {
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
    /// have more than so many bytes; its newest line stays. Returns whether more have to go.
    public func trimSyncRecords(of connection: String, to bytes: Int, limit: Int) throws -> Bool {
        let journal = try execute(
            """
            DELETE FROM sync_journal WHERE connection_id = $1 AND number IN (
                SELECT number FROM sync_journal WHERE connection_id = $1
                    AND number < (SELECT MAX(number) FROM sync_journal WHERE connection_id = $1)
                ORDER BY number LIMIT $3
            ) AND (SELECT SUM(bytes) FROM sync_journal WHERE connection_id = $1) > $2
            """, [.text(connection), .integer(bytes), .integer(limit)])
        let conflicts = try execute(
            """
            DELETE FROM sync_conflicts WHERE connection_id = $1 AND number IN (
                SELECT number FROM sync_conflicts WHERE connection_id = $1 AND state = 'resolved'
                ORDER BY number LIMIT $3
            ) AND (SELECT SUM(bytes) FROM sync_conflicts WHERE connection_id = $1 AND state = 'resolved') > $2
            """, [.text(connection), .integer(bytes), .integer(limit)])
        return journal + conflicts > 0
    }
}
