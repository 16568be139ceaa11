// SPDX-License-Identifier: Apache-2.0

/// One counted read of a feed, or access with an app password, made up of plain numbers so that creating and passing it
/// needs no separate memory.
public struct FeedAccess: Hashable, Sendable {
    /// The `number` of the feed or the app password, 1 to 2³²−1.
    public var feed: Int
    /// Milliseconds since 1970, 0 to 2⁴⁸−1.
    public var at: Int
    /// The number of the reading program's family, 0 to 255; its full User-Agent is stored nowhere.
    public var client: Int
    /// The response status: 200 or 304 for a feed, and 200 to 304 for an app password.
    public var status: Int
    public var network: NetworkPrefix
    /// The version of the circle that the answer showed; 0 when it is not known. An access from the journal has only
    /// the bits that `versionMask` keeps.
    public var version: Int

    /// The bits of a version that are kept until the access is counted: no circle changes that often in between.
    public static let versionMask = 1 << 27 - 1

    public init(feed: Int, at: Int, client: Int, status: Int, network: NetworkPrefix, version: Int = 0) {
        self.feed = feed
        self.at = at
        self.client = client
        self.status = status
        self.network = network
        self.version = version
    }

    /// Restores the whole version from the bits that were kept and the circle's version at some later time.
    func version(before later: Int) -> Int {
        version == 0 ? 0 : max(0, later - (later - version) & Self.versionMask)
    }
}

/// An access with its place among all accesses of the installation; no two accesses have the same place.
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

/// How often a family of programs has read a feed on one day in UTC.
public struct FeedClientDay: Hashable, Sendable {
    /// Days since 1970-01-01.
    public var day: Int
    public var client: Int
    public var accessCount: Int
}

extension ReadTransaction {
    /// Returns the latest accesses, newest first: at least 1,000 are kept, but none that `pruneAccesses` removes.
    ///
    /// - Parameter number: the number before which the page begins.
    public func accesses(of feed: String, before number: Int = Int.max, limit: Int) throws -> [ListedAccess] {
        try rows(
            """
            WITH RECURSIVE list (sequence, previous, number, accessed_at, client, status, network) AS (
                SELECT sequence, previous, number, accessed_at, client, status, network FROM feed_accesses
                WHERE sequence = (
                    SELECT MAX(last_sequence) FROM feed_clients
                    WHERE feed = \(AccessHolder.number))
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

    /// Returns the times and clients of the latest accesses, newest first.
    public func visits(of feed: String, limit: Int = 1000) throws -> [FeedVisit] {
        try rows(
            """
            WITH RECURSIVE list (previous, accessed_at, client) AS (
                SELECT previous, accessed_at, client FROM feed_accesses
                WHERE sequence = (
                    SELECT MAX(last_sequence) FROM feed_clients
                    WHERE feed = \(AccessHolder.number))
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

    /// Returns the families of programs that read a feed, most frequent first.
    public func clients(of feed: String) throws -> [FeedClient] {
        try rows(
            """
            SELECT client, access_count, last_seen_at FROM feed_clients
            WHERE feed = \(AccessHolder.number) ORDER BY access_count DESC, client
            """, [.text(feed)]
        ).map { row in
            FeedClient(
                client: try row.integer(required: "client"), accessCount: try row.integer(required: "access_count"),
                lastSeenAt: try row.integer(required: "last_seen_at"))
        }
    }

    /// Returns which families of programs read a feed on which day, newest first, then most frequent first.
    public func clientDays(of feed: String, limit: Int = 10_000) throws -> [FeedClientDay] {
        try rows(
            """
            \(AccessDays.all)
            SELECT d.day AS day, client, access_count FROM days JOIN feed_client_days AS d
                ON d.day = days.day AND d.feed = \(AccessHolder.number)
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

    /// Selects the days on which any feed was read, with one step through the index for each.
    static let all = """
        WITH RECURSIVE days (day) AS (
            SELECT MIN(day) FROM feed_client_days
            UNION ALL
            SELECT (SELECT MIN(d.day) FROM feed_client_days AS d WHERE d.day > days.day) FROM days
            WHERE days.day IS NOT NULL
        )
        """

    /// Returns the day in UTC of a time.
    static func day(of time: Int) -> Int { Int((Double(time) / Double(milliseconds)).rounded(.down)) }
}
