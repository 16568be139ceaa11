// SPDX-License-Identifier: Apache-2.0

/// One counted read of a feed.
public struct FeedAccess: Hashable, Sendable {
    public var feedID: String
    public var at: Int
    /// The family of the program that read, never its whole User-Agent.
    public var client: String
    /// 200 or 304.
    public var status: Int
    /// The network it came from, shortened so that it names no person.
    public var network: String

    public init(feedID: String, at: Int, client: String, status: Int, network: String) {
        self.feedID = feedID
        self.at = at
        self.client = client
        self.status = status
        self.network = network
    }
}

/// How often a family of programs has read a feed.
public struct FeedClient: Hashable, Sendable {
    public var client: String
    public var accessCount: Int
    public var lastSeenAt: Int
}

extension ReadTransaction {
    /// The latest accesses, newest first.
    public func accesses(
        of feed: String, before number: Int = Int.max, limit: Int
    ) throws -> [(number: Int, access: FeedAccess)] {
        try rows(
            "SELECT * FROM feed_accesses WHERE feed_id = $1 AND number < $2 ORDER BY number DESC LIMIT $3",
            [.text(feed), .integer(number), .integer(limit)]
        ).map { row in
            (
                try row.integer(required: "number"),
                FeedAccess(
                    feedID: feed, at: try row.integer(required: "accessed_at"),
                    client: try row.text(required: "client"), status: try row.integer(required: "status"),
                    network: try row.text(required: "network"))
            )
        }
    }

    /// Who reads a feed, most frequent first.
    public func clients(of feed: String) throws -> [FeedClient] {
        try rows(
            "SELECT * FROM feed_clients WHERE feed_id = $1 ORDER BY access_count DESC, client", [.text(feed)]
        ).map { row in
            FeedClient(
                client: try row.text(required: "client"), accessCount: try row.integer(required: "access_count"),
                lastSeenAt: try row.integer(required: "last_seen_at"))
        }
    }
}

extension WriteTransaction {
    /// Counts accesses of any number of feeds; one of a feed that is gone meanwhile is left out.
    public func count(_ accesses: [FeedAccess]) throws {
        for (feed, group) in Dictionary(grouping: accesses, by: \.feedID) {
            let last = group.map(\.at).max() ?? 0
            guard
                let count = try row(
                    """
                    UPDATE feeds SET access_count = access_count + $2, last_accessed_at = $3 WHERE id = $1
                    RETURNING access_count
                    """, [.text(feed), .integer(group.count), .integer(last)])?.integer("access_count")
            else { continue }
            for (client, seen) in Dictionary(grouping: group, by: \.client) {
                try execute(
                    """
                    INSERT INTO feed_clients (feed_id, client, access_count, last_seen_at) VALUES ($1, $2, $3, $4)
                    ON CONFLICT (feed_id, client) DO UPDATE SET
                        access_count = feed_clients.access_count + EXCLUDED.access_count,
                        last_seen_at = EXCLUDED.last_seen_at
                    """,
                    [.text(feed), .text(client), .integer(seen.count), .integer(seen.map(\.at).max() ?? 0)])
            }
            for (index, access) in group.enumerated() {
                try execute(
                    """
                    INSERT INTO feed_accesses (feed_id, number, accessed_at, client, status, network)
                    VALUES ($1, $2, $3, $4, $5, $6)
                    """,
                    [
                        .text(feed), .integer(count - group.count + index + 1), .integer(access.at),
                        .text(access.client), .integer(access.status), .text(access.network),
                    ])
            }
        }
    }

    /// Forgets single accesses older than a time; the counts stay.
    public func pruneAccesses(before time: Int) throws {
        try execute("DELETE FROM feed_accesses WHERE accessed_at < $1", [.integer(time)])
    }
}
