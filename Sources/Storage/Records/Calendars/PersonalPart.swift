// SPDX-License-Identifier: Apache-2.0

/// What one person keeps for an item or an imported event: own alarms, colours, and what Kalends does not know.
public struct PersonalPart: Hashable, Sendable {
    public var circleID = ""
    public var userID = ""
    /// The UID that calendars show.
    public var uid = ""
    /// The kept text, which this module does not interpret; nil for nothing.
    public var content: String?
    /// The version of the circle with the last change.
    var changedIn = 0

    public init(circleID: String, userID: String, uid: String, content: String?) {
        (self.circleID, self.userID, self.uid, self.content) = (circleID, userID, uid, content)
    }
}

extension PersonalPart: StoredRow {
    init() {}

    static let table = RecordTable<PersonalPart>(
        "personal_parts",
        [
            .init("circle_id", \.circleID), .init("user_id", \.userID), .init("uid", \.uid),
            .init("content", \.content), .init("changed_in", \.changedIn),
        ])
}

extension ReadTransaction {
    /// Returns what a person keeps in a circle, in no order.
    public func personalParts(of user: String, in circle: String) throws -> [PersonalPart] {
        try all("WHERE circle_id = $1 AND user_id = $2 AND content IS NOT NULL", [.text(circle), .text(user)])
    }

    /// Returns what a person keeps of some UIDs.
    public func personalParts(_ uids: [String], of user: String, in circle: String) throws -> [PersonalPart] {
        try eachGroup(uids, from: 3) { parameters, values in
            try all(
                "WHERE circle_id = $1 AND user_id = $2 AND uid IN (\(parameters)) AND content IS NOT NULL",
                [.text(circle), .text(user)] + values)
        }
    }

    /// Returns the UIDs for which a person's own data has changed since a version of the circle.
    ///
    /// - Parameter last: the version up to which changes count.
    public func personalUIDs(
        of user: String, in circle: String, changedAfter version: Int, upTo last: Int
    ) throws -> [String] {
        try rows(
            """
            SELECT uid FROM personal_parts
            WHERE circle_id = $1 AND user_id = $2 AND changed_in > $3 AND changed_in <= $4
            """, [.text(circle), .text(user), .integer(version), .integer(last)]
        ).map { try $0.text(required: "uid") }
    }

    /// Returns the items of a circle with some UIDs, deleted ones included.
    public func itemsEverKnown(uids: [String], in circle: String) throws -> [ScheduleItem] {
        try eachGroup(uids, from: 2) { parameters, values in
            try rows(
                "\(select: ScheduleItem.self) WHERE circle_id = $1 AND uid IN (\(parameters))", [.text(circle)] + values
            ).map(ScheduleItem.init)
        }
    }

    /// Returns the items with a UID, deleted or not, of the circles in which a user is a member.
    public func itemsEverKnown(uid: String, for user: String) throws -> [ScheduleItem] {
        try rows(
            """
            \(select: ScheduleItem.self) WHERE uid = $1 AND circle_id IN (
                SELECT circle_id FROM members JOIN circles ON circles.id = members.circle_id
                WHERE user_id = $2 AND left_at IS NULL AND circles.deleted_at IS NULL)
            ORDER BY circle_id
            """, [.text(uid), .text(user)]
        ).map(ScheduleItem.init)
    }

