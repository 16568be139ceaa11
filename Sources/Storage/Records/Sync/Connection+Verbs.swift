// SPDX-License-Identifier: Apache-2.0

// Connections that have ended are found only by the functions that clear them away.

extension ReadTransaction {
    public func connection(_ id: String) throws -> Connection? {
        try first("WHERE id = $1 AND ending IS NULL", [.text(id)])
    }

    /// Returns a connection, ended or not.
    public func connectionEverKnown(_ id: String) throws -> Connection? {
        try first("WHERE id = $1", [.text(id)])
    }

    /// Returns a user's connections in a circle, in order of id.
    public func connections(
        of user: String, in circle: String, after cursor: String = "", limit: Int = 10_000
    ) throws -> [Connection] {
        try all(
            """
            WHERE circle_id = $1 AND user_id = $2 AND id > $3 AND ending IS NULL
            ORDER BY id LIMIT $4
            """, [.text(circle), .text(user), .text(cursor), .integer(limit)])
    }

    /// Returns all connections of a circle, in order of id.
    public func connections(in circle: String, after cursor: String, limit: Int) throws -> [Connection] {
        try all(
            "WHERE circle_id = $1 AND id > $2 AND ending IS NULL ORDER BY id LIMIT $3",
            [.text(circle), .text(cursor), .integer(limit)])
    }

    /// Returns a user's connections in all circles, in order of id.
    ///
    /// - Parameter provider: nil for all providers.
    public func connections(of user: String, by provider: Connection.Provider? = nil) throws -> [Connection] {
        try all(
            """
            WHERE user_id = $1 AND (CAST($2 AS TEXT) IS NULL OR provider = $2) AND ending IS NULL
            ORDER BY id
            """, [.text(user), SQLValue(provider?.rawValue)])
    }

    /// Returns a user's connection with this provider and this label (or without a label).
    public func connection(
        labelled label: String?, by provider: Connection.Provider, of user: String, in circle: String
    ) throws -> Connection? {
        try first(
            "WHERE circle_id = $1 AND user_id = $2 AND provider = $3 AND COALESCE(label, '') = $4 AND ending IS NULL",
            [.text(circle), .text(user), .text(provider.rawValue), .text(label ?? "")])
    }

    /// Returns how many connections a user has in a circle, with those whose events are still being removed.
    public func connectionCount(of user: String, in circle: String) throws -> Int {
        try row(
            """
            SELECT COUNT(*) AS found FROM connections
            WHERE circle_id = $1 AND user_id = $2 AND (ending IS NULL OR ending <> 'records')
            """, [.text(circle), .text(user)])?.integer("found") ?? 0
    }

    /// Returns the active connections that are due, longest overdue first. Connections of phones are left out: the
    /// phones run them.
    public func dueConnections(now: Int, limit: Int) throws -> [Connection] {
        try all(
            """
            WHERE state = 'active' AND next_sync_at <= $1 AND provider <> 'apple' AND ending IS NULL
            ORDER BY next_sync_at, id LIMIT $2
            """, [.integer(now), .integer(limit)])
    }

    /// Returns connections that have ended and whose events are still being cleared away by runs, in order of id.
    public func endingConnections(after cursor: String = "", limit: Int) throws -> [Connection] {
        try all(
            """
            WHERE ending IN ('all', 'future') AND provider <> 'apple' AND id > $1 ORDER BY id LIMIT $2
            """, [.text(cursor), .integer(limit)])
    }

    /// Returns connections that have ended, have not been removed completely, and need no run for that.
    public func connectionsBeingRemoved(limit: Int) throws -> [String] {
        try rows(
            """
            SELECT id FROM connections WHERE ending IS NOT NULL AND (ending = 'records' OR provider = 'apple') LIMIT $1
            """, [.integer(limit)]
        ).map { try $0.text(required: "id") }
    }
}

extension WriteTransaction {
    /// Stores a new or changed connection and records the change for its user.
    public func putConnection(_ own: Connection, _ kind: CircleChange.Kind, now: Int) throws {
        try recordConnection(own)
        try note(.connection, kind, in: own.circleID, id: own.id, user: own.userID, now: now)
    }

    /// Stores what changed in a connection, such as when it last ran, without recording a change.
    public func recordConnection(_ own: Connection) throws { try put(own) }

