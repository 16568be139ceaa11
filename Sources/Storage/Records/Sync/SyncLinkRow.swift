// SPDX-License-Identifier: Apache-2.0

/// The link between an item and its event at the provider, with the engine's own record of it.
public struct SyncLinkRow: Hashable, Sendable {
    public var connectionID = ""
    public var collection = ""
    public var itemID = ""
    /// The original start, as `20260121T170000Z`, of the one occurrence that the event shows; empty for the whole item.
    public var occurrence = ""
    public var state = ""
    public var externalID: String?
    public var lastSyncedAt: Int?
    /// When the state last changed.
    public var since = 0
    public var content = ""

    init() {}

    public init(
        connectionID: String, collection: String, itemID: String, occurrence: String = "", state: String,
        externalID: String?, lastSyncedAt: Int?, since: Int, content: String
    ) {
        (self.connectionID, self.collection, self.itemID) = (connectionID, collection, itemID)
        self.occurrence = occurrence
        (self.state, self.externalID, self.lastSyncedAt) = (state, externalID, lastSyncedAt)
        (self.since, self.content) = (since, content)
    }
}

extension SyncLinkRow: StoredRow {
    static let table = RecordTable<SyncLinkRow>(
        "sync_links",
        [
            .init("connection_id", \.connectionID), .init("collection", \.collection), .init("item_id", \.itemID),
            .init("occurrence", \.occurrence), .init("state", \.state), .init("external_id", \.externalID),
            .init("last_synced_at", \.lastSyncedAt), .init("since_at", \.since), .init("content", \.content),
        ])
}

/// What is known about an item's event at the provider, without the engine's record of it.
public struct SyncLinkState: Hashable, Sendable {
    public var state: String
    public var externalID: String?
    public var lastSyncedAt: Int?
    /// Whether the item has no other event.
    public var isOnly: Bool
}

/// How many items of a connection are in step, are waiting, or need a person's decision.
public struct SyncCounts: Hashable, Sendable {
    public var linked = 0
    public var pending = 0
    /// The number of open conflicts.
    public var conflicts = 0
    /// How many of the pending ones cannot be written as they are.
    public var heldBack = 0
}

extension ReadTransaction {
    /// Returns a connection's links in order of collection, item and occurrence, after a given one.
    public func syncLinks(
        of connection: String, after position: (collection: String, item: String, occurrence: String) = ("", "", ""),
        limit: Int = .max
    ) throws -> [SyncLinkRow] {
        try all(
            """
            WHERE connection_id = $1 AND (collection, item_id, occurrence) > ($2, $3, $4)
            ORDER BY collection, item_id, occurrence LIMIT $5
            """,
            [
                .text(connection), .text(position.collection), .text(position.item), .text(position.occurrence),
                .integer(limit),
            ])
    }

    public func syncLink(
        of connection: String, _ collection: String, _ item: String, _ occurrence: String = ""
    ) throws -> SyncLinkRow? {
        try first(
            """
            WHERE connection_id = $1 AND collection = $2 AND item_id = $3 AND occurrence = $4
            """, [.text(connection), .text(collection), .text(item), .text(occurrence)])
    }

    /// Returns where an item's event is in a connection, without what its link holds, which may be large; nil for an item
    /// without one. Of an item with several events, the one that is farthest from what it shows counts.
    public func linkState(of connection: String, ofItem item: String, in collection: String) throws -> SyncLinkState? {
        let found = try rows(
            """
            SELECT state, external_id, last_synced_at FROM sync_links
            WHERE connection_id = $1 AND collection = $2 AND item_id = $3
            ORDER BY CASE WHEN state IN ('pending', 'quarantined', 'conflict') THEN 0 WHEN state = 'linked' THEN 1
                WHEN state IN ('ignored', 'untracked') THEN 2 ELSE 3 END, occurrence
            LIMIT 2
            """, [.text(connection), .text(collection), .text(item)])
        return try found.first.map { row in
            SyncLinkState(
                state: try row.text(required: "state"), externalID: row.text("external_id"),
                lastSyncedAt: row.integer("last_synced_at"), isOnly: found.count == 1)
        }
    }

    /// Returns the links of one item in all connections.
    public func syncLinks(ofItem item: String, in collection: String) throws -> [SyncLinkRow] {
        try all(
            "WHERE collection = $1 AND item_id = $2 ORDER BY connection_id, occurrence",
            [.text(collection), .text(item)])
    }

    /// Returns the ids of some items' events in the other connections of a connection's circle.
    public func eventIDs(
        ofItems items: [String], in collection: String, exceptOf connection: String
    ) throws -> [String] {
        try eachGroup(items, from: 3) { parameters, values in
            try rows(
                """
                SELECT sync_links.external_id FROM sync_links JOIN connections
                    ON connections.id = sync_links.connection_id
                        AND connections.circle_id = (SELECT own.circle_id FROM connections AS own WHERE own.id = $2)
                WHERE sync_links.collection = $1 AND sync_links.item_id IN (\(parameters))
                    AND sync_links.connection_id <> $2 AND sync_links.external_id IS NOT NULL
                """, [.text(collection), .text(connection)] + values
            ).map { try $0.text(required: "external_id") }
        }
    }

    /// Returns the links of items that cannot be written as they are, the longest waiting ones first.
    public func heldBackLinks(of connection: String, limit: Int) throws -> [SyncLinkRow] {
        try all(
            """
            WHERE connection_id = $1 AND state = 'quarantined'
            ORDER BY since_at, collection, item_id, occurrence LIMIT $2
            """, [.text(connection), .integer(limit)])
    }

    public func counts(ofConnection id: String) throws -> SyncCounts {
        var counts = SyncCounts()
        for row in try rows(
            "SELECT state, COUNT(*) AS found FROM sync_links WHERE connection_id = $1 GROUP BY state", [.text(id)])
        {
            let found = try row.integer(required: "found")
            switch try row.text(required: "state") {
            case "linked": counts.linked += found
            case "pending": counts.pending += found
            case "quarantined":
                counts.pending += found
                counts.heldBack = found
            // Both sides have the item, whatever has become of it there.
            case "conflict": counts.linked += found
            default: break
            }
        }
        counts.conflicts =
            try row(
                "SELECT COUNT(*) AS found FROM sync_conflicts WHERE connection_id = $1 AND state = 'open'", [.text(id)])?
            .integer("found") ?? 0
        return counts
    }
}

extension WriteTransaction {
    /// Stores a link in place of the earlier one of the same item and occurrence.
    public func putSyncLink(_ own: SyncLinkRow) throws { try put(own) }

    /// Removes some links, as `deleteSome` does. How large one is, is not known until it is read, so that few are.
    func deleteSomeSyncLinks(where condition: String, _ arguments: [SQLValue], limit: Int) throws -> Int {
        try deleteSome(
            of: "sync_links", size: "LENGTH(content)", where: condition, arguments, limit: max(1, limit / 16))
    }
}
