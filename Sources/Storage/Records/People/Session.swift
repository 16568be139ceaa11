// SPDX-License-Identifier: Apache-2.0

/// The session of a user who signed in with a password, with a link or at a provider; only the hash of its token is stored.
public struct Session: Hashable, Sendable {
    public var id = ""
    /// The hash of its token.
    var hash = ""
    public var userID = ""
    /// The family of the program that signed in, never its full User-Agent.
    public var client = ""
    public var createdAt = 0
    public var lastUsedAt = 0
    public var expiresAt = 0
    /// The sealed ID token of the provider at which the user signed in; nil for another sign-in.
    public var sealedIDToken: String?
    /// When the provider asked the user for proof, 0 if it did not say; nil for another sign-in.
    public var provedAt: Int?

    /// How long a session lasts at most, in milliseconds: 30 days.
    public static let lifetime = 30 * 86_400_000
    /// How long a session lasts without requests, in milliseconds: 7 days.
    public static let idleLimit = 7 * 86_400_000
}

extension Session: StoredRow {
    public init(id: String, userID: String, client: String, now: Int) {
        self.init(
            id: id, userID: userID, client: client, createdAt: now, lastUsedAt: now, expiresAt: now + Self.lifetime)
    }

    static let table = RecordTable<Session>(
        "sessions",
        [
            .once("id", \.id), .once("hash", \.hash), .once("user_id", \.userID), .once("client", \.client),
            .once("created_at", \.createdAt), .once("last_used_at", \.lastUsedAt), .once("expires_at", \.expiresAt),
            .once("sealed_id_token", \.sealedIDToken), .once("proved_at", \.provedAt),
        ])
}

extension ReadTransaction {
    /// Returns the session whose token has this hash; nil once it has ended.
    public func session(hash: String, now: Int) throws -> Session? {
        try first(
            "WHERE hash = $1 AND expires_at > $2 AND last_used_at > $3",
            [.text(hash), .integer(now), .integer(now - Session.idleLimit)])
    }

    /// Returns a user's session with this id, even one that has ended and is still stored.
    public func session(_ id: String, of user: String) throws -> Session? {
        try first("WHERE id = $1 AND user_id = $2", [.text(id), .text(user)])
    }

    /// Returns a user's sessions that have not ended, in order of id.
    public func sessions(of user: String, after cursor: String, limit: Int, now: Int) throws -> [Session] {
        try all(
            """
            WHERE user_id = $1 AND id > $2 AND expires_at > $3 AND last_used_at > $4
            ORDER BY id LIMIT $5
            """,
            [.text(user), .text(cursor), .integer(now), .integer(now - Session.idleLimit), .integer(limit)])
    }
}

extension WriteTransaction {
    /// - Parameter maximum: how many the user has at most; the one that was unused the longest is removed.
    public func insertSession(_ session: Session, hash: String, maximum: Int) throws {
        var session = session
        session.hash = hash
        try insert(new: session)
        try execute(
            """
            DELETE FROM sessions WHERE user_id = $1 AND id NOT IN (
                SELECT id FROM sessions WHERE user_id = $1 ORDER BY last_used_at DESC, created_at DESC, id LIMIT $2)
            """, [.text(session.userID), .integer(maximum)])
    }

    public func noteUse(ofSession id: String, now: Int) throws {
        try execute("UPDATE sessions SET last_used_at = $2 WHERE id = $1", [.text(id), .integer(now)])
    }

    /// Ends a user's session; returns false when the user has no such session.
    public func deleteSession(_ id: String, of user: String) throws -> Bool {
        try execute("DELETE FROM sessions WHERE id = $1 AND user_id = $2", [.text(id), .text(user)]) > 0
    }

    /// Ends a user's sessions, except for `id` when it is given.
    public func deleteSessions(of user: String, except id: String?) throws {
        try execute("DELETE FROM sessions WHERE user_id = $1 AND id <> $2", [.text(user), .text(id ?? "")])
    }

    /// Removes the sessions that have expired.
    public func pruneSessions(now: Int) throws { try deleteSessions(try endedSessions(now: now, limit: .max)) }

    public func deleteSessions(_ ids: some Sequence<String>) throws {
        for id in ids { try execute("DELETE FROM sessions WHERE id = $1", [.text(id)]) }
    }
}

extension ReadTransaction {
    /// Returns the sessions that have expired.
    public func endedSessions(now: Int, limit: Int) throws -> [String] {
        try rows(
            "SELECT id FROM sessions WHERE expires_at <= $1 OR last_used_at <= $2 LIMIT $3",
            [.integer(now), .integer(now - Session.idleLimit), .integer(limit)]
        ).map { try $0.text(required: "id") }
    }
}
