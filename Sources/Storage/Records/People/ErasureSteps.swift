// SPDX-License-Identifier: Apache-2.0

// The steps of an erasure. Each takes a few rows, and does nothing where it was done before.

extension ReadTransaction {
    /// Returns the circles that a person is or was a member of, and whether each was deleted.
    public func circlesEverOf(_ user: String) throws -> [(id: String, isDeleted: Bool)] {
        try rows(
            """
            SELECT circles.id AS id, circles.deleted_at AS deleted_at FROM circles
            JOIN members ON members.circle_id = circles.id AND members.user_id = $1 ORDER BY circles.id
            """, [.text(user)]
        ).map { (try $0.text(required: "id"), $0.integer("deleted_at") != nil) }
    }

    /// Returns the numbers of the oldest and the latest row of a table that counts its rows; nil for an empty table.
    fileprivate func span(of column: String, in table: SchemaTable) throws -> ClosedRange<Int>? {
        let row = try row(
            """
            SELECT (SELECT MIN(\(column)) FROM \(table.name)) AS first, (SELECT MAX(\(column)) FROM \(table.name)) AS last
            """, [])
        guard let first = row?.integer("first"), let last = row?.integer("last") else { return nil }
        return first...last
    }

    /// Returns the numbers that changes of all circles have.
    public func changeSpan() throws -> ClosedRange<Int>? { try span(of: "sequence", in: CircleChange.schema) }

    /// Returns the accounts at providers that a person has joined, as the entries of the audit trail with these numbers
    /// say in their details.
    public func detailsOfJoinedAccounts(of user: String, in numbers: ClosedRange<Int>) throws -> [String] {
        try rows(
            """
            SELECT detail FROM audit_trail
            WHERE number >= $2 AND number <= $3 AND subject = $1 AND action = 'providerAccount.joined'
            """, [.text(user), .integer(numbers.lowerBound), .integer(numbers.upperBound)]
        ).map { try $0.text(required: "detail") }
    }

    /// Returns the numbers that entries of the audit trail have.
    public func auditSpan() throws -> ClosedRange<Int>? { try span(of: "number", in: AuditEntry.schema) }

    /// Whether anything is left that an erasure removes.
    public func hasRows(of user: String) throws -> Bool {
        try PersonTable.all.contains { table in
            guard [.removed, .removedTogether].contains(table.fate) || table.name.isSameText(as: "members") else {
                return false
            }
            return try !personRows(of: user, in: table, after: nil).rows.isEmpty
        }
    }
}

extension WriteTransaction {
    /// Removes some of the records that hold other records of a person: feeds, app passwords, connections, own calendars, and
    /// imports that nobody else has anything of; returns false once none of these is left.
    public func removeHoldings(of user: String, in erasure: String, limit: Int, now: Int) throws -> Bool {
        try removeFeed(of: user, in: erasure, limit: limit, now: now)
            || removeAppPassword(of: user, in: erasure, now: now)
            || removeConnection(of: user, in: erasure, limit: limit, now: now)
            || removeOwnCalendar(of: user, in: erasure, limit: limit, now: now)
            || removeImport(of: user, in: erasure, limit: limit)
    }

    /// Forgets how many events a person has that nobody else sees, once these are removed.
    public func forgetOwnSource(of user: String) throws {
        try execute(
            "DELETE FROM event_sources WHERE \(PersonTable.circles) AND source = $2",
            [.text(user), .text(EventSource.own(user).text)])
    }

    /// Removes some rows of a table that only has what is a person's; returns false once none is left.
    public func removeSome(of user: String, in table: PersonTable, _ erasure: String, limit: Int) throws -> Bool {
        let gone = try removeRows(of: user, in: table, limit: limit)
        try count(gone, of: table.name, in: erasure)
        return gone > 0
    }

    private func removeFeed(of user: String, in erasure: String, limit: Int, now: Int) throws -> Bool {
        let found = try row(
            "SELECT id, number FROM feeds WHERE \(PersonTable.circles) AND user_id = $1 LIMIT 1", [.text(user)])
        guard let found else { return false }
        if try removeFeed(found, endedAt: now, limit: limit) { try count(1, of: Feed.schema.name, in: erasure) }
        return true
    }

    private func removeAppPassword(of user: String, in erasure: String, now: Int) throws -> Bool {
        guard let found = try row("SELECT id, number FROM app_passwords WHERE user_id = $1 LIMIT 1", [.text(user)])
        else { return false }
        let id = try found.text(required: "id")
        try endAppPassword(id, now: now)
        try forgetAccesses(of: try found.integer(required: "number"))
        try execute("DELETE FROM app_passwords WHERE id = $1", [.text(id)])
        try count(1, of: AppPassword.schema.name, in: erasure)
        return true
    }

    private func removeConnection(of user: String, in erasure: String, limit: Int, now: Int) throws -> Bool {
        let found: Connection? = try first("WHERE user_id = $1 ORDER BY id LIMIT 1", [.text(user)])
        guard let found else { return false }
        if found.ending == nil || found.provider != .apple && found.ending != .records {
            try endAllConnections(of: user, now: now)
        } else if try !purgeConnection(found.id, limit: limit) {
            try count(1, of: Connection.schema.name, in: erasure)
        }
        return true
    }

    private func removeOwnCalendar(of user: String, in erasure: String, limit: Int, now: Int) throws -> Bool {
        let found: OwnCalendar? = try first("WHERE user_id = $1 ORDER BY id LIMIT 1", [.text(user)])
        guard let found else { return false }
        if found.deletedAt == nil { try deleteOwnCalendar(found, now: now) }
        if try !purgeOwnCalendar(found.id, limit: limit) {
            try count(1, of: OwnCalendar.schema.name, in: erasure)
        }
        return true
    }

