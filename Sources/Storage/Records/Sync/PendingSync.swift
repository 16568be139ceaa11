// SPDX-License-Identifier: Apache-2.0

/// A run of a connection that is requested in addition to the regular ones.
public struct PendingSync: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable, ColumnValue {
        /// A person asked for it.
        case manual
        /// A person approved a run that was held.
        case approved
        /// A person wants a run to be undone.
        case undo
        /// The provider reported a change.
        case push
        /// Something changed here.
        case change

        /// Whether a person waits for it.
        public var isWanted: Bool { self != .push && self != .change }
    }

    /// The milliseconds for which changes of a circle are collected before its calendars get them.
    public static let collecting = 4_000

    public var connectionID = ""
    public var kind = Kind.manual
    /// The run that was promised; nil when no run was.
    public var runID: String?
    /// The run that is to be undone.
    public var undoneRunID: String?
    public var dueAt = 0

    init() {}

    public init(connectionID: String, kind: Kind, runID: String? = nil, undoneRunID: String? = nil, dueAt: Int) {
        (self.connectionID, self.kind, self.runID) = (connectionID, kind, runID)
        (self.undoneRunID, self.dueAt) = (undoneRunID, dueAt)
    }
}

extension PendingSync: StoredRow {
    static let table = RecordTable<PendingSync>(
        "sync_wishes",
        [
            .init("connection_id", \.connectionID), .init("kind", \.kind), .init("run_id", \.runID),
            .init("undone_run_id", \.undoneRunID), .init("due_at", \.dueAt),
        ])
}

/// A connection whose run is due.
public struct DueSync: Hashable, Sendable {
    public var id: String
    public var provider: Connection.Provider
    public var userID: String
    /// The account as the provider names it.
    public var accountID: String?
    /// When the sync became due, in milliseconds since 1970.
    public var dueAt: Int
    /// Whether a person asked for it.
    public var isWanted: Bool

    public init(
        id: String, provider: Connection.Provider, userID: String, accountID: String?, dueAt: Int, isWanted: Bool
    ) {
        (self.id, self.provider, self.userID, self.accountID) = (id, provider, userID, accountID)
        (self.dueAt, self.isWanted) = (dueAt, isWanted)
    }

    init(_ row: SQLRow, _ provider: Connection.Provider, now: Int) throws {
        id = try row.text(required: "id")
        self.provider = provider
        userID = try row.text(required: "user_id")
        accountID = row.text("account_id")
        let kind = row.text("kind").flatMap { PendingSync.Kind(rawValue: $0) }
        isWanted = row.text("ending") == nil && kind?.isWanted ?? false
        dueAt = [row.integer("next_sync_at"), row.integer("due_at")].compactMap(\.self).min() ?? now
    }
}

extension ReadTransaction {
    public func pendingSync(of connection: String) throws -> PendingSync? {
        try first("WHERE connection_id = $1", [.text(connection)])
    }

    /// Returns the runs of a provider's connections that are due and that no server has begun, of users in these shards:
    /// those that people asked for first, then the longest overdue.
    public func dueSyncs(
        by provider: Connection.Provider, now: Int, in shards: Shards, limit: Int
    ) throws -> [DueSync] {
        var arguments: [SQLValue] = [.text(provider.rawValue), .integer(now), .integer(limit)]
        let isIn = shards.condition("user_id", in: self, &arguments)
        return try rows(
            """
            WITH due AS (
                SELECT id FROM connections
                WHERE provider = $1 AND next_sync_at <= $2 AND (ending IS NOT NULL OR state = 'active')
                UNION
                SELECT connections.id FROM sync_wishes
                JOIN connections ON connections.id = sync_wishes.connection_id
                WHERE sync_wishes.due_at <= $2 AND provider = $1 AND ending IS NULL AND state = 'active'
            )
            SELECT connections.id, user_id, account_id, ending, next_sync_at, kind, due_at FROM due
            JOIN connections ON connections.id = due.id
            LEFT JOIN sync_wishes ON sync_wishes.connection_id = connections.id
            WHERE NOT EXISTS (
                SELECT 1 FROM sync_leases WHERE sync_leases.connection_id = connections.id AND expires_at > $2)\(isIn)
            ORDER BY CASE WHEN ending IS NULL AND kind NOT IN ('push', 'change') THEN 0 ELSE 1 END,
                CASE WHEN due_at IS NULL OR next_sync_at < due_at THEN next_sync_at ELSE due_at END, connections.id
            LIMIT $3
            """, arguments
        ).map { try DueSync($0, provider, now: now) }
    }

