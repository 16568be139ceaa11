// SPDX-License-Identifier: Apache-2.0

/// A user's stay in the office.
public struct OfficeVisit: Hashable, Sendable {
    public var userID: String
    public var id: String
    public var startsAt: Int
    public var endsAt: Int
    public var createdAt: Int
    public var updatedAt: Int

    public init(userID: String, id: String, startsAt: Int, endsAt: Int, now: Int) {
        (self.userID, self.id, self.startsAt, self.endsAt) = (userID, id, startsAt, endsAt)
        (createdAt, updatedAt) = (now, now)
    }

    init(_ row: SQLRow) throws {
        userID = try row.text(required: "user_id")
        id = try row.text(required: "id")
        startsAt = try row.integer(required: "starts_at")
        endsAt = try row.integer(required: "ends_at")
        createdAt = try row.integer(required: "created_at")
        updatedAt = try row.integer(required: "updated_at")
    }
}

extension ReadTransaction {
    public func officeVisit(_ id: String, of user: String) throws -> OfficeVisit? {
        try row("\(select: .officeVisits) WHERE user_id = $1 AND id = $2", [.text(user), .text(id)])
            .map(OfficeVisit.init)
    }

    /// Returns a user's visits that overlap [from, to), in order of start and id.
    ///
    /// - Parameters:
    ///   - longest: the length that no visit exceeds.
    ///   - after: the start and the id after which the list begins.
    public func officeVisits(
        of user: String, from: Int, to: Int, longest: Int, after: (start: Int, id: String)? = nil, limit: Int
    ) throws -> [OfficeVisit] {
        try rows(
            """
            \(select: .officeVisits)
            WHERE user_id = $1 AND starts_at > $2 AND starts_at < $3 AND ends_at > $4
                AND (starts_at > $5 OR (starts_at = $5 AND id > $6))
            ORDER BY starts_at, id LIMIT $7
            """,
            [
                .text(user), .integer(from - longest), .integer(to), .integer(from),
                .integer(after?.start ?? Int.min / 2), .text(after?.id ?? ""), .integer(limit),
            ]
        ).map(OfficeVisit.init)
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
    public func putOfficeVisit(_ visit: OfficeVisit) throws {
        try execute(
            """
            INSERT INTO office_visits (user_id, id, starts_at, ends_at, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (user_id, id) DO UPDATE SET starts_at = EXCLUDED.starts_at, ends_at = EXCLUDED.ends_at,
                updated_at = EXCLUDED.updated_at
            """,
            [
                .text(visit.userID), .text(visit.id), .integer(visit.startsAt), .integer(visit.endsAt),
                .integer(visit.createdAt), .integer(visit.updatedAt),
            ])
    }

    /// Removes a user's visit; returns false when there is no such visit.
    public func deleteOfficeVisit(_ id: String, of user: String) throws -> Bool {
        try execute("DELETE FROM office_visits WHERE user_id = $1 AND id = $2", [.text(user), .text(id)]) > 0
    }
}
