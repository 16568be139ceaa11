// SPDX-License-Identifier: Apache-2.0

/// The circles to which a service key is bound; for everything else there is nothing.
public enum CircleBound: Hashable, Sendable {
    /// These circles, in order of id.
    case circles([String])
    /// Every circle whose id begins with this.
    case prefix(String)

    /// The maximum number of circles that a key names.
    public static let most = 100

    public func contains(_ circle: String) -> Bool {
        switch self {
        case .circles(let ids): ids.contains { $0.isSameText(as: circle) }
        case .prefix(let start): circle.utf8.starts(with: start.utf8)
        }
    }

    /// Whether every circle of another bound is one of this.
    public func includes(_ other: CircleBound) -> Bool {
        switch (self, other) {
        case (_, .circles(let ids)): ids.allSatisfy(contains)
        case (.prefix(let own), .prefix(let start)): start.utf8.starts(with: own.utf8)
        case (.circles, .prefix): false
        }
    }

    /// The condition that a column has one of the circles, written so that the column's index is used.
    ///
    /// - Parameter number: the number of the condition's first argument.
    fileprivate func condition(_ column: String, from number: Int) -> (sql: String, arguments: [SQLValue]) {
        switch self {
        case .circles(let ids):
            return ("\(column) IN (\(Self.placeholders(ids, from: number)))", ids.map(SQLValue.text))
        case .prefix(let start):
            // Both engines compare these texts by their bytes, and no id has DEL.
            return ("\(column) >= $\(number) AND \(column) < $\(number + 1)", [.text(start), .text(start + "\u{7F}")])
        }
    }

    /// The same condition, written so that the column's index is not used.
    fileprivate func test(_ column: String, from number: Int) -> (sql: String, arguments: [SQLValue]) {
        switch self {
        case .circles(let ids):
            return ("COALESCE(\(column), '') IN (\(Self.placeholders(ids, from: number)))", ids.map(SQLValue.text))
        case .prefix(let start):
            return ("substr(\(column), 1, \(start.utf8.count)) = $\(number)", [.text(start)])
        }
    }

    private static func placeholders(_ ids: [String], from number: Int) -> String {
        ids.indices.map { "$\(number + $0)" }.joined(separator: ", ")
    }
}

extension Feed {
    /// The condition that a column has the id of a feed that shows a user's own calendar; not of one that is deleted.
    static func showsOwn(_ column: String) -> String {
        "EXISTS (SELECT 1 FROM feeds WHERE feeds.id = \(column) AND feeds.shows_own = 1)"
    }
}

extension AuditEntry {
    /// The condition that an entry is about a feed that shows a user's own calendar.
    static var isOfOwn: String { "substr(action, 1, 5) = 'feed.' AND \(Feed.showsOwn("subject"))" }
}

extension ServiceKey {
    /// The circles to which the key is bound; nil for all. Throws `StorageError` when both of its forms are stored.
    public var bound: CircleBound? {
        get throws {
            switch (circles, circlePrefix) {
            case (nil, nil): nil
            case (let ids?, nil): .circles(ids)
            case (nil, let start?): .prefix(start)
            default: throw StorageError.unexpectedResult("A service key is bound in two ways.")
            }
        }
    }
}

extension ReadTransaction {
    /// Returns circles, or those of a user, in order of id.
    public func circles(
        of user: String?, within bound: CircleBound, after cursor: String, limit: Int
    ) throws -> [Circle] {
        let more = bound.condition("circles.id", from: 4)
        let isTheirs =
            "circles.id IN (SELECT circle_id FROM members WHERE user_id = $1 AND left_at IS NULL)"
        return try all(
            """
            WHERE (CAST($1 AS TEXT) IS NULL OR \(isTheirs)) AND circles.id > $2 AND deleted_at IS NULL
                AND \(more.sql) ORDER BY circles.id LIMIT $3
            """, [SQLValue(user), .text(cursor), .integer(limit)] + more.arguments)
    }

    /// Counts circles, but no further than a number.
    ///
    /// - Parameter bound: nil for all circles.
    public func circleCount(within bound: CircleBound?, upTo most: Int) throws -> Int {
        let more = bound?.condition("id", from: 2)
        return try count(
            """
            SELECT COUNT(*) AS count FROM (
                SELECT 1 FROM circles WHERE deleted_at IS NULL\(more.map { " AND \($0.sql)" } ?? "") LIMIT $1
            ) AS found
            """, [.integer(most)] + (more?.arguments ?? []))
    }

    /// Counts feeds of circles, including those that have ended, but no further than a number.
    ///
    /// - Parameter bound: nil for all circles.
    public func feedCount(within bound: CircleBound?, upTo most: Int) throws -> Int {
        let more = bound?.condition("circle_id", from: 2)
        return try count(
            """
            SELECT COUNT(*) AS count FROM (
                SELECT 1 FROM feeds\(more.map { " WHERE \($0.sql)" } ?? "") LIMIT $1
            ) AS found
            """, [.integer(most)] + (more?.arguments ?? []))
    }

    /// How many rows of all circles are looked at together for those of a few.
    static var lookedAtTogether: Int { 10_000 }

    /// Returns changes of these circles among the next of all, in order, and the number up to which these are all; those of
    /// feeds that show a user's own calendar are left out.
    public func changes(
        afterSequence sequence: Int, within bound: CircleBound, limit: Int
    ) throws -> (found: [CircleChange], end: Int) {
        let (more, end) = (bound.test("circle_id", from: 4), sequence + Self.lookedAtTogether)
        let found: [CircleChange] = try all(
            """
            WHERE sequence > $1 AND sequence <= $2 AND \(more.sql)
                AND NOT (type = 'feed' AND \(Feed.showsOwn("item_id")))
            ORDER BY sequence LIMIT $3
            """,
            [.integer(sequence), .integer(end), .integer(limit)] + more.arguments)
        return (found, found.count == limit ? found.last?.sequence ?? sequence : end)
    }

    /// Returns entries of the audit trail in these circles among those before a number, latest first, and the number
    /// before which the rest is; nil when no entry is left. Those of feeds that show a user's own calendar are left out.
    public func auditEntries(
        before number: Int, within bound: CircleBound, limit: Int
    ) throws -> (found: [AuditEntry], rest: Int?) {
        guard number > 1 else { return ([], nil) }
        let last = min(number - 1, try lastAuditEntry()?.number ?? 0)
        let (more, end) = (bound.test("circle_id", from: 4), last - Self.lookedAtTogether)
        let found: [AuditEntry] = try all(
            """
            WHERE number <= $1 AND number > $2 AND \(more.sql) AND NOT (\(AuditEntry.isOfOwn))
            ORDER BY number DESC LIMIT $3
            """,
            [.integer(last), .integer(end), .integer(limit)] + more.arguments)
        let rest = found.count == limit ? found.last?.number ?? 1 : end + 1
        return (found, rest > 1 ? rest : nil)
    }

    /// Returns keys that are bound to these circles or fewer, including revoked ones, in order of id.
    public func serviceKeys(within bound: CircleBound, after cursor: String, limit: Int) throws -> [ServiceKey] {
        var (found, next): ([ServiceKey], String?) = ([], cursor)
        while let begin = next, found.count < limit {
            let page = try serviceKeys(after: begin, limit: 1_000)
            found += try page.filter { try $0.bound.map(bound.includes) ?? false }
            next = page.count < 1_000 ? nil : page.last?.id
        }
        return Array(found.prefix(limit))
    }
}
