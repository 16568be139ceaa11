// SPDX-License-Identifier: Apache-2.0

/// A browser in which the operator's pages are open; only the hash of its token is stored.
public struct OperatorSession: Hashable, Sendable {
    public var id = ""
    /// The hash of its token.
    var hash = ""
    public var createdAt = 0
    public var lastUsedAt = 0
    public var expiresAt = 0

    /// How long a session lasts at most, in milliseconds: 2 hours.
    public static let lifetime = 2 * 3_600_000
    /// How long it lasts without requests, in milliseconds: 30 minutes.
    public static let idleLimit = 30 * 60_000
    /// How many there are at once; the oldest are removed.
    public static let maximum = 10
}

extension OperatorSession: StoredRow {
    public init(id: String, now: Int) {
        self.init(id: id, createdAt: now, lastUsedAt: now, expiresAt: now + Self.lifetime)
    }

    static let table = RecordTable<OperatorSession>(
        "operator_sessions",
        [
            .once("id", \.id), .once("hash", \.hash), .once("created_at", \.createdAt),
            .once("last_used_at", \.lastUsedAt), .once("expires_at", \.expiresAt),
        ])
}

extension ReadTransaction {
    /// Returns the operator's session whose token has this hash; nil once it has ended.
    public func operatorSession(hash: String, now: Int) throws -> OperatorSession? {
        try first(
            "WHERE hash = $1 AND expires_at > $2 AND last_used_at > $3",
            [.text(hash), .integer(now), .integer(now - OperatorSession.idleLimit)])
    }

    /// Whether a session with this id is stored, even one that has ended.
    public func hasOperatorSession(_ id: String) throws -> Bool {
        try row("SELECT 1 AS found FROM operator_sessions WHERE id = $1", [.text(id)]) != nil
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
        var session = session
        session.hash = hash
        try insert(new: session)
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
