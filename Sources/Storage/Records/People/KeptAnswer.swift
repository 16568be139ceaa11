// SPDX-License-Identifier: Apache-2.0

/// The answer to a request with a key, for the same request sent again.
public struct KeptAnswer: Hashable, Sendable {
    /// A hash of the caller, the operation and the key.
    public var name = ""
    /// A hash of the caller, whose answers are limited in number.
    var caller = ""
    /// The answer and a hash of its request, sealed.
    public var sealed = ""
    /// When it ends, in milliseconds since 1970.
    var endsAt = 0
}

extension KeptAnswer: StoredRow {
    public init(_ name: String, of caller: String, sealed: String, until end: Int) {
        self.init(name: name, caller: caller, sealed: sealed, endsAt: end)
    }

    static let table = RecordTable<KeptAnswer>(
        "kept_answers",
        [
            .init("name", \.name), .init("caller", \.caller), .init("sealed", \.sealed), .init("ends_at", \.endsAt),
        ])
}

extension ReadTransaction {
    /// Returns the answer with this name that has not ended.
    public func keptAnswer(_ name: String, now: Int) throws -> KeptAnswer? {
        try first("WHERE name = $1 AND ends_at > $2", [.text(name), .integer(now)])
    }

    /// Whether a caller has at least `count` answers that have not ended.
    public func hasKeptAnswers(_ count: Int, of caller: String, now: Int) throws -> Bool {
        try row(
            "SELECT 1 AS found FROM kept_answers WHERE caller = $1 AND ends_at > $2 LIMIT 1 OFFSET $3",
            [.text(caller), .integer(now), .integer(count - 1)]) != nil
    }
}

extension WriteTransaction {
    /// Stores a new answer; returns false when there is one with its name that has not ended.
    public func keep(_ answer: KeptAnswer, now: Int) throws -> Bool {
        try insert(
            new: answer,
            """
            ON CONFLICT (name) DO UPDATE SET caller = EXCLUDED.caller, sealed = EXCLUDED.sealed,
                ends_at = EXCLUDED.ends_at WHERE kept_answers.ends_at <= $5
            """, [.integer(now)]) > 0
    }

    /// Stores an answer in place of the one with its name, or as a new one.
    public func replace(_ answer: KeptAnswer) throws { try put(answer) }

    public func forgetKeptAnswer(_ name: String) throws {
        try execute("DELETE FROM kept_answers WHERE name = $1", [.text(name)])
    }

    /// Forgets some of the answers of a caller; returns false when none is left.
    public func forgetKeptAnswers(of caller: String, limit: Int) throws -> Bool {
        try execute(
            """
            DELETE FROM kept_answers WHERE name IN (
                SELECT name FROM kept_answers WHERE caller = $1 LIMIT $2)
            """, [.text(caller), .integer(limit)]) == limit
    }

    /// Removes some of the answers that have ended; returns false when none is left.
    public func pruneKeptAnswers(now: Int, limit: Int) throws -> Bool {
        try execute(
            """
            DELETE FROM kept_answers WHERE name IN (
                SELECT name FROM kept_answers WHERE ends_at <= $1 LIMIT $2)
            """, [.integer(now), .integer(limit)]) == limit
    }
}
