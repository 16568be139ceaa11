// SPDX-License-Identifier: Apache-2.0

/// The password of a user who signs in here; only a slow hash of it is stored.
public struct Password: Hashable, Sendable {
    public var userID = ""
    /// The hash with its parameters and salt, in the format of whoever made it.
    public var hash = ""
    public var createdAt = 0
    public var changedAt = 0
}

extension Password: StoredRow {
    static let table = RecordTable<Password>(
        "passwords",
        [
            .init("user_id", \.userID), .init("hash", \.hash), .once("created_at", \.createdAt),
            .init("changed_at", \.changedAt),
        ])
}

/// A user with a password, as lists show one.
public struct ListedUser: Hashable, Sendable {
    public var id: String
    public var createdAt: Int
    public var changedAt: Int
    /// The number of sessions that have not ended.
    public var sessions: Int
    public var devices: Int
    /// When the user's second factor was confirmed; nil for a user without one.
    public var secondFactorAt: Int?
}

extension ReadTransaction {
    public func password(of user: String) throws -> Password? {
        try first("WHERE user_id = $1", [.text(user)])
    }

    /// Returns users with a password, in order of id.
    public func usersWithPassword(after cursor: String, limit: Int, now: Int) throws -> [ListedUser] {
        try rows(
            """
            SELECT user_id, created_at, changed_at,
                (SELECT COUNT(*) FROM sessions WHERE sessions.user_id = passwords.user_id
                    AND expires_at > $1 AND last_used_at > $2) AS sessions,
                (SELECT COUNT(*) FROM devices WHERE devices.user_id = passwords.user_id) AS devices,
                (SELECT confirmed_at FROM second_factors WHERE second_factors.user_id = passwords.user_id)
                    AS second_factor_at
            FROM passwords WHERE user_id > $3 ORDER BY user_id LIMIT $4
            """, [.integer(now), .integer(now - Session.idleLimit), .text(cursor), .integer(limit)]
        ).map { row in
            ListedUser(
                id: try row.text(required: "user_id"), createdAt: try row.integer(required: "created_at"),
                changedAt: try row.integer(required: "changed_at"), sessions: try row.integer(required: "sessions"),
                devices: try row.integer(required: "devices"), secondFactorAt: row.integer("second_factor_at"))
        }
    }
}

extension WriteTransaction {
    /// Sets or replaces a password; returns true when the user had none.
    public func putPassword(of user: String, hash: String, now: Int) throws -> Bool {
        let isNew = try password(of: user) == nil
        try put(Password(userID: user, hash: hash, createdAt: now, changedAt: now))
        return isNew
    }

    /// Stores a stronger hash of the same password.
    public func rehashPassword(of user: String, hash: String) throws {
        try execute("UPDATE passwords SET hash = $2 WHERE user_id = $1", [.text(user), .text(hash)])
    }

    /// Deletes a user's password; returns false when there was none.
    public func deletePassword(of user: String) throws -> Bool {
        try execute("DELETE FROM passwords WHERE user_id = $1", [.text(user)]) > 0
    }
}
