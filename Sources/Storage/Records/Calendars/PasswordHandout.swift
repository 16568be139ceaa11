// SPDX-License-Identifier: Apache-2.0

/// An app password that waits, sealed, for the one device that has the secret to fetch it.
public struct PasswordHandout: Hashable, Sendable {
    /// The hash of the secret.
    public var hash = ""
    public var passwordID = ""
    /// Nil once it was fetched.
    public var sealed: String?
    public var expiresAt = 0

    /// How long one is stored after it has ended, in milliseconds: a day.
    public static let memory = 86_400_000
}

extension PasswordHandout: StoredRow {
    public init(hash: String, passwordID: String, sealed: String, expiresAt: Int) {
        (self.hash, self.passwordID, self.sealed, self.expiresAt) = (hash, passwordID, sealed, expiresAt)
    }

    static let table = RecordTable<PasswordHandout>(
        "password_handouts",
        [
            .once("hash", \.hash), .once("password_id", \.passwordID), .once("sealed", \.sealed),
            .once("expires_at", \.expiresAt),
        ])
}

extension ReadTransaction {
    /// Returns what the secret with this hash fetches, even if it was fetched or has expired.
    public func passwordHandout(hash: String) throws -> PasswordHandout? {
        try first("WHERE hash = $1", [.text(hash)])
    }
}

extension WriteTransaction {
    /// - Returns: false when there is one with this hash already.
    public func insertPasswordHandout(_ handout: PasswordHandout) throws -> Bool {
        try insert(new: handout, "ON CONFLICT (hash) DO NOTHING") > 0
    }

    /// Uses one up; returns false when it was fetched before, has expired or does not exist.
    public func usePasswordHandout(hash: String, now: Int) throws -> Bool {
        try execute(
            "UPDATE password_handouts SET sealed = NULL WHERE hash = $1 AND sealed IS NOT NULL AND expires_at > $2",
            [.text(hash), .integer(now)]) > 0
    }

    /// Removes the sealed passwords that nobody fetched in time, and the rows that ended before `memory`; returns false
    /// when none is left.
    public func prunePasswordHandouts(now: Int, limit: Int) throws -> Bool {
        let emptied = try execute(
            """
            UPDATE password_handouts SET sealed = NULL WHERE hash IN (
                SELECT hash FROM password_handouts WHERE expires_at <= $1 AND sealed IS NOT NULL LIMIT $2)
            """, [.integer(now), .integer(limit)])
        let removed = try execute(
            "DELETE FROM password_handouts WHERE hash IN (SELECT hash FROM password_handouts WHERE expires_at <= $1 LIMIT $2)",
            [.integer(now - PasswordHandout.memory), .integer(limit)])
        return emptied == limit || removed == limit
    }
}
