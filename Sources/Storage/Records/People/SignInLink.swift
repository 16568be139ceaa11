// SPDX-License-Identifier: Apache-2.0

/// A link that signs a person in once; only the hash of its secret is stored.
public struct SignInLink: Hashable, Sendable {
    public var id = ""
    /// The hash of its secret.
    var hash = ""
    /// Nil for the operator.
    public var userID: String?
    /// The path of the page that it leads to.
    public var leadsTo = ""
    public var createdAt = 0
    public var expiresAt = 0
    public var usedAt: Int?

    /// How long a link is stored after it has ended, in milliseconds: a day.
    public static let memory = 86_400_000
    /// How many links one user has at most; the oldest are removed.
    public static let maximumOfUser = 20
}

extension SignInLink: StoredRow {
    public init(id: String, userID: String?, leadsTo: String, now: Int, lifetime: Int) {
        self.init(id: id, userID: userID, leadsTo: leadsTo, createdAt: now, expiresAt: now + lifetime)
    }

    static let table = RecordTable<SignInLink>(
        "sign_in_links",
        [
            .once("id", \.id), .once("hash", \.hash), .once("user_id", \.userID), .once("leads_to", \.leadsTo),
            .once("created_at", \.createdAt), .once("expires_at", \.expiresAt), .shown("used_at", \.usedAt),
        ])
}

extension ReadTransaction {
    /// Returns the link whose secret has this hash, including one that was used or has ended.
    public func signInLink(hash: String) throws -> SignInLink? {
        try first("WHERE hash = $1", [.text(hash)])
    }
}

extension WriteTransaction {
    /// Stores a link and keeps only the latest few of its user.
    public func insertSignInLink(_ link: SignInLink, hash: String) throws {
        try execute(
            """
            DELETE FROM sign_in_links WHERE id IN (
                SELECT id FROM sign_in_links WHERE user_id IS NOT DISTINCT FROM $1
                ORDER BY created_at DESC, id LIMIT 1000 OFFSET $2)
            """, [SQLValue(link.userID), .integer(SignInLink.maximumOfUser - 1)])
        var link = link
        link.hash = hash
        try insert(new: link)
    }

    /// Uses a link up; returns false when it was used before, has ended or does not exist.
    public func useSignInLink(hash: String, now: Int) throws -> Bool {
        try execute(
            "UPDATE sign_in_links SET used_at = $2 WHERE hash = $1 AND used_at IS NULL AND expires_at > $2",
            [.text(hash), .integer(now)]) > 0
    }

    /// Removes a user's unused links.
    public func deleteOpenSignInLinks(of user: String) throws {
        try execute("DELETE FROM sign_in_links WHERE user_id = $1 AND used_at IS NULL", [.text(user)])
    }

    /// Removes some links that ended before a time; returns false when none is left.
    public func pruneSignInLinks(before time: Int, limit: Int) throws -> Bool {
        try execute(
            "DELETE FROM sign_in_links WHERE id IN (SELECT id FROM sign_in_links WHERE expires_at <= $1 LIMIT $2)",
            [.integer(time), .integer(limit)]) == limit
    }
}
