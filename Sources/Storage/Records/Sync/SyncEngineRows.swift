// SPDX-License-Identifier: Apache-2.0

// Records that only the engine reads: writes under way, the place where the last pull ended, and who runs a connection.

/// A write whose outcome is not known.
public struct SyncOperationRow: Hashable, Sendable {
    public var connectionID = ""
    public var key = ""
    public var content = ""
}

extension SyncOperationRow: StoredRow {
    static let table = RecordTable<SyncOperationRow>(
        "sync_operations",
        [.init("connection_id", \.connectionID), .init("key", \.key), .init("content", \.content)])
}

/// Where the last pull of a connection ended.
public struct SyncPositionRow: Hashable, Sendable {
    public var connectionID = ""
    public var content = ""
}

extension SyncPositionRow: StoredRow {
    static let table = RecordTable<SyncPositionRow>(
        "sync_positions", [.init("connection_id", \.connectionID), .init("content", \.content)])
}

extension ReadTransaction {
    /// Returns the operations of a connection whose outcome is not known, by their keys.
    public func syncOperations(of connection: String) throws -> [SyncOperationRow] {
        try all("WHERE connection_id = $1 ORDER BY key", [.text(connection)])
    }

    public func syncPosition(of connection: String) throws -> String? {
        try row("SELECT content FROM sync_positions WHERE connection_id = $1", [.text(connection)])?.text("content")
    }
}

extension WriteTransaction {
    /// Stores an operation in place of an earlier one with its key.
    public func putSyncOperation(_ key: String, of connection: String, content: String) throws {
        try put(SyncOperationRow(connectionID: connection, key: key, content: content))
    }

    /// Removes an operation whose outcome is known.
    public func deleteSyncOperation(_ key: String, of connection: String) throws {
        try execute(
            "DELETE FROM sync_operations WHERE connection_id = $1 AND key = $2", [.text(connection), .text(key)])
    }

    public func putSyncPosition(of connection: String, content: String) throws {
        try put(SyncPositionRow(connectionID: connection, content: content))
    }

    /// Removes some of a connection's links, and after them the writes whose outcome is not known and the position, as
    /// if it had never run; returns false when nothing is left, or when a run has stored another position.
    public func forgetSomeSyncLinks(of connection: String, at position: String, limit: Int) throws -> Bool {
        guard let stored = try syncPosition(of: connection), stored.isSameText(as: position) else { return false }
        let (owned, id) = ("connection_id = $1", [SQLValue.text(connection)])
        if try deleteSomeSyncLinks(where: owned, id, limit: limit) > 0 { return true }
        let operations = try deleteSome(
            of: "sync_operations", size: "LENGTH(content)", where: owned, id, limit: max(1, limit / 16))
        if operations > 0 { return true }
        try execute("DELETE FROM sync_positions WHERE connection_id = $1", id)
        return false
    }

    /// Takes or extends a connection's lease; returns false when another holder has it.
    ///
    /// - Parameter end: when another holder may take it.
    public func takeSyncLease(of connection: String, for holder: String, until end: Int, now: Int) throws -> Bool {
        try execute(
            """
            INSERT INTO sync_leases (connection_id, holder, expires_at) VALUES ($1, $2, $3)
            ON CONFLICT (connection_id) DO UPDATE SET holder = EXCLUDED.holder, expires_at = EXCLUDED.expires_at
                WHERE sync_leases.holder = EXCLUDED.holder OR sync_leases.expires_at <= $4
            """, [.text(connection), .text(holder), .integer(end), .integer(now)]) > 0
    }

    /// Gives a lease back; nothing changes when another holder has it.
    public func endSyncLease(of connection: String, for holder: String) throws {
        try execute(
            "DELETE FROM sync_leases WHERE connection_id = $1 AND holder = $2", [.text(connection), .text(holder)])
    }
}

extension ReadTransaction {
    /// Returns whether somebody has a connection's lease.
    public func hasSyncLease(_ connection: String, now: Int) throws -> Bool {
        try row(
            "SELECT 1 AS found FROM sync_leases WHERE connection_id = $1 AND expires_at > $2",
            [.text(connection), .integer(now)]) != nil
    }
}
