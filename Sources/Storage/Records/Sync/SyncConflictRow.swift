// SPDX-License-Identifier: Apache-2.0

/// Two changes of the same thing on both sides, with the engine's own record of them.
public struct SyncConflictRow: Hashable, Sendable {
    enum State: String, ColumnValue {
        case open, resolved
    }

    public var connectionID = ""
    /// Unique within the connection.
    public var id = ""
    /// The item in conflict.
    public var collection = ""
    public var itemID = ""
    /// The number of the conflict within its connection; 0 until it is stored.
    public var number = 0
    var state = State.open
    public var at = 0
    /// Who resolved it, as the audit trail names them; nil for the engine.
    public var resolvedBy: String?
    public var content = ""

    public var isOpen: Bool {
        get { state == .open }
        set { state = newValue ? .open : .resolved }
    }
}

extension SyncConflictRow: StoredRow {
    public init(
        connectionID: String, id: String, collection: String, itemID: String, isOpen: Bool, at: Int,
        resolvedBy: String? = nil, content: String
    ) {
        self.init(
            connectionID: connectionID, id: id, collection: collection, itemID: itemID,
            state: isOpen ? .open : .resolved, at: at, resolvedBy: resolvedBy, content: content)
    }

    static let table = RecordTable<SyncConflictRow>(
        "sync_conflicts",
        [
            .init("connection_id", \.connectionID), .init("id", \.id), .once("collection", \.collection),
            .once("item_id", \.itemID), .counted("number", \.number, within: "connection_id"), .init("state", \.state),
            .once("at", \.at),
            .init("resolved_by", \.resolvedBy), .derived("bytes") { $0.content.utf8.count },
            .init("content", \.content),
        ])
}

extension ReadTransaction {
    /// Returns the conflicts with this id, one for each connection that knows it.
    public func syncConflicts(_ id: String) throws -> [SyncConflictRow] {
        try all("WHERE id = $1 ORDER BY connection_id", [.text(id)])
    }

    public func syncConflict(_ id: String, of connection: String) throws -> SyncConflictRow? {
        try first("WHERE connection_id = $1 AND id = $2", [.text(connection), .text(id)])
    }

    /// Returns a connection's conflicts, latest first.
    ///
    /// - Parameter number: the number before which the page begins.
    public func syncConflicts(of connection: String, before number: Int, limit: Int) throws -> [SyncConflictRow] {
        try all(
            "WHERE connection_id = $1 AND number < $2 ORDER BY number DESC LIMIT $3",
            [.text(connection), .integer(number), .integer(limit)])
    }

    /// Returns the items of a connection's open conflicts; the conflicts themselves may be large.
    public func itemsInOpenConflicts(of connection: String) throws -> [(collection: String, item: String)] {
        try rows(
            "SELECT DISTINCT collection, item_id FROM sync_conflicts WHERE connection_id = $1 AND state = 'open'",
            [.text(connection)]
        ).map { (try $0.text(required: "collection"), try $0.text(required: "item_id")) }
    }

    /// Returns the places of a connection's latest conflicts in one state, without what they hold, which may be large.
    public func placesOfSyncConflicts(
        of connection: String, isOpen: Bool, limit: Int
    ) throws -> [(id: String, at: Int)] {
        try rows(
            """
            SELECT id, at FROM sync_conflicts WHERE connection_id = $1 AND state = $2 ORDER BY number DESC LIMIT $3
            """, [.text(connection), .text(isOpen ? "open" : "resolved"), .integer(limit)]
        ).map { (try $0.text(required: "id"), try $0.integer(required: "at")) }
    }

    /// Returns a connection's open conflicts in the order in which they were seen.
    public func openSyncConflicts(of connection: String) throws -> [SyncConflictRow] {
        try all("WHERE connection_id = $1 AND state = 'open' ORDER BY number", [.text(connection)])
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
        try put(own)
        guard let connection = try connectionEverKnown(own.connectionID) else { return true }
        try note(
            .conflict, old == nil ? .created : .updated, in: connection.circleID, id: own.id, user: connection.userID,
            now: now)
        return true
    }

    /// Removes some resolved conflicts from before a time; returns false when none is left.
    public func pruneSyncConflicts(before time: Int, limit: Int) throws -> Bool {
        try deleteSome(
            of: "sync_conflicts", where: "state = 'resolved' AND at < $1", [.integer(time)], limit: limit) > 0
    }
}
