// SPDX-License-Identifier: Apache-2.0

/// A feed: what one user subscribes to in one circle.
public struct Feed: Hashable, Sendable {
    public var id: String
    /// The number under which its accesses are counted, 1 to 2³²−1 and never reused; 0 until it is stored.
    public var number: Int
    public var circleID: String
    public var userID: String
    public var label: String?
    /// The configuration as JSON, which this module does not interpret.
    public var config: String
    /// Added to each event's SEQUENCE in this feed.
    public var sequenceOffset: Int
    /// When the part of an event that only this feed shows last changed.
    public var shownChangedAt: Int
    /// When the configuration last changed at all.
    public var configChangedAt: Int
    /// Whether it shows its owner's own entries beside the circle's.
    public var showsOwn: Bool
    /// A version that rises with every change of those entries, and when it last rose.
    public var ownVersion: Int
    public var ownChangedAt: Int
    public var tokenHint: String
    public var sealedToken: String
    public var createdAt: Int
    public var updatedAt: Int
    public var expiresAt: Int?
    public var revokedAt: Int?
    public var accessCount: Int
    public var lastAccessedAt: Int?
    public var lastRevealedAt: Int?

    public init(
        id: String, circleID: String, userID: String, label: String?, config: String, tokenHint: String,
        sealedToken: String, expiresAt: Int?, now: Int
    ) {
        self.id = id
        self.number = 0
        self.circleID = circleID
        self.userID = userID
        self.label = label
        self.config = config
        self.sequenceOffset = 0
        self.shownChangedAt = 0
        self.configChangedAt = now
        (self.showsOwn, self.ownVersion, self.ownChangedAt) = (false, 0, 0)
        self.tokenHint = tokenHint
        self.sealedToken = sealedToken
        self.createdAt = now
        self.updatedAt = now
        self.expiresAt = expiresAt
        self.accessCount = 0
    }

    init(_ row: SQLRow) throws {
        id = try row.text(required: "id")
        number = try row.integer(required: "number")
        circleID = try row.text(required: "circle_id")
        userID = try row.text(required: "user_id")
        label = row.text("label")
        config = try row.text(required: "config")
        sequenceOffset = try row.integer(required: "sequence_offset")
        shownChangedAt = try row.integer(required: "shown_changed_at")
        configChangedAt = try row.integer(required: "config_changed_at")
        showsOwn = try row.integer(required: "shows_own") != 0
        ownVersion = try row.integer(required: "own_version")
        ownChangedAt = try row.integer(required: "own_changed_at")
        tokenHint = try row.text(required: "token_hint")
        sealedToken = try row.text(required: "sealed_token")
        createdAt = try row.integer(required: "created_at")
        updatedAt = try row.integer(required: "updated_at")
        expiresAt = row.integer("expires_at")
        revokedAt = row.integer("revoked_at")
        accessCount = try row.integer(required: "access_count")
        lastAccessedAt = row.integer("last_accessed_at")
        lastRevealedAt = row.integer("last_revealed_at")
    }
}

extension Feed {
    /// Selects every column, and what is computed from the accesses that were counted.
    fileprivate static let query = """
        SELECT \(columns: .feeds, of: "feeds"),
            (SELECT CAST(COALESCE(SUM(c.access_count), 0) AS BIGINT) FROM feed_clients AS c
                WHERE c.feed = feeds.number) AS access_count,
            (SELECT c.last_seen_at FROM feed_clients AS c WHERE c.feed = feeds.number
                ORDER BY c.last_sequence DESC, c.last_seen_at DESC LIMIT 1) AS last_accessed_at
        FROM feeds
        """
}

extension ReadTransaction {
    public func feed(_ id: String) throws -> Feed? {
        try row(
            """
            \(Feed.query)
            WHERE id = $1 AND NOT EXISTS (
                SELECT 1 FROM circles WHERE circles.id = feeds.circle_id AND circles.deleted_at IS NOT NULL)
            """, [.text(id)]
        ).map(Feed.init)
    }

    /// Returns a user's feeds in a circle, including ended ones, in order of id.
    public func feeds(
        of user: String, in circle: String, after cursor: String = "", limit: Int = 10_000
    ) throws -> [Feed] {
        try rows(
            "\(Feed.query) WHERE circle_id = $1 AND user_id = $2 AND id > $3 ORDER BY id LIMIT $4",
            [.text(circle), .text(user), .text(cursor), .integer(limit)]
        ).map(Feed.init)
    }

    /// Returns all feeds of a circle, including ended ones, in order of id.
    public func feeds(in circle: String, after cursor: String, limit: Int) throws -> [Feed] {
        try rows(
            "\(Feed.query) WHERE circle_id = $1 AND id > $2 ORDER BY id LIMIT $3",
            [.text(circle), .text(cursor), .integer(limit)]
        ).map(Feed.init)
    }

