// SPDX-License-Identifier: Apache-2.0

/// The session of a user who signed in with a password; only the hash of its token is stored.
public struct Session: Hashable, Sendable {
    public var id: String
    public var userID: String
    /// The family of the program that signed in, never its full User-Agent.
    public var client: String
    public var createdAt: Int
    public var lastUsedAt: Int
    public var expiresAt: Int

    /// How long a session lasts at most, in milliseconds: 30 days.
    public static let lifetime = 30 * 86_400_000
    /// How long a session lasts without requests, in milliseconds: 7 days.
    public static let idleLimit = 7 * 86_400_000
    public init(id: String, userID: String, client: String, now: Int) {
        self.id = id
        self.userID = userID
        self.client = client
        createdAt = now
        lastUsedAt = now
        expiresAt = now + Self.lifetime
    }

    init(_ row: SQLRow) throws {
        id = try row.text(required: "id")
        userID = try row.text(required: "user_id")
        client = try row.text(required: "client")
        createdAt = try row.integer(required: "created_at")
        lastUsedAt = try row.integer(required: "last_used_at")
        expiresAt = try row.integer(required: "expires_at")
    }
}

extension ReadTransaction {
    /// Returns the session whose token has this hash; nil once it has ended.
    public func session(hash: String, now: Int) throws -> Session? {
        try row(
            "\(select: .sessions) WHERE hash = $1 AND expires_at > $2 AND last_used_at > $3",
            [.text(hash), .integer(now), .integer(now - Session.idleLimit)]
        ).map(Session.init)
    }

    /// Returns a user's sessions that have not ended, in order of id.
    public func sessions(of user: String, after cursor: String, limit: Int, now: Int) throws -> [Session] {
        try rows(
            """
            \(select: .sessions) WHERE user_id = $1 AND id > $2 AND expires_at > $3 AND last_used_at > $4
            ORDER BY id LIMIT $5
            """,
            [.text(user), .text(cursor), .integer(now), .integer(now - Session.idleLimit), .integer(limit)]
        ).map(Session.init)
    }
}

extension WriteTransaction {
    /// - Parameter maximum: how many the user has at most; the one that was unused the longest is removed.
    public func insertSession(_ session: Session, hash: String, maximum: Int) throws {
        try execute(
            """
            INSERT INTO sessions (id, hash, user_id, client, created_at, last_used_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """,
            [
                .text(session.id), .text(hash), .text(session.userID), .text(session.client),
                .integer(session.createdAt), .integer(session.lastUsedAt), .integer(session.expiresAt),
            ])
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
