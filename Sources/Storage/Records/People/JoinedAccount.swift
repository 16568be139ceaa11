// SPDX-License-Identifier: Apache-2.0

/// An account at a provider of OpenID Connect with which a user signs in.
public struct JoinedAccount: Hashable, Sendable {
    /// The provider's issuer identifier.
    public var issuer = ""
    /// The account's `sub`, which the provider never gives to another account.
    public var subject = ""
    public var userID = ""
    public var createdAt = 0
}

extension JoinedAccount: StoredRow {
    public init(_ subject: String, at issuer: String, of user: String, now: Int) {
        self.init(issuer: issuer, subject: subject, userID: user, createdAt: now)
    }

    static let table = RecordTable<JoinedAccount>(
        "joined_accounts",
        [
            .once("issuer", \.issuer), .once("subject", \.subject), .once("user_id", \.userID),
            .once("created_at", \.createdAt),
        ])
}

extension ReadTransaction {
    /// Returns the account with this subject at a provider, if a user has it.
    public func joinedAccount(_ subject: String, at issuer: String) throws -> JoinedAccount? {
        try first("WHERE issuer = $1 AND subject = $2", [.text(issuer), .text(subject)])
    }

    /// Returns the account at a provider with which a user signs in.
    public func joinedAccount(of user: String, at issuer: String) throws -> JoinedAccount? {
        try first("WHERE issuer = $1 AND user_id = $2", [.text(issuer), .text(user)])
    }

    /// Whether a user has a credential of their own: a password, a device or an app password.
    public func hasOwnCredential(_ user: String) throws -> Bool {
        try row(
            """
            SELECT 1 AS found FROM passwords WHERE user_id = $1
            UNION ALL SELECT 1 FROM devices WHERE user_id = $1
            UNION ALL SELECT 1 FROM app_passwords WHERE user_id = $1 LIMIT 1
            """, [.text(user)]) != nil
    }

    /// Whether anything is stored about a user: a place in a circle, now or before, or a property.
    public func isKnown(_ user: String) throws -> Bool {
        try row(
            """
            SELECT 1 AS found FROM members WHERE user_id = $1
            UNION ALL SELECT 1 FROM users WHERE id = $1
            UNION ALL SELECT 1 FROM sessions WHERE user_id = $1
            UNION ALL SELECT 1 FROM joined_accounts WHERE user_id = $1
            UNION ALL SELECT 1 FROM own_calendars WHERE user_id = $1 LIMIT 1
            """, [.text(user)]) != nil
    }
}

extension WriteTransaction {
    public func insertJoinedAccount(_ account: JoinedAccount) throws { try insert(new: account) }

    /// Removes a user's accounts at all providers; returns false when there were none.
    public func deleteJoinedAccounts(of user: String) throws -> Bool {
        try execute("DELETE FROM joined_accounts WHERE user_id = $1", [.text(user)]) > 0
    }
}
