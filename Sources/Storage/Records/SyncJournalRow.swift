// SPDX-License-Identifier: Apache-2.0

/// One write of a run, on one of the two sides, with the engine's own record of it.
public struct SyncJournalRow: Hashable, Sendable {
    public var connectionID: String
    /// The number of the entry within its connection; 0 until it is stored.
    public var number: Int
    public var id: String
    public var runID: String
    public var at: Int
    /// `out` or `in`.
    public var direction: String
    public var change: String
    public var content: String

    public init(
        connectionID: String, id: String, runID: String, at: Int, direction: String, change: String, content: String
    ) {
        (self.connectionID, self.number, self.id, self.runID) = (connectionID, 0, id, runID)
        (self.at, self.direction, self.change, self.content) = (at, direction, change, content)
    }

    init(_ row: SQLRow) throws {
        connectionID = try row.text(required: "connection_id")
        number = try row.integer(required: "number")
        id = try row.text(required: "id")
        runID = try row.text(required: "run_id")
        at = try row.integer(required: "at")
        direction = try row.text(required: "direction")
        change = try row.text(required: "change")
        content = try row.text(required: "content")
    }
}

extension ReadTransaction {
    /// Returns the writes of a connection, latest first.
    ///
    /// - Parameter number: the number before which the page begins.
    public func syncJournal(of connection: String, before number: Int, limit: Int) throws -> [SyncJournalRow] {
        try rows(
            "\(select: .syncJournal) WHERE connection_id = $1 AND number < $2 ORDER BY number DESC LIMIT $3",
            [.text(connection), .integer(number), .integer(limit)]
        ).map(SyncJournalRow.init)
    }

    /// Returns the writes of a run in their order.
    public func syncJournal(of connection: String, run: String) throws -> [SyncJournalRow] {
        try rows(
            "\(select: .syncJournal) WHERE connection_id = $1 AND run_id = $2 ORDER BY number",
            [.text(connection), .text(run)]
        ).map(SyncJournalRow.init)
    }

    /// Counts the entries of a kind after a time, in runs that nobody approved.
    ///
    /// - Parameter direction: nil for both.
    public func syncJournalCount(
        of connection: String, _ change: String, direction: String? = nil, after time: Int
    ) throws -> Int {
        try row(
            """
            SELECT COUNT(*) AS found FROM sync_journal
            WHERE connection_id = $1 AND change = $2 AND (CAST($3 AS TEXT) IS NULL OR direction = $3) AND at > $4
                AND NOT EXISTS (
                SELECT 1 FROM sync_runs WHERE sync_runs.id = sync_journal.run_id AND approved_at IS NOT NULL)
            """, [.text(connection), .text(change), SQLValue(direction), .integer(time)])?.integer("found") ?? 0
    }
}

extension WriteTransaction {
    /// Adds entries of a connection in their order; an entry that exists already stays unchanged.
    public func addSyncJournal(_ entries: [SyncJournalRow], of connection: String) throws {
        if entries.isEmpty { return }
        try holdConnection(connection)
        for own in entries {
            try execute(
                """
                INSERT INTO sync_journal (connection_id, number, id, run_id, at, direction, change, content, bytes)
                VALUES ($1, (SELECT COALESCE(MAX(number), 0) + 1 FROM sync_journal WHERE connection_id = $1), $2, $3,
                    $4, $5, $6, $7, $8)
                ON CONFLICT (connection_id, id) DO NOTHING
                """,
                [
                    .text(connection), .text(own.id), .text(own.runID), .integer(own.at), .text(own.direction),
                    .text(own.change), .text(own.content), .integer(own.content.utf8.count),
                ])
        }
    }

    /// Removes some entries from before a time, but no connection's newest; returns false when none is left.
    public func pruneSyncJournal(before time: Int, limit: Int) throws -> Bool {
        try execute(
            """
            DELETE FROM sync_journal WHERE (connection_id, number) IN (
                SELECT connection_id, number FROM sync_journal WHERE at < $1
                    AND number < (SELECT MAX(number) FROM sync_journal AS newest
                        WHERE newest.connection_id = sync_journal.connection_id)
                LIMIT $2)
            """, [.integer(time), .integer(limit)]) == limit
    }
}
