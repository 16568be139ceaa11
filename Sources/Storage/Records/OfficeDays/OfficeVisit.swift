// SPDX-License-Identifier: Apache-2.0

/// A user's stay in the office.
public struct OfficeVisit: Hashable, Sendable {
    public var userID = ""
    public var id = ""
    public var startsAt = 0
    public var endsAt = 0
    public var createdAt = 0
    public var updatedAt = 0
}

extension OfficeVisit: StoredRow {
    public init(userID: String, id: String, startsAt: Int, endsAt: Int, now: Int) {
        self.init(userID: userID, id: id, startsAt: startsAt, endsAt: endsAt, createdAt: now, updatedAt: now)
    }

    static let table = RecordTable<OfficeVisit>(
        "office_visits",
        [
            .init("user_id", \.userID), .init("id", \.id), .init("starts_at", \.startsAt), .init("ends_at", \.endsAt),
            .once("created_at", \.createdAt), .init("updated_at", \.updatedAt),
        ])
}

extension ReadTransaction {
    public func officeVisit(_ id: String, of user: String) throws -> OfficeVisit? {
        try first("WHERE user_id = $1 AND id = $2", [.text(user), .text(id)])
    }

    /// Returns a user's visits that overlap [from, to), in order of start and id.
    ///
    /// - Parameters:
    ///   - longest: the length that no visit exceeds.
    ///   - after: the start and the id after which the list begins.
    public func officeVisits(
        of user: String, from: Int, to: Int, longest: Int, after: (start: Int, id: String)? = nil, limit: Int
    ) throws -> [OfficeVisit] {
        try all(
            """
            WHERE user_id = $1 AND starts_at > $2 AND starts_at < $3 AND ends_at > $4
                AND (starts_at > $5 OR (starts_at = $5 AND id > $6))
            ORDER BY starts_at, id LIMIT $7
            """,
            [
                .text(user), .integer(from - longest), .integer(to), .integer(from),
                .integer(after?.start ?? Int.min / 2), .text(after?.id ?? ""), .integer(limit),
            ])
    }

    public func officeVisitCount(of user: String) throws -> Int {
        try row("SELECT COUNT(*) AS visits FROM office_visits WHERE user_id = $1", [.text(user)])?
            .integer("visits") ?? 0
    }

    /// Counts a user's visits that start in a range.
    public func officeVisitCount(of user: String, from: Int, to: Int) throws -> Int {
        try row(
            "SELECT COUNT(*) AS visits FROM office_visits WHERE user_id = $1 AND starts_at >= $2 AND starts_at < $3",
            [.text(user), .integer(from), .integer(to)])?.integer("visits") ?? 0
    }
}

extension WriteTransaction {
    /// Stores a new or changed visit.
    public func putOfficeVisit(_ visit: OfficeVisit) throws { try put(visit) }

    /// Removes a user's visit; returns false when there is no such visit.
    public func deleteOfficeVisit(_ id: String, of user: String) throws -> Bool {
        try execute("DELETE FROM office_visits WHERE user_id = $1 AND id = $2", [.text(user), .text(id)]) > 0
    }
}