    /// Removes an import that nobody else has anything of: a preview, or one of events that only the person saw.
    private func removeImport(of user: String, in erasure: String, limit: Int) throws -> Bool {
        let found = try row(
            """
            SELECT id FROM imports WHERE \(PersonTable.circles) AND imported_by = $1
                AND (state = 'previewed' OR NOT EXISTS (
                    SELECT 1 FROM import_changes WHERE import_id = imports.id AND source IN ($2, $3)))
            LIMIT 1
            """, [.text(user), .text(EventSource.shared.text), .text(EventSource.tasks.text)])
        guard let id = found?.text("id") else { return false }
        try forgetImport(id)
        if try !purgeForgottenImport(id, limit: limit) { try count(1, of: ImportRecord.schema.name, in: erasure) }
        return true
    }

    /// Adds the made-up id of an erasure to a circle as a former member, which takes the person's place there; returns
    /// false where nothing names the person.
    public func beginRenaming(of user: String, in circle: String, _ erasure: Erasure, now: Int) throws -> Bool {
        guard let member = try memberEverKnown(user, in: circle) else { return false }
        if member.leftAt == nil { _ = try removeMember(user, from: circle, now: now) }
        let pseudonym = erasure.pseudonym
        if try memberEverKnown(pseudonym, in: circle) == nil {
            try put(
                Member(
                    circleID: circle, userID: pseudonym, displayName: Erasure.name, role: .viewer,
                    createdAt: member.createdAt, updatedAt: now, leftAt: now))
        }
        return true
    }

    /// Removes a person from a circle in which nothing else names them any more.
    ///
    /// - Parameter titles: the collections whose items look different when the name changes.
    public func endRenaming(
        of user: String, in circle: String, _ erasure: Erasure, _ titles: NamesInTitles, now: Int
    ) throws {
        let pseudonym = erasure.pseudonym
        try execute(
            "UPDATE revisions_due SET subject = $3 WHERE circle_id = $1 AND reason = 'owner' AND subject = $2",
            [.text(circle), .text(user), .text(pseudonym)])
        try execute("DELETE FROM members WHERE circle_id = $1 AND user_id = $2", [.text(circle), .text(user)])
        try count(1, of: Member.schema.name, areKept: true, in: erasure.id)
        try touchCircle(circle, now: now)
        try revise(because: .owner(pseudonym), in: circle, titles, now: now)
    }

    /// Puts the made-up id in the place of a person in the changes with these sequence numbers.
    public func renameChanges(of user: String, _ erasure: Erasure, in numbers: ClosedRange<Int>) throws {
        func name(_ parameter: String) -> String { "'user:' || CAST(\(parameter) AS TEXT)" }
        let found = try execute(
            """
            UPDATE changes SET
                user_id = CASE WHEN user_id = $1 THEN $2 ELSE user_id END,
                author = CASE WHEN author = \(name("$1")) THEN \(name("$2")) ELSE author END,
                item_id = CASE WHEN type = 'member' AND item_id = $1 OR type = 'event' AND user_id = $1 THEN $2
                    ELSE item_id END
            WHERE sequence >= $3 AND sequence <= $4 AND (\(PersonTable.changed))
            """,
            [
                .text(user), .text(erasure.pseudonym), .integer(numbers.lowerBound), .integer(numbers.upperBound),
            ])
        try count(found, of: CircleChange.schema.name, areKept: true, in: erasure.id)
    }

    /// Takes the names out of the entries of the audit trail with these numbers that name a person; returns how many.
    public func anonymizeAuditEntries(
        naming user: String, in erasure: String, _ numbers: ClosedRange<Int>
    ) throws -> Int {
        try anonymizeAuditEntries(where: PersonTable.naming, [.text(user)], in: erasure, numbers)
    }

    /// Takes the names out of the entries of the audit trail with these numbers by which an account has opened the
    /// operator's pages; returns how many.
    ///
    /// - Parameter accounts: details of the accounts that a person has joined, perhaps only after that.
    public func anonymizeOpenings(
        with accounts: [String], in erasure: String, _ numbers: ClosedRange<Int>
    ) throws -> Int {
        guard !accounts.isEmpty else { return 0 }
        let details = SQLText.parameters(accounts.count, from: 1)
        return try anonymizeAuditEntries(
            where: "action = 'operatorSession.created' AND detail IN (\(details))", accounts.map { .text($0) },
            in: erasure, numbers)
    }

    private func anonymizeAuditEntries(
        where condition: String, _ values: [SQLValue], in erasure: String, _ numbers: ClosedRange<Int>
    ) throws -> Int {
        let (from, to) = ("$\(values.count + 1)", "$\(values.count + 2)")
        let found = try execute(
            """
            UPDATE audit_trail SET actor = '', subject = '', detail = '{}', salt = ''
            WHERE number >= \(from) AND number <= \(to) AND (\(condition))
            """, values + [.integer(numbers.lowerBound), .integer(numbers.upperBound)])
        try count(found, of: AuditEntry.schema.name, areKept: true, in: erasure)
        return found
    }

    /// Removes a person's devices, once the audit trail no longer names them.
    public func removeDevices(of user: String, in erasure: String) throws {
        try count(try execute("DELETE FROM devices WHERE user_id = $1", [.text(user)]), of: "devices", in: erasure)
    }
}