    /// Returns the version up to which no more changed of a circle's items, and of what a person keeps of them, than a
    /// number of changes and of bytes in their texts, about, unless a single version has more; nil if that is so up to
    /// the present version.
    public func lastVersion(
        in circle: String, for user: String, changedAfter version: Int, limit: Int, bytes: Int
    ) throws -> Int? {
        let found = try values(
            """
            SELECT changed_in, id, bytes FROM (
                SELECT * FROM (
                    SELECT changed_in, id, length(CAST(content AS BLOB)) AS bytes FROM schedule_items
                    WHERE circle_id = $1 AND changed_in > $3 ORDER BY changed_in LIMIT $4) AS items
                UNION ALL
                SELECT * FROM (
                    SELECT kept.changed_in, item.id, length(CAST(item.content AS BLOB)) AS bytes
                    FROM personal_parts AS kept
                    LEFT JOIN schedule_items AS item ON item.circle_id = kept.circle_id AND item.uid = kept.uid
                    WHERE kept.circle_id = $1 AND kept.user_id = $2 AND kept.changed_in > $3
                    ORDER BY kept.changed_in LIMIT $4) AS parts) AS changes
            ORDER BY changed_in LIMIT $4
            """, [.text(circle), .text(user), .integer(version), .integer(limit + 1)]
        ) { (version: try $0.integer(required: "changed_in"), id: $0.text("id"), bytes: $0.integer("bytes") ?? 0) }
        var (rest, left, over) = (found[...], bytes, found.count > limit ? found.last?.version : nil)
        // Occurrences are long, so they are counted a few series at a time.
        while left >= 0, !rest.isEmpty {
            let group = rest.prefix(16)
            rest = rest.dropFirst(group.count)
            let occurrences = try occurrenceBytes(of: group.compactMap(\.id), in: circle)
            for change in group where left >= 0 {
                left -= change.bytes + (change.id.flatMap { occurrences[ByteString($0)] } ?? 0)
                guard left < 0 else { continue }
                let next = max(change.version, found[0].version + 1)
                over = found.first { $0.version >= next }?.version ?? over
            }
        }
        return over.map { over in found.last { $0.version < over }?.version ?? over }
    }

    /// Returns the items that changed between two versions of a circle, tombstones included.
    public func items(in circle: String, changedAfter version: Int, upTo last: Int) throws -> [ScheduleItem] {
        try rows(
            "\(select: ScheduleItem.self) WHERE circle_id = $1 AND changed_in > $2 AND changed_in <= $3",
            [.text(circle), .integer(version), .integer(last)]
        ).map(ScheduleItem.init)
    }

    /// Whether something that a circle had at a version was deleted before a time.
    public func hasDeletions(in circle: String, changedAfter version: Int, before time: Int) throws -> Bool {
        try row(
            """
            SELECT 1 AS found FROM schedule_items
            WHERE circle_id = $1 AND changed_in > $2 AND deleted_at < $3 LIMIT 1
            """, [.text(circle), .integer(version), .integer(time)]) != nil
    }

    /// How many items changed after a circle had a version, at most `limit`.
    public func changeCount(in circle: String, changedAfter version: Int, limit: Int) throws -> Int {
        try row(
            """
            SELECT COUNT(*) AS count FROM (
                SELECT 1 AS one FROM schedule_items WHERE circle_id = $1 AND changed_in > $2 LIMIT $3) AS found
            """, [.text(circle), .integer(version), .integer(limit)])?.integer("count") ?? 0
    }

    /// Returns the sources that bring or brought events under some UIDs which a user may see.
    public func importedSources(
        _ uids: [String], visibleTo user: String, in circle: String
    ) throws -> [(uid: String, source: EventSource)] {
        try eachGroup(uids, from: 3) { parameters, values in
            try rows(
                """
                SELECT DISTINCT uid, source FROM event_versions
                WHERE circle_id = $1 AND source <> '\(EventSource.tasks.text)'
                    AND (visible_to IS NULL OR visible_to = $2) AND uid IN (\(parameters))
                """, [.text(circle), .text(user)] + values)
        }.map { (try $0.text(required: "uid"), EventSource(stored: try $0.text(required: "source"))) }
    }
}

extension WriteTransaction {
    /// Stores what a person keeps for a UID.
    ///
    /// - Parameter version: that to which the circle's rises in the same transaction.
    public func putPersonalPart(_ part: PersonalPart, changedIn version: Int) throws {
        var part = part
        part.changedIn = version
        try put(part)
    }
}