    /// Returns a user's feed with this label (or without a label) that is not revoked.
    public func feed(labelled label: String?, of user: String, in circle: String) throws -> Feed? {
        try row(
            """
            \(Feed.query)
            WHERE circle_id = $1 AND user_id = $2 AND COALESCE(label, '') = $3 AND revoked_at IS NULL
            """, [.text(circle), .text(user), .text(label ?? "")]
        ).map(Feed.init)
    }

}

extension WriteTransaction {
    /// Stores a new feed with its first token.
    ///
    /// - Returns: the number under which its accesses are counted.
    @discardableResult
    public func insertFeed(_ feed: Feed, tokenHash: String) throws -> Int {
        let given = try row(
            """
            UPDATE settings SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE name = 'feedNumber'
            RETURNING CAST(value AS BIGINT) AS number
            """, [])
        guard let number = try given?.integer(required: "number") else {
            throw StorageError.unexpectedResult("Feeds are not numbered.")
        }
        try execute(
            """
            INSERT INTO feeds (id, circle_id, user_id, label, config, sequence_offset, shown_changed_at,
                config_changed_at, token_hint, sealed_token, created_at, updated_at, expires_at, number, shows_own)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, $14)
            """,
            [
                .text(feed.id), .text(feed.circleID), .text(feed.userID), SQLValue(feed.label), .text(feed.config),
                .integer(feed.sequenceOffset), .integer(feed.shownChangedAt), .integer(feed.configChangedAt),
                .text(feed.tokenHint), .text(feed.sealedToken), .integer(feed.createdAt), SQLValue(feed.expiresAt),
                .integer(number), .integer(feed.showsOwn ? 1 : 0),
            ])
        try insertToken(hash: tokenHash, feed: feed.id, now: feed.createdAt)
        try note(.feed, .created, in: feed.circleID, id: feed.id, user: feed.userID, now: feed.createdAt)
        return number
    }

    /// Stores the properties of a feed that a client can change.
    public func updateFeed(_ feed: Feed) throws {
        try execute(
            """
            UPDATE feeds SET label = $2, config = $3, expires_at = $4, sequence_offset = $5, shown_changed_at = $6,
                config_changed_at = $7, updated_at = $8, shows_own = $9
            WHERE id = $1
            """,
            [
                .text(feed.id), SQLValue(feed.label), .text(feed.config), SQLValue(feed.expiresAt),
                .integer(feed.sequenceOffset), .integer(feed.shownChangedAt), .integer(feed.configChangedAt),
                .integer(feed.updatedAt), .integer(feed.showsOwn ? 1 : 0),
            ])
        try noteFeed(feed.id, .updated, now: feed.updatedAt)
    }

    /// Ends a feed permanently: no token of it opens anything from now on.
    public func revokeFeed(_ id: String, now: Int) throws {
        try endTokens(of: id, now: now)
        let revoked = try execute(
            "UPDATE feeds SET revoked_at = $2, updated_at = $2 WHERE id = $1 AND revoked_at IS NULL",
            [.text(id), .integer(now)])
        if revoked > 0 { try noteFeed(id, .updated, now: now) }
    }

    /// Permanently ends all feeds of a user in a circle.
    func revokeFeeds(of user: String, in circle: String, now: Int) throws {
        let arguments: [SQLValue] = [.text(circle), .text(user), .integer(now)]
        try execute(
            """
            UPDATE feed_tokens SET ends_at = $3
            WHERE feed_id IN (SELECT id FROM feeds WHERE circle_id = $1 AND user_id = $2)
                AND (ends_at IS NULL OR ends_at > $3)
            """, arguments)
        for feed in try rows(
            "SELECT id FROM feeds WHERE circle_id = $1 AND user_id = $2 AND revoked_at IS NULL ORDER BY id",
            [.text(circle), .text(user)])
        {
            try noteFeed(try feed.text(required: "id"), .updated, now: now)
        }
        try execute(
            """
            UPDATE feeds SET revoked_at = $3, updated_at = $3
            WHERE circle_id = $1 AND user_id = $2 AND revoked_at IS NULL
            """, arguments)
    }

    /// Removes a feed with its record of accesses; the hashes of its tokens stay.
    public func deleteFeed(_ id: String, now: Int) throws {
        try endTokens(of: id, now: now)
        for number in try rows("SELECT number FROM feeds WHERE id = $1", [.text(id)]) {
            try forgetAccesses(of: try number.integer(required: "number"))
        }
        try noteFeed(id, .deleted, now: now)
        try execute("DELETE FROM feeds WHERE id = $1", [.text(id)])
    }

    public func noteReveal(of feed: String, now: Int) throws {
        try execute("UPDATE feeds SET last_revealed_at = $2 WHERE id = $1", [.text(feed), .integer(now)])
    }

}
