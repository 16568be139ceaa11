// SPDX-License-Identifier: Apache-2.0

/// One counted read of a feed: plain numbers, so that one is made and passed on without separate memory.
public struct FeedAccess: Hashable, Sendable {
    /// The feed's `number`, 1 to 2³²−1.
    public var feed: Int
    /// Milliseconds since 1970, 0 to 2⁴⁸−1.
    public var at: Int
    /// The number of the family of the program that read, 0 to 255; its whole User-Agent is nowhere.
    public var client: Int
    /// 200 or 304.
    public var status: Int
    public var network: NetworkPrefix
    /// The version of the circle that the answer showed; 0 where that is not known. Once it was in the journal, only as
    /// much of it as `versionMask` keeps is there.
    public var version: Int

    /// What of a version is kept until it is taken up: no circle changes that often in between.
    public static let versionMask = 1 << 27 - 1

    public init(feed: Int, at: Int, client: Int, status: Int, network: NetworkPrefix, version: Int = 0) {
        self.feed = feed
        self.at = at
        self.client = client
        self.status = status
        self.network = network
        self.version = version
    }

    /// The whole version, from what was kept of it and the circle's version at some later time.
    func version(before later: Int) -> Int {
        version == 0 ? 0 : max(0, later - (later - version) & Self.versionMask)
    }
}

/// An access with its place among all accesses of the installation; no two have the same.
public struct SequencedAccess: Hashable, Sendable {
    public var sequence: Int
    public var access: FeedAccess

    public init(sequence: Int, access: FeedAccess) {
        self.sequence = sequence
        self.access = access
    }
}

/// An access as it is listed; `number` counts the feed's accesses from 1.
public struct ListedAccess: Hashable, Sendable {
    public var number: Int
    public var at: Int
    public var client: Int
    public var status: Int
    public var network: String
}

/// When a family of programs read a feed.
public struct FeedVisit: Hashable, Sendable {
    public var client: Int
    public var at: Int
}

/// How often a family of programs has read a feed.
public struct FeedClient: Hashable, Sendable {
    public var client: Int
    public var accessCount: Int
    public var lastSeenAt: Int
}

/// How often a family of programs has read a feed on one day of UTC.
public struct FeedClientDay: Hashable, Sendable {
    /// Days since 1970-01-01.
    public var day: Int
    public var client: Int
    public var accessCount: Int
}

extension ReadTransaction {
    /// The latest accesses, newest first: at least 1,000 are kept, and none for longer than `pruneAccesses` says.
    ///
    /// - Parameter number: the one before which the page begins.
    public func accesses(of feed: String, before number: Int = Int.max, limit: Int) throws -> [ListedAccess] {
        try rows(
            """
            WITH RECURSIVE list (sequence, previous, number, accessed_at, client, status, network) AS (
                SELECT sequence, previous, number, accessed_at, client, status, network FROM feed_accesses
                WHERE sequence = (
                    SELECT MAX(last_sequence) FROM feed_clients
                    WHERE feed = (SELECT number FROM feeds WHERE id = $1))
                UNION ALL
                SELECT a.sequence, a.previous, a.number, a.accessed_at, a.client, a.status, a.network
                FROM list JOIN feed_accesses AS a ON a.sequence = list.previous
            )
            SELECT number, accessed_at, client, status, network FROM list WHERE number < $2 LIMIT $3
            """, [.text(feed), .integer(number), .integer(limit)]
        ).map { row in
            ListedAccess(
                number: try row.integer(required: "number"), at: try row.integer(required: "accessed_at"),
                client: try row.integer(required: "client"), status: try row.integer(required: "status"),
                network: try row.text(required: "network"))
        }.sorted { $0.number > $1.number }
    }

    /// When the latest accesses were and by whom, newest first.
    public func visits(of feed: String, limit: Int = 1000) throws -> [FeedVisit] {
        try rows(
            """
            WITH RECURSIVE list (previous, accessed_at, client) AS (
                SELECT previous, accessed_at, client FROM feed_accesses
                WHERE sequence = (
                    SELECT MAX(last_sequence) FROM feed_clients
                    WHERE feed = (SELECT number FROM feeds WHERE id = $1))
                UNION ALL
                SELECT a.previous, a.accessed_at, a.client
                FROM list JOIN feed_accesses AS a ON a.sequence = list.previous
            )
            SELECT accessed_at, client FROM list LIMIT $2
            """, [.text(feed), .integer(limit)]
        ).map { row in
            FeedVisit(client: try row.integer(required: "client"), at: try row.integer(required: "accessed_at"))
        }
    }

    /// Who reads a feed, most frequent first.
    public func clients(of feed: String) throws -> [FeedClient] {
        try rows(
            """
            SELECT client, access_count, last_seen_at FROM feed_clients
            WHERE feed = (SELECT number FROM feeds WHERE id = $1) ORDER BY access_count DESC, client
            """, [.text(feed)]
        ).map { row in
            FeedClient(
                client: try row.integer(required: "client"), accessCount: try row.integer(required: "access_count"),
                lastSeenAt: try row.integer(required: "last_seen_at"))
        }
    }

    /// Who read a feed on which day, newest first, then most frequent first.
    public func clientDays(of feed: String, limit: Int = 10_000) throws -> [FeedClientDay] {
        try rows(
            """
            \(AccessDays.all)
            SELECT d.day AS day, client, access_count FROM days JOIN feed_client_days AS d
                ON d.day = days.day AND d.feed = (SELECT number FROM feeds WHERE id = $1)
            ORDER BY d.day DESC, access_count DESC, client LIMIT $2
            """, [.text(feed), .integer(limit)]
        ).map { row in
            FeedClientDay(
                day: try row.integer(required: "day"), client: try row.integer(required: "client"),
                accessCount: try row.integer(required: "access_count"))
        }
    }
}

enum AccessDays {
    static let milliseconds = 86_400_000

    /// The days on which any feed was read, by one step through the index each.
    static let all = """
        WITH RECURSIVE days (day) AS (
            SELECT MIN(day) FROM feed_client_days
            UNION ALL
            SELECT (SELECT MIN(d.day) FROM feed_client_days AS d WHERE d.day > days.day) FROM days
            WHERE days.day IS NOT NULL
        )
        """

    /// The day of UTC that a time is in.
    static func day(of time: Int) -> Int { Int((Double(time) / Double(milliseconds)).rounded(.down)) }
}
