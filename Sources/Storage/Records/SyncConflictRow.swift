// SPDX-License-Identifier: Apache-2.0

/// Two changes of the same thing on both sides, with the engine's own record of them.
public struct SyncConflictRow: Hashable, Sendable {
    public var connectionID: String
    /// Unique within the connection.
    public var id: String
    /// The number of the conflict within its connection; 0 until it is stored.
    public var number: Int
    public var isOpen: Bool
    public var at: Int
    /// Who resolved it, as the audit trail names them; nil for the engine.
    public var resolvedBy: String?
    public var content: String

    public init(connectionID: String, id: String, isOpen: Bool, at: Int, resolvedBy: String? = nil, content: String) {
        (self.connectionID, self.id, self.number, self.isOpen) = (connectionID, id, 0, isOpen)
        (self.at, self.resolvedBy, self.content) = (at, resolvedBy, content)
    }

    init(_ row: SQLRow) throws {
        connectionID = try row.text(required: "connection_id")
        id = try row.text(required: "id")
        number = try row.integer(required: "number")
        switch try row.text(required: "state") {
        case "open": isOpen = true
        case "resolved": isOpen = false
        default: throw StorageError.unexpectedResult("A conflict is in an unknown state.")
        }
        at = try row.integer(required: "at")
        resolvedBy = row.text("resolved_by")
        content = try row.text(required: "content")
    }
}

extension ReadTransaction {
    /// Returns the conflicts with this id, one for each connection that knows it.
    public func syncConflicts(_ id: String) throws -> [SyncConflictRow] {
        try rows("\(select: .syncConflicts) WHERE id = $1 ORDER BY connection_id", [.text(id)])
            .map(SyncConflictRow.init)
    }

    public func syncConflict(_ id: String, of connection: String) throws -> SyncConflictRow? {
        try row("\(select: .syncConflicts) WHERE connection_id = $1 AND id = $2", [.text(connection), .text(id)])
            .map(SyncConflictRow.init)
    }

    /// Returns a connection's conflicts, latest first.
    ///
    /// - Parameter number: the number before which the page begins.
    public func syncConflicts(of connection: String, before number: Int, limit: Int) throws -> [SyncConflictRow] {
        try rows(
            "\(select: .syncConflicts) WHERE connection_id = $1 AND number < $2 ORDER BY number DESC LIMIT $3",
            [.text(connection), .integer(number), .integer(limit)]
        ).map(SyncConflictRow.init)
    }

    /// Returns a connection's open conflicts in the order in which they were seen.
    public func openSyncConflicts(of connection: String) throws -> [SyncConflictRow] {
        try rows(
            "\(select: .syncConflicts) WHERE connection_id = $1 AND state = 'open' ORDER BY number",
            [.text(connection)]
        ).map(SyncConflictRow.init)
    }
}

extension WriteTransaction {
    /// Stores a new or changed conflict and records the change for the connection's user. A resolved conflict stays
    /// resolved, but a person may change a decision of the engine.
    ///
    /// - Returns: whether anything changed.
    @discardableResult
    public func putSyncConflict(_ own: SyncConflictRow, now: Int) throws -> Bool {
        let old = try syncConflict(own.id, of: own.connectionID)
        if let old {
            let isLastWord = !old.isOpen && (own.isOpen || own.resolvedBy == nil || old.resolvedBy != nil)
            let isSame = old.content == own.content && old.isOpen == own.isOpen && old.resolvedBy == own.resolvedBy
            if isLastWord || isSame { return false }
        }
        try holdConnection(own.connectionID)
        try execute(
            """
            INSERT INTO sync_conflicts (connection_id, id, number, state, at, resolved_by, content, bytes)
            VALUES ($1, $2, (SELECT COALESCE(MAX(number), 0) + 1 FROM sync_conflicts WHERE connection_id = $1), $3, $4,
                $5, $6, $7)
            ON CONFLICT (connection_id, id) DO UPDATE SET state = EXCLUDED.state, resolved_by = EXCLUDED.resolved_by,
                content = EXCLUDED.content, bytes = EXCLUDED.bytes
            """,
            [
                .text(own.connectionID), .text(own.id), .text(own.isOpen ? "open" : "resolved"), .integer(own.at),
                SQLValue(own.resolvedBy), .text(own.content), .integer(own.content.utf8.count),
            ])
        guard let connection = try connectionEverKnown(own.connectionID) else { return true }
        try note(
            .conflict, old == nil ? .created : .updated, in: connection.circleID, id: own.id, user: connection.userID,
            now: now)
        return true
    }

    /// Removes some resolved conflicts from before a time; returns false when none is left.
    public func pruneSyncConflicts(before time: Int, limit: Int) throws -> Bool {
        try execute(
            """
            DELETE FROM sync_conflicts WHERE (connection_id, id) IN (
                SELECT connection_id, id FROM sync_conflicts WHERE state = 'resolved' AND at < $1 LIMIT $2)
            """, [.integer(time), .integer(limit)]) == limit
    }
}
