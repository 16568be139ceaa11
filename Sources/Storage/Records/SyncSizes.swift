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