    /// Ends a connection for its user; the events that it made at the provider are cleared away later.
    ///
    /// A connection that never wrote anything, or whose events stay, is removed with its secrets at once.
    ///
    /// - Parameter ending: nil when the events stay.
    public func endConnection(_ own: Connection, _ ending: Connection.Ending?, now: Int) throws {
        try note(.connection, .deleted, in: own.circleID, id: own.id, user: own.userID, now: now)
        if own.provider == .apple { return try endPhone(own, ending, now: now) }
        guard let ending, own.calendarID != nil else { return try deleteConnection(own.id, now: now) }
        try mark(own, ending, nextRun: now, now: now)
        try execute("DELETE FROM connection_authorizations WHERE connection_id = $1", [.text(own.id)])
    }

    private func mark(_ own: Connection, _ ending: Connection.Ending, nextRun: Int?, now: Int) throws {
        try execute(
            "UPDATE connections SET ending = $2, ending_at = $3, next_sync_at = $4, updated_at = $3 WHERE id = $1",
            [.text(own.id), .text(ending.rawValue), .integer(now), SQLValue(nextRun)])
    }

    /// Ends a connection that a phone carries: the server knows what is on the phone, and the phone removes it. Events
    /// that stay there are found again by their marks.
    ///
    /// Events that the phone removes may be very many; `purgeConnection` ends them in small steps.
    private func endPhone(_ own: Connection, _ ending: Connection.Ending?, now: Int) throws {
        if ending != .all { try leavePhoneMark(own, now: now) }
        if let ending, ending != .records { return try mark(own, ending, nextRun: nil, now: now) }
        try forgetPhoneItems(of: own)
        try deleteConnection(own.id, now: now)
    }

    /// Deletes a connection: its secrets are removed at once, and nobody finds it any more. One that had an account is
    /// recorded as a former connection.
    ///
    /// Very much may have been recorded about it; `purgeConnection` removes that in small steps.
    public func deleteConnection(_ id: String, now: Int) throws {
        try execute(
            """
            INSERT INTO former_connections (circle_id, user_id, connection_id)
            SELECT circle_id, user_id, id FROM connections WHERE id = $1 AND account_id IS NOT NULL
            ON CONFLICT (circle_id, user_id, connection_id) DO NOTHING
            """, [.text(id)])
        for table in [
            "connection_credentials", "connection_authorizations", "sync_channels", "sync_wishes", "sync_leases",
        ] {
            try execute("DELETE FROM \(table) WHERE connection_id = $1", [.text(id)])
        }
        try forgetRequests(of: id)
        try execute(
            """
            UPDATE connections SET ending = 'records', ending_at = $2, next_sync_at = NULL, updated_at = $2,
                account_id = NULL, account_name = NULL, calendar_id = NULL, calendar_name = NULL
            WHERE id = $1
            """, [.text(id), .integer(now)])
    }

    /// Removes a part of what is stored about a connection that has ended and for which no calendar has to be asked any
    /// more; returns false when no part of it is left.
    public func purgeConnection(_ id: String, limit: Int) throws -> Bool {
        if let own = try connectionEverKnown(id), own.provider == .apple, let ending = own.ending, ending != .records {
            let now = own.endingAt ?? 0
            let day = ending == .future ? SyncStatistics.day(now) : nil
            if try !endSomePhoneItems(of: own, from: day, now: now, limit: limit) { try deleteConnection(id, now: now) }
            return true
        }
        let ended = "connection_id = $1 AND EXISTS (SELECT 1 FROM connections WHERE id = $1 AND ending = 'records')"
        for table in [SyncJournalRow.schema, SyncConflictRow.schema]
        where try deleteSome(of: table, where: ended, [.text(id)], limit: limit) > 0 {
            return true
        }
        if try deleteSomeSyncLinks(where: ended, [.text(id)], limit: limit) > 0 { return true }
        for table in [SyncOperationRow.schema, SyncRunRow.schema] {
            let gone = try deleteSome(
                of: table, size: "LENGTH(content)", where: ended, [.text(id)], limit: max(1, limit / 16))
            if gone > 0 { return true }
        }
        try execute("DELETE FROM connections WHERE id = $1 AND ending = 'records'", [.text(id)])
        return false
    }

    /// Ends the connections of a circle, or those of a member who leaves it: future events are cleared away.
    func endConnections(of user: String? = nil, in circle: String, now: Int) throws {
        let found: [Connection] = try all(
            """
            WHERE circle_id = $1 AND (CAST($2 AS TEXT) IS NULL OR user_id = $2) AND ending IS NULL
            """, [.text(circle), SQLValue(user)])
        for own in found { try endConnection(own, .future, now: now) }
    }
}
