// SPDX-License-Identifier: Apache-2.0

/// A feed: what one user subscribes to in one circle.
public struct Feed: Hashable, Sendable {
    public var id = ""
    /// The number under which its accesses are counted, 1 to 2³²−1 and never reused; 0 until it is stored.
    public var number = 0
    public var circleID = ""
    public var userID = ""
    public var label: String?
    /// The configuration as JSON, which this module does not interpret.
    public var config = ""
    /// Added to each event's SEQUENCE in this feed.
    public var sequenceOffset = 0
    /// When the part of an event that only this feed shows last changed.
    public var shownChangedAt = 0
    /// When the configuration last changed at all.
    public var configChangedAt = 0
    /// Whether it shows its owner's own entries in addition to the circle's.
    public var showsOwn = false
    /// A version that rises with every change of those entries, and when it last rose.
    public var ownVersion = 0
    public var ownChangedAt = 0
    public var tokenHint = ""
    public var sealedToken = ""
    public var createdAt = 0
    public var updatedAt = 0
    public var expiresAt: Int?
    public var revokedAt: Int?
    public var accessCount = 0
    public var lastAccessedAt: Int?
    public var lastRevealedAt: Int?
}

extension Feed: StoredRow {
    public init(
        id: String, circleID: String, userID: String, label: String?, config: String, tokenHint: String,
        sealedToken: String, expiresAt: Int?, now: Int
    ) {
        self.init(
            id: id, circleID: circleID, userID: userID, label: label, config: config, configChangedAt: now,
            tokenHint: tokenHint, sealedToken: sealedToken, createdAt: now, updatedAt: now, expiresAt: expiresAt)
    }

    static let table = RecordTable<Feed>(
        "feeds",
        [
            .init("id", \.id), .once("number", \.number, in: ColumnRules.feedNumbers), .once("circle_id", \.circleID),
            .once("user_id", \.userID), .init("label", \.label), .init("config", \.config),
            .init("sequence_offset", \.sequenceOffset), .init("shown_changed_at", \.shownChangedAt),
            .init("config_changed_at", \.configChangedAt), .init("shows_own", \.showsOwn),
            .shown("own_version", \.ownVersion), .shown("own_changed_at", \.ownChangedAt),
            .once("token_hint", \.tokenHint), .once("sealed_token", \.sealedToken),
            .once("created_at", \.createdAt), .init("updated_at", \.updatedAt), .init("expires_at", \.expiresAt),
            .shown("revoked_at", \.revokedAt), .shown("last_revealed_at", \.lastRevealedAt),
            .computed("access_count", \.accessCount), .computed("last_accessed_at", \.lastAccessedAt),
        ])
}

extension Feed {
    /// Selects every column, and what is computed from the accesses that were counted.
    fileprivate static let query = """
        SELECT \(columns: Feed.self, of: "feeds"), \(AccessHolder.counts(of: "feeds"))
        FROM feeds
        """

    /// Whether no circle of it is being removed.
    static let isOfLiveCircle = """
        NOT EXISTS (SELECT 1 FROM circles WHERE circles.id = feeds.circle_id AND circles.deleted_at IS NOT NULL)
        """
}

extension ReadTransaction {
    public func feed(_ id: String) throws -> Feed? {
        try row(
            """
            \(Feed.query)
            WHERE id = $1 AND \(Feed.isOfLiveCircle)
            """, [.text(id)]
        ).map(Feed.init)
    }

    /// Returns the id of a feed's circle, which never changes.
    public func circle(ofFeed id: String) throws -> String? {
        try row("SELECT circle_id FROM feeds WHERE id = $1", [.text(id)])?.text("circle_id")
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
        var numbered = feed
        numbered.number = try nextAccessNumber()
        try insert(new: numbered)
        try insertToken(hash: tokenHash, feed: feed.id, now: feed.createdAt)
        try note(.feed, .created, in: feed.circleID, id: feed.id, user: feed.userID, now: feed.createdAt)
        return numbered.number
    }

    /// Stores the properties of a feed that a client can change.
    public func updateFeed(_ feed: Feed) throws {
        try update(feed)
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
