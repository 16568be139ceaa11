// SPDX-License-Identifier: Apache-2.0

/// Failed attempts to sign in with a password, of one user or one network.
public struct SignInFailures: Hashable, Sendable {
    /// The user or network that they are counted for, which this module does not interpret.
    public var name = ""
    public var count = 0
    public var lastAt = 0
    /// Until when the next attempt is refused without being checked.
    public var untilAt = 0

    /// How many are stored; the oldest are removed first.
    public static let maximum = 10_000

    init() {}

    public init(name: String, count: Int = 0, lastAt: Int = 0, untilAt: Int = 0) {
        (self.name, self.count, self.lastAt, self.untilAt) = (name, count, lastAt, untilAt)
    }
}

extension SignInFailures: StoredRow {
    static let table = RecordTable<SignInFailures>(
        "sign_in_failures",
        [
            .init("name", \.name), .init("count", \.count), .init("last_at", \.lastAt), .init("until_at", \.untilAt),
        ])
}

/// Networks from which a user has signed in.
public enum SignInHomes {
    /// How many are stored for one user, and for all users; the one that was unused the longest is removed.
    public static let maximumOfUser = 8
    public static let maximum = 100_000
}

extension ReadTransaction {
    /// Returns all stored failures, oldest first.
    public func latestSignInFailures() throws -> [SignInFailures] {
        try rows(
            """
            SELECT \(columns: SignInFailures.self, of: "latest")
            FROM (\(select: SignInFailures.self) ORDER BY last_at DESC, name LIMIT $1) AS latest ORDER BY last_at
            """, [.integer(SignInFailures.maximum)]
        ).map(SignInFailures.init)
    }

    /// Returns the failures that are stored under a name.
    public func signInFailures(_ name: String) throws -> SignInFailures? {
        try first("WHERE name = $1", [.text(name)])
    }

    /// Whether the user has signed in from this network before.
    public func isSignInHome(_ network: String, of user: String) throws -> Bool {
        try row(
            "SELECT 1 AS found FROM sign_in_homes WHERE user_id = $1 AND network = $2", [.text(user), .text(network)])
            != nil
    }

    public func signInHomes(of user: String) throws -> [String] {
        try rows("SELECT network FROM sign_in_homes WHERE user_id = $1 ORDER BY used_at", [.text(user)])
            .map { try $0.text(required: "network") }
    }
}

extension WriteTransaction {
    public func putSignInFailures(_ failures: SignInFailures) throws { try put(failures) }

    public func deleteSignInFailures(_ name: String) throws {
        try execute("DELETE FROM sign_in_failures WHERE name = $1", [.text(name)])
    }

    /// Removes failures from before a time, and the oldest of the rest beyond the bound.
    public func pruneSignInFailures(before time: Int) throws {
        try execute("DELETE FROM sign_in_failures WHERE last_at < $1", [.integer(time)])
        try execute(
            """
            DELETE FROM sign_in_failures WHERE name NOT IN (
                SELECT name FROM sign_in_failures ORDER BY last_at DESC, name LIMIT $1)
            """, [.integer(SignInFailures.maximum)])
    }

    /// Records that a user signed in from a network.
    public func putSignInHome(_ network: String, of user: String, now: Int) throws {
        try execute(
            """
            INSERT INTO sign_in_homes (user_id, network, used_at) VALUES ($1, $2, $3)
            ON CONFLICT (user_id, network) DO UPDATE SET used_at = EXCLUDED.used_at
            """, [.text(user), .text(network), .integer(now)])
        try execute(
            """
            DELETE FROM sign_in_homes WHERE user_id = $1 AND network NOT IN (
                SELECT network FROM sign_in_homes WHERE user_id = $1 ORDER BY used_at DESC, network LIMIT $2)
            """, [.text(user), .integer(SignInHomes.maximumOfUser)])
    }

    /// Removes networks of users who no longer have a password, and the oldest of the rest beyond the bound.
    public func pruneSignInHomes() throws {
        try execute("DELETE FROM sign_in_homes WHERE user_id NOT IN (SELECT user_id FROM passwords)", [])
        try execute(
            """
            DELETE FROM sign_in_homes WHERE used_at < (
                SELECT used_at FROM sign_in_homes ORDER BY used_at DESC LIMIT 1 OFFSET $1)
            """, [.integer(SignInHomes.maximum)])
    }
}