    /// Returns the ids of the circle's other connections, also of those that are ending.
    public func otherConnections(than own: Connection) throws -> [String] {
        try rows(
            "SELECT id FROM connections WHERE circle_id = $1 AND id <> $2", [.text(own.circleID), .text(own.id)]
        ).map { try $0.text(required: "id") }
    }

    /// Returns connections that a user had in a circle and that no longer exist.
    public func formerConnections(of user: String, in circle: String) throws -> [String] {
        try rows(
            "SELECT connection_id FROM former_connections WHERE circle_id = $1 AND user_id = $2",
            [.text(circle), .text(user)]
        ).map { try $0.text(required: "connection_id") }
    }
}

extension WriteTransaction {
    /// Stores a wish. A reported change waits behind a person's wish and behind an earlier report.
    ///
    /// A wish that is already due may be under way, with a run that read before this change: it becomes due now, so
    /// that the end of that run does not complete it. An undo is not repeated for that.
    public func putPendingSync(_ pending: PendingSync, now: Int = 0) throws {
        guard !pending.kind.isWanted else { return try put(pending) }
        try insert(
            new: pending,
            """
            ON CONFLICT (connection_id) DO UPDATE SET due_at = $6
                WHERE sync_wishes.due_at < $6 AND sync_wishes.kind <> 'undo'
            """, [.integer(now)])
    }

    /// Makes a circle's connections run soon, because something changed here; several changes together are one run.
    ///
    /// A wish that is already due may be under way, as above; its repetition collects changes again, so that many changes in a
    /// row are a run every few seconds. Without a lease no run has read it, and it keeps its place among those that wait. A
    /// failed run is tried again at its own time, and phones ask by themselves. A run that is held until somebody approves it
    /// would only ask the provider again for all that it has: it is examined at its own time, too.
    func wakeConnections(in circle: String, now: Int) throws {
        try execute(
            """
            INSERT INTO sync_wishes (connection_id, kind, due_at)
            SELECT id, 'change', CAST($2 AS BIGINT) FROM connections
            WHERE circle_id = $1 AND ending IS NULL AND state = 'active' AND provider <> 'apple' AND failures = 0
                AND calendar_id IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM sync_runs WHERE state = 'held' AND connection_id = connections.id)
            ORDER BY id
            ON CONFLICT (connection_id) DO UPDATE SET due_at = CASE WHEN EXISTS (
                    SELECT 1 FROM sync_leases
                    WHERE sync_leases.connection_id = sync_wishes.connection_id AND expires_at > CAST($3 AS BIGINT)
                ) THEN EXCLUDED.due_at ELSE CAST($3 AS BIGINT) END
                WHERE sync_wishes.due_at < CAST($3 AS BIGINT) AND sync_wishes.kind <> 'undo' AND EXISTS (
                    SELECT 1 FROM sync_leases WHERE sync_leases.connection_id = sync_wishes.connection_id)
            """, [.text(circle), .integer(now + PendingSync.collecting), .integer(now)])
    }

    /// Makes a connection's wish what it was before its own run changed something here, which that run knows.
    public func restorePendingSync(_ pending: PendingSync?, of connection: String) throws {
        if let pending { return try put(pending) }
        try execute("DELETE FROM sync_wishes WHERE connection_id = $1 AND kind = 'change'", [.text(connection)])
    }

    /// Removes a wish that was carried out; a newer one stays.
    public func deletePendingSync(_ pending: PendingSync) throws {
        try execute(
            "DELETE FROM sync_wishes WHERE connection_id = $1 AND kind = $2 AND due_at = $3 AND COALESCE(run_id, '') = $4",
            [
                .text(pending.connectionID), .text(pending.kind.rawValue), .integer(pending.dueAt),
                .text(pending.runID ?? ""),
            ])
    }

    /// Ends all leases except those of one holder, for a server that has the database to itself.
    public func endSyncLeases(exceptOf holder: String) throws {
        try execute("DELETE FROM sync_leases WHERE holder <> $1", [.text(holder)])
    }

    /// Removes some links of events that were deleted before a time; returns false when none is left.
    public func pruneSyncLinks(before time: Int, limit: Int) throws -> Bool {
        try deleteSomeSyncLinks(where: "state = 'deleted' AND since_at < $1", [.integer(time)], limit: limit) > 0
    }
}
