// SPDX-License-Identifier: Apache-2.0

/// One write of a run, on one of the two sides, with the engine's own record of it.
public struct SyncJournalRow: Hashable, Sendable {
    public var connectionID = ""
    /// The number of the entry within its connection; 0 until it is stored.
    public var number = 0
    public var id = ""
    public var runID = ""
    public var at = 0
    /// `out` or `in`.
    public var direction = ""
    public var change = ""
    public var content = ""
}

extension SyncJournalRow: StoredRow {
    public init(
        connectionID: String, id: String, runID: String, at: Int, direction: String, change: String, content: String
    ) {
        self.init(
            connectionID: connectionID, number: 0, id: id, runID: runID, at: at, direction: direction, change: change,
            content: content)
    }

    static let table = RecordTable<SyncJournalRow>(
        "sync_journal",
        [
            .once("connection_id", \.connectionID), .counted("number", \.number, within: "connection_id"),
            .once("id", \.id), .once("run_id", \.runID), .once("at", \.at), .once("direction", \.direction),
            .once("change", \.change), .derived("bytes") { $0.content.utf8.count }, .once("content", \.content),
        ])
}

extension ReadTransaction {
    /// Returns the writes of a connection, latest first.
    ///
    /// - Parameter number: the number before which the page begins.
    public func syncJournal(of connection: String, before number: Int, limit: Int) throws -> [SyncJournalRow] {
        try all(
            "WHERE connection_id = $1 AND number < $2 ORDER BY number DESC LIMIT $3",
            [.text(connection), .integer(number), .integer(limit)])
    }

    /// Returns the writes of a run in their order.
    public func syncJournal(of connection: String, run: String) throws -> [SyncJournalRow] {
        try all("WHERE connection_id = $1 AND run_id = $2 ORDER BY number", [.text(connection), .text(run)])
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
        for var own in entries {
            own.connectionID = connection
            try insert(new: own, "ON CONFLICT (connection_id, id) DO NOTHING")
        }
    }

    /// Removes some entries from before a time, but no connection's newest; returns false when none is left.
    public func pruneSyncJournal(before time: Int, limit: Int) throws -> Bool {
        try deleteSome(
            of: "sync_journal",
            where: """
                at < $1 AND number < (SELECT MAX(number) FROM sync_journal AS newest
                    WHERE newest.connection_id = sync_journal.connection_id)
                """, [.integer(time)], limit: limit) > 0
    }
}
