// SPDX-License-Identifier: Apache-2.0

/// The second factor of a user who signs in with a password; its secret is stored sealed.
public struct SecondFactor: Hashable, Sendable {
    public var userID = ""
    public var sealed = ""
    public var createdAt = 0
    /// When a code showed that the user's app has the secret; nil before that, when nothing depends on it yet.
    public var confirmedAt: Int?
    /// The latest time step whose code was used; 0 before the first.
    public var lastStep = 0

    public var isActive: Bool { confirmedAt != nil }
}

extension SecondFactor: StoredRow {
    static let table = RecordTable<SecondFactor>(
        "second_factors",
        [
            .once("user_id", \.userID), .once("sealed", \.sealed), .once("created_at", \.createdAt),
            .shown("confirmed_at", \.confirmedAt), .once("last_step", \.lastStep, in: 0...1 << 53),
        ])
}

extension ReadTransaction {
    /// Returns a user's second factor, including one that is not confirmed.
    public func secondFactor(of user: String) throws -> SecondFactor? {
        try first("WHERE user_id = $1", [.text(user)])
    }

    /// Returns how many recovery codes a user has left.
    public func recoveryCodeCount(of user: String) throws -> Int {
        try row("SELECT COUNT(*) AS codes FROM recovery_codes WHERE user_id = $1", [.text(user)])?
            .integer("codes") ?? 0
    }
}

extension WriteTransaction {
    /// Stores the secret of a second factor that is still to be confirmed, in place of an earlier one like it; returns
    /// false and changes nothing when the user has an active one.
    public func beginSecondFactor(of user: String, sealed: String, now: Int) throws -> Bool {
        try insert(
            new: SecondFactor(userID: user, sealed: sealed, createdAt: now),
            """
            ON CONFLICT (user_id) DO UPDATE SET sealed = EXCLUDED.sealed, created_at = EXCLUDED.created_at
            WHERE second_factors.confirmed_at IS NULL
            """) > 0
    }

    /// Activates a second factor; returns false when it is active already, or not there.
    ///
    /// - Parameter step: the time step of the code that confirms it, which no sign-in may use.
    public func confirmSecondFactor(of user: String, step: Int, now: Int) throws -> Bool {
        try execute(
            "UPDATE second_factors SET confirmed_at = $2, last_step = $3 WHERE user_id = $1 AND confirmed_at IS NULL",
            [.text(user), .integer(now), .integer(step)]) > 0
    }

    /// Uses up a time step and all before it; returns false when it was used before, so that of several servers with
    /// the same code only one accepts it.
    public func useStep(_ step: Int, ofSecondFactorOf user: String) throws -> Bool {
        try execute(
            """
            UPDATE second_factors SET last_step = $2
            WHERE user_id = $1 AND confirmed_at IS NOT NULL AND last_step < $2
            """, [.text(user), .integer(step)]) > 0
    }

    /// Uses up a recovery code; returns false when the user has no such code.
    public func useRecoveryCode(hash: String, of user: String) throws -> Bool {
        try execute("DELETE FROM recovery_codes WHERE user_id = $1 AND hash = $2", [.text(user), .text(hash)]) > 0
    }

    /// Stores recovery codes in place of a user's former ones.
    public func putRecoveryCodes(_ hashes: [String], of user: String) throws {
        try execute("DELETE FROM recovery_codes WHERE user_id = $1", [.text(user)])
        for hash in hashes {
            try execute("INSERT INTO recovery_codes (user_id, hash) VALUES ($1, $2)", [.text(user), .text(hash)])
        }
    }

    /// Removes a user's second factor with its recovery codes; returns false when there was no active one.
    public func deleteSecondFactor(of user: String) throws -> Bool {
        let wasActive = try secondFactor(of: user)?.isActive ?? false
        try execute("DELETE FROM second_factors WHERE user_id = $1", [.text(user)])
        return wasActive
    }

    /// Removes a second factor that was begun and never confirmed: somebody who knew the old password may have begun it.
    public func deleteUnconfirmedSecondFactor(of user: String) throws {
        try execute("DELETE FROM second_factors WHERE user_id = $1 AND confirmed_at IS NULL", [.text(user)])
    }
}
