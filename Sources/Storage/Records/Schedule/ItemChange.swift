// SPDX-License-Identifier: Apache-2.0

/// The latest change of an item in what calendars show.
public struct ItemChange: Hashable, Sendable {
    public var kind: CircleChange.Kind
    /// Milliseconds since 1970.
    public var at: Int
    /// The first version of the circle with the change: whoever was shown this version or a later one has the change.
    public var version: Int
}

/// A family of programs that reads a feed, and the latest state of the circle that it was shown.
public struct FeedReader: Hashable, Sendable {
    /// The numbers of the feed and of the family.
    public var feed: Int
    public var client: Int
    /// Milliseconds since 1970.
    public var lastSeenAt: Int
    /// The circle's version; 0 when it is not known.
    public var seenVersion: Int
}

extension ReadTransaction {
    /// Returns an item's latest change, also for a deleted item; nil when there never was such an item.
    public func change(
        of id: String, _ collection: ScheduleItem.Collection, in circle: String
    ) throws -> ItemChange? {
        try row(
            """
            SELECT deleted_at, created_at, updated_at, sequence, shown_as, COALESCE(shown_in, changed_in) AS version
            FROM schedule_items WHERE circle_id = $1 AND collection = $2 AND id = $3
            """, [.text(circle), .text(collection.rawValue), .text(id)]
        ).map { row in
            let isNew = try row.integer(required: "sequence") == 0
            let kind = row.text("shown_as").flatMap { CircleChange.Kind(rawValue: $0) } ?? (isNew ? .created : .updated)
            let deletedAt = row.integer("deleted_at")
            return ItemChange(
                kind: deletedAt == nil ? kind : .deleted,
                at: try deletedAt ?? row.integer(required: "updated_at"),
                version: try row.integer(required: "version"))
        }
    }

    /// Returns who has read some feeds since a time, by one look-up of each feed's families.
    ///
    /// - Parameter feeds: their numbers.
    public func readers(of feeds: [Int], since time: Int) throws -> [FeedReader] {
        let together = 100
        var found: [FeedReader] = []
        for start in stride(from: 0, to: feeds.count, by: together) {
            // Groups are filled up with a number that no feed has, so that there is only one statement.
            let group = (start..<start + together).map { SQLValue.integer($0 < feeds.count ? feeds[$0] : 0) }
            found += try rows(
                """
                SELECT feed, client, last_seen_at, seen_version FROM feed_clients
                WHERE feed IN (\(SQLText.parameters(together))) AND last_seen_at >= $\(together + 1)
                ORDER BY feed, client
                """, group + [.integer(time)]
            ).map { row in
                FeedReader(
                    feed: try row.integer(required: "feed"), client: try row.integer(required: "client"),
                    lastSeenAt: try row.integer(required: "last_seen_at"),
                    seenVersion: try row.integer(required: "seen_version"))
            }
        }
        return found
    }
}
