// SPDX-License-Identifier: Apache-2.0

/// A password with which one of a person's calendar apps signs in; only its hash is stored, among the tokens of feeds.
public struct AppPassword: Hashable, Sendable {
    public var id = ""
    /// The number under which its accesses are counted, of the same sequence as those of feeds; 0 until it is stored.
    public var number = 0
    public var userID = ""
    public var label = ""
    /// Whether the app may change things.
    public var mayWrite = true
    /// The circles that the app reaches; nil for all of the person's.
    public var circleIDs: [String]?
    /// Whether the app reaches the person's own calendars.
    public var reachesOwn = true
    public var createdAt = 0
    public var updatedAt = 0
    public var expiresAt: Int?
    /// When its owner ended it.
    public var endedAt: Int?
    public var accessCount = 0
    public var lastAccessedAt: Int?

    /// How long one that was ended stays with its counts, in milliseconds: 90 days.
    public static let memory = 90 * 86_400_000

    /// Whether it opens anything at a time.
    public func isLive(at now: Int) -> Bool { endedAt == nil && expiresAt ?? .max > now }
}

/// What the database stores about the hash of an app password.
public struct HashedAppPassword: Sendable {
    /// Nil once the password has been ended.
    public var password: AppPassword?
}

extension AppPassword: StoredRow {
    public init(
        id: String, userID: String, label: String, mayWrite: Bool, circleIDs: [String]?, reachesOwn: Bool,
        expiresAt: Int?, now: Int
    ) {
        self.init(
            id: id, userID: userID, label: label, mayWrite: mayWrite, circleIDs: circleIDs, reachesOwn: reachesOwn,
            createdAt: now, updatedAt: now, expiresAt: expiresAt)
    }

    static let table = RecordTable<AppPassword>(
        "app_passwords",
        [
            .once("id", \.id), .once("number", \.number, in: ColumnRules.feedNumbers), .once("user_id", \.userID),
            .init("label", \.label),
            .init("may_write", \.mayWrite), .init("circles", \.circleIDs), .init("reaches_own", \.reachesOwn),
            .once("created_at", \.createdAt), .init("updated_at", \.updatedAt), .init("expires_at", \.expiresAt),
            .shown("ended_at", \.endedAt), .computed("access_count", \.accessCount),
            .computed("last_accessed_at", \.lastAccessedAt),
        ])

    /// Selects every column, and what is computed from the accesses that were counted.
    fileprivate static let query = """
        SELECT \(columns: AppPassword.self, of: "app_passwords"), \(AccessHolder.counts(of: "app_passwords"))
        FROM app_passwords
        """
}

extension ReadTransaction {
    /// Returns an app password, even one that has ended and is still stored.
    public func appPassword(_ id: String) throws -> AppPassword? {
        try row("\(AppPassword.query) WHERE id = $1", [.text(id)]).map(AppPassword.init)
    }

    /// Returns app passwords that were not ended, in order of id.
    ///
    /// - Parameter user: nil for those of everybody.
    public func appPasswords(of user: String?, after cursor: String = "", limit: Int) throws -> [AppPassword] {
        let own = user.map { ("AND user_id = $3", [SQLValue.text($0)]) } ?? ("", [])
        return try rows(
            "\(AppPassword.query) WHERE id > $1 AND ended_at IS NULL \(own.0) ORDER BY id LIMIT $2",
            [.text(cursor), .integer(limit)] + own.1
        ).map(AppPassword.init)
    }

    /// Returns a user's app passwords that were ended since a time, the latest first.
    public func endedAppPasswords(of user: String, since time: Int, limit: Int) throws -> [AppPassword] {
        try rows(
            """
            \(AppPassword.query) WHERE user_id = $1 AND ended_at >= $2 ORDER BY ended_at DESC, id LIMIT $3
            """, [.text(user), .integer(time), .integer(limit)]
        ).map(AppPassword.init)
    }

    /// Counts a user's app passwords that were not ended.
    public func appPasswordCount(of user: String) throws -> Int {
        try row(
            "SELECT COUNT(*) AS count FROM app_passwords WHERE user_id = $1 AND ended_at IS NULL", [.text(user)])?
            .integer("count") ?? 0
    }

    /// Looks an app password up by its hash.
    ///
    /// - Returns: nil when no such password was ever made, and a value without a password once it has been ended.
    public func appPassword(hash: String) throws -> HashedAppPassword? {
        guard let token = try row("SELECT password_id FROM feed_tokens WHERE hash = $1", [.text(hash)]) else {
            return nil
        }
        let known = try token.text("password_id").flatMap { try appPassword($0) }
        return HashedAppPassword(password: known?.endedAt == nil ? known : nil)
    }
}

extension WriteTransaction {
    /// Stores a new app password with the hash by which it is looked up.
    ///
    /// - Returns: the number under which its accesses are counted.
    public func insertAppPassword(_ password: AppPassword, hash: String) throws -> Int {
        var numbered = password
        numbered.number = try nextAccessNumber()
        try insert(new: numbered)
        try execute(
            "INSERT INTO feed_tokens (hash, password_id, created_at) VALUES ($1, $2, $3)",
            [.text(hash), .text(password.id), .integer(password.createdAt)])
        return numbered.number
    }

    /// Stores the properties that its owner can change.
    public func updateAppPassword(_ password: AppPassword) throws { try update(password) }

    /// Ends an app password permanently; its hash stays, and so do its counts for `AppPassword.memory`.
    public func endAppPassword(_ id: String, now: Int) throws {
        // Whoever looks the hash up may have a clock that is behind: what has ended is detached, not only past.
        try execute(
            "UPDATE feed_tokens SET password_id = NULL, ends_at = $2 WHERE password_id = $1",
            [.text(id), .integer(now)])
        try execute("DELETE FROM password_handouts WHERE password_id = $1", [.text(id)])
        try deletePushRegistrations(ofPassword: id)
        try execute(
            "UPDATE app_passwords SET ended_at = $2, updated_at = $2 WHERE id = $1 AND ended_at IS NULL",
            [.text(id), .integer(now)])
    }

    /// Permanently ends all app passwords of a user.
    public func endAppPasswords(of user: String, now: Int) throws {
        for password in try appPasswords(of: user, limit: 10_000) { try endAppPassword(password.id, now: now) }
    }

    /// Removes some app passwords that were ended before a time, with all that was counted; returns false when none is
    /// left.
    public func pruneAppPasswords(endedBefore time: Int, limit: Int) throws -> Bool {
        let ended = try rows(
            "SELECT id, number FROM app_passwords WHERE ended_at < $1 LIMIT $2", [.integer(time), .integer(limit)])
        for password in ended {
            try forgetAccesses(of: try password.integer(required: "number"))
            try execute("DELETE FROM app_passwords WHERE id = $1", [.text(try password.text(required: "id"))])
        }
        return ended.count == limit
    }
}
