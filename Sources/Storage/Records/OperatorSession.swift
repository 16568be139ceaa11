// SPDX-License-Identifier: Apache-2.0

/// A browser in which the operator's pages are open; only the hash of its token is stored.
public struct OperatorSession: Hashable, Sendable {
    public var id: String
    public var createdAt: Int
    public var lastUsedAt: Int
    public var expiresAt: Int

    /// How long a session lasts at most, in milliseconds: 2 hours.
    public static let lifetime = 2 * 3_600_000
    /// How long it lasts without requests, in milliseconds: 30 minutes.
    public static let idleLimit = 30 * 60_000
    /// How many there are at once; the oldest are removed.
    public static let maximum = 10

    public init(id: String, now: Int) {
        (self.id, createdAt, lastUsedAt, expiresAt) = (id, now, now, now + Self.lifetime)
    }

    init(_ row: SQLRow) throws {
        id = try row.text(required: "id")
        createdAt = try row.integer(required: "created_at")
        lastUsedAt = try row.integer(required: "last_used_at")
        expiresAt = try row.integer(required: "expires_at")
    }
}

extension ReadTransaction {
    /// Returns the operator's session whose token has this hash; nil once it has ended.
    public func operatorSession(hash: String, now: Int) throws -> OperatorSession? {
        try row(
            "\(select: .operatorSessions) WHERE hash = $1 AND expires_at > $2 AND last_used_at > $3",
            [.text(hash), .integer(now), .integer(now - OperatorSession.idleLimit)]
        ).map(OperatorSession.init)
    }
}

extension WriteTransaction {
    /// Stores a session and keeps only the latest few.
    public func insertOperatorSession(_ session: OperatorSession, hash: String) throws {
        try execute(
            """
            DELETE FROM operator_sessions WHERE id IN (
                SELECT id FROM operator_sessions ORDER BY created_at DESC, id LIMIT 1000 OFFSET $1)
            """, [.integer(OperatorSession.maximum - 1)])
        try execute(
            """
            INSERT INTO operator_sessions (id, hash, created_at, last_used_at, expires_at) VALUES ($1, $2, $3, $4, $5)
            """,
            [
                .text(session.id), .text(hash), .integer(session.createdAt), .integer(session.lastUsedAt),
                .integer(session.expiresAt),
            ])
    }

    public func noteUse(ofOperatorSession id: String, now: Int) throws {
        try execute("UPDATE operator_sessions SET last_used_at = $2 WHERE id = $1", [.text(id), .integer(now)])
    }

    /// Ends a session; returns false when there is no such session.
    public func deleteOperatorSession(_ id: String) throws -> Bool {
        try execute("DELETE FROM operator_sessions WHERE id = $1", [.text(id)]) > 0
    }

    /// Removes the sessions that have expired; there are few.
    public func pruneOperatorSessions(now: Int) throws {
        try execute(
            "DELETE FROM operator_sessions WHERE expires_at <= $1 OR last_used_at <= $2",
            [.integer(now), .integer(now - OperatorSession.idleLimit)])
    }
}
