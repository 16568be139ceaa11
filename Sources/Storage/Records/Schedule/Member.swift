// SPDX-License-Identifier: Apache-2.0

/// A user's membership of a circle; somebody who has left is kept as a name in old titles.
public struct Member: Hashable, Sendable {
    public enum Role: String, Hashable, Sendable, CaseIterable, ColumnValue {
        case owner, member, viewer
    }

    public var circleID = ""
    public var userID = ""
    public var displayName = ""
    public var role = Role.viewer
    public var createdAt = 0
    public var updatedAt = 0
    public var leftAt: Int?
}

extension Member: StoredRow {
    static let table = RecordTable<Member>(
        "members",
        [
            .init("circle_id", \.circleID), .init("user_id", \.userID), .init("display_name", \.displayName),
            .init("role", \.role), .once("created_at", \.createdAt), .init("updated_at", \.updatedAt),
            .init("left_at", \.leftAt),
        ])
}

extension ReadTransaction {
    /// Returns a member of the circle, including one who has left.
    public func memberEverKnown(_ user: String, in circle: String) throws -> Member? {
        try first("WHERE circle_id = $1 AND user_id = $2", [.text(circle), .text(user)])
    }

    /// Returns a member of the circle who has not left.
    public func member(_ user: String, in circle: String) throws -> Member? {
        try memberEverKnown(user, in: circle).flatMap { $0.leftAt == nil ? $0 : nil }
    }

    /// Returns all members in order of id, including those who have left.
    public func membersEverKnown(in circle: String) throws -> [Member] {
        try all("WHERE circle_id = $1 ORDER BY user_id", [.text(circle)])
    }
}

extension WriteTransaction {
    /// Adds or changes a member, or restores one who had left; their earlier feeds stay ended.
    ///
    /// - Parameter titles: the collections whose items look different when the name changes.
    public func putMember(
        _ user: String, in circle: String, displayName: String, role: Member.Role,
        titles: NamesInTitles = NamesInTitles(), now: Int
    ) throws -> (Member, isNew: Bool) {
        let old = try memberEverKnown(user, in: circle)
        if let old, old.leftAt == nil, old.displayName == displayName, old.role == role { return (old, false) }
        try put(
            Member(
                circleID: circle, userID: user, displayName: displayName, role: role, createdAt: now, updatedAt: now))
        if let old, old.displayName != displayName { try revise(because: .owner(user), in: circle, titles, now: now) }
        try touchCircle(circle, now: now)
        guard let new = try memberEverKnown(user, in: circle) else {
            throw StorageError.unexpectedResult("A member was not kept.")
        }
        let isNew = old == nil || old?.leftAt != nil
        try note(.member, isNew ? .created : .updated, in: circle, id: user, now: now)
        return (new, isNew)
    }

    /// Removes a member: their feeds and connections end permanently, but their name is kept. Returns false when there
    /// is no such member.
    public func removeMember(_ user: String, from circle: String, now: Int) throws -> Bool {
        let left = try execute(
            "UPDATE members SET left_at = $3, updated_at = $3 WHERE circle_id = $1 AND user_id = $2 AND left_at IS NULL",
            [.text(circle), .text(user), .integer(now)])
        guard left > 0 else { return false }
        try revokeFeeds(of: user, in: circle, now: now)
        try endConnections(of: user, in: circle, now: now)
        try note(.member, .deleted, in: circle, id: user, now: now)
        return true
    }
}
