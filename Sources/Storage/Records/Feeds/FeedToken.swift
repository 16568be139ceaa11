// SPDX-License-Identifier: Apache-2.0

/// What the database stores about the hash of a token, and about what the token opens.
public struct FeedTokenRecord: Hashable, Sendable {
    /// The feed's id; nil once the token has been detached from its feed.
    public var feedID: String?
    /// When the token stops opening anything; nil while it is the feed's current one.
    public var endsAt: Int?
    /// Nil for a current token, and for one that ended when it was replaced.
    public var notice: GraceNotice?
    /// The feed; nil once it or its circle has been deleted.
    public var feed: Feed?
    /// The feed's circle; nil when there is no feed.
    public var circle: Circle?
    /// Whether the feed's user is a member of the circle, who has not left.
    public var isOfMember = false
    /// The usage of all items that were ever stored in the circle, and that of its events from imports and
    /// subscriptions.
    public var itemUsage = Usage()
    public var importedUsage = Usage()
}

extension FeedTokenRecord {
    fileprivate init(_ row: SQLRow) throws {
        (feedID, endsAt) = (row.text("feed_id"), row.integer("ends_at"))
        if let uid = row.text("notice_uid"), let replacedAt = row.integer("replaced_at"),
            let noticedAt = row.integer("noticed_at"), let endsAt
        {
            notice = GraceNotice(
                uid: uid, sequence: try row.integer(required: "notice_sequence"), replacedAt: replacedAt,
                changedAt: noticedAt, endsAt: endsAt,
                language: row.text("notice_language"))
        }
        guard row.text("of_feed") != nil else { return }
        let (places, next) = (Self.ownColumns, Self.ownColumns + Feed.table.columns.count)
        feed = try Feed(row.part(places..<next))
        guard row.text("of_circle") != nil else { return }
        circle = try Circle(row.part(next..<next + Circle.table.columns.count))
        isOfMember = row.text("of_member") != nil
        itemUsage = Usage(count: row.integer("items") ?? 0, bytes: row.integer("bytes") ?? 0)
        importedUsage = Usage(count: row.integer("imported") ?? 0, bytes: row.integer("event_bytes") ?? 0)
    }

    /// How many columns come before those of the feed and of its circle.
    private static let ownColumns = 14

    /// Everything is joined here, because each query is a way to the database's server and back.
    fileprivate static let query = """
        SELECT t.feed_id, t.ends_at, t.replaced_at, t.notice_uid, t.notice_sequence, t.noticed_at, feeds.id AS of_feed,
            home.id AS of_circle, m.user_id AS of_member, u.items, u.bytes, u.event_bytes,
            (SELECT COALESCE(SUM(s.events), 0) FROM event_sources AS s WHERE s.circle_id = home.id) AS imported,
            (SELECT language FROM users WHERE users.id = feeds.user_id) AS notice_language,
            \(columns: Feed.self, of: "feeds"), \(AccessHolder.counts(of: "feeds")), \(columns: Circle.self, of: "home")
        FROM feed_tokens AS t
        LEFT JOIN feeds ON feeds.id = t.feed_id AND \(Feed.isOfLiveCircle)
        LEFT JOIN circles AS home ON home.id = feeds.circle_id AND home.deleted_at IS NULL
        LEFT JOIN members AS m ON m.circle_id = home.id AND m.user_id = feeds.user_id AND m.left_at IS NULL
        LEFT JOIN circle_usage AS u ON u.circle_id = home.id
        WHERE t.hash = $1
        """
}

/// The notice that a feed shows about the end of a replaced token while the token still opens it; times are in
/// milliseconds since 1970.
///
/// It is a class, because nearly every cached token has no notice.
public final class GraceNotice: Sendable {
    /// Its event's UID, which was minted for this token only.
    public let uid: String
    /// A number that rises whenever the event looks different.
    public let sequence: Int
    /// When the feed got its next token.
    public let replacedAt: Int
    /// When the contents of the event last changed.
    public let changedAt: Int
    /// When the token stops opening anything.
    public let endsAt: Int
    /// The language of the feed's owner as a BCP 47 tag; nil if it is not known.
    public let language: String?

    public init(
        uid: String, sequence: Int, replacedAt: Int, changedAt: Int, endsAt: Int, language: String? = nil
    ) {
        self.uid = uid
        self.sequence = sequence
        self.replacedAt = replacedAt
        self.changedAt = changedAt
        self.endsAt = endsAt
        self.language = language
    }

    /// Returns the notice for a token that ends at that time at the latest.
    public func ending(by time: Int) -> GraceNotice {
        GraceNotice(
            uid: uid, sequence: sequence, replacedAt: replacedAt, changedAt: changedAt, endsAt: min(time, endsAt),
            language: language)
    }
}

extension GraceNotice: Hashable {
    public static func == (one: GraceNotice, other: GraceNotice) -> Bool {
        one === other
            || (one.uid, one.sequence, one.replacedAt, one.changedAt, one.endsAt, one.language)
                == (other.uid, other.sequence, other.replacedAt, other.changedAt, other.endsAt, other.language)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(uid)
        hasher.combine(sequence)
    }
}

extension ReadTransaction {
    /// Returns the record of a token by its hash; nil when no such token was ever made.
    public func feedToken(hash: String) throws -> FeedTokenRecord? {
        try row(FeedTokenRecord.query, [.text(hash)]).map(FeedTokenRecord.init)
    }

    /// Counts the replaced tokens of a feed that still open it.
    public func tokensInGrace(of feed: String, now: Int) throws -> Int {
        try row(
            "SELECT COUNT(*) AS count FROM feed_tokens WHERE feed_id = $1 AND ends_at > $2",
            [.text(feed), .integer(now)])?.integer("count") ?? 0
    }

    /// Returns the circles in which a user has feeds with a replaced token.
    public func circlesWithNotices(of user: String) throws -> [String] {
        try rows(
            """
            SELECT DISTINCT circle_id FROM feeds
            WHERE circle_id IN (SELECT circle_id FROM members WHERE user_id = $1) AND user_id = $1
                AND EXISTS (SELECT 1 FROM feed_tokens WHERE feed_id = feeds.id AND notice_uid IS NOT NULL)
            """, [.text(user)]
        ).map { try $0.text(required: "circle_id") }
    }

    /// Returns when the last replaced token of a feed stops opening it, or stopped, and when the feed got its current
    /// one; nil for a token that is not kept.
    public func tokenTimes(of feed: String) throws -> (replacedEnds: Int?, currentSince: Int?) {
        let found = try row(
            "SELECT MAX(ends_at) AS ends_at, MAX(created_at) AS since FROM feed_tokens WHERE feed_id = $1",
            [.text(feed)])
        return (found?.integer("ends_at"), found?.integer("since"))
    }
}

extension WriteTransaction {
    /// Gives a feed a new token; the tokens before it end at `endsAt`, and where that is not after `now`, with this
    /// write, whatever any clock shows.
    ///
    /// - Parameter noticeUID: the UID of the event that the replaced token's feed shows until then; nil for no event.
    public func replaceToken(
        of feed: String, hash: String, hint: String, sealed: String, othersEndAt endsAt: Int, noticeUID: String? = nil,
        now: Int
    ) throws {
        // Ended tokens no longer need their feed: a feed keeps few tokens, however often it gets a new one.
        try execute(
            "UPDATE feed_tokens SET feed_id = NULL WHERE feed_id = $1 AND ends_at <= $2", [.text(feed), .integer(now)])
        // A token that was replaced earlier, and now ends sooner, shows the new end in its notice.
        try execute(
            """
            UPDATE feed_tokens SET ends_at = $2, notice_sequence = notice_sequence + 1, noticed_at = $3
            WHERE feed_id = $1 AND ends_at > $2
            """, [.text(feed), .integer(endsAt), .integer(now)])
        try execute(
            """
            UPDATE feed_tokens SET ends_at = $2, replaced_at = $3, noticed_at = $3, notice_uid = $4
            WHERE feed_id = $1 AND ends_at IS NULL
            """, [.text(feed), .integer(endsAt), .integer(now), SQLValue(endsAt > now ? noticeUID : nil)])
        if endsAt <= now {
            // Who looks the token up may have a clock that is behind: what has ended is detached, not only past.
            try execute("UPDATE feed_tokens SET feed_id = NULL WHERE feed_id = $1", [.text(feed)])
        }
        try insertToken(hash: hash, feed: feed, now: now)
        try execute(
            "UPDATE feeds SET token_hint = $2, sealed_token = $3, updated_at = $4 WHERE id = $1",
            [.text(feed), .text(hint), .text(sealed), .integer(now)])
        try noteFeed(feed, .updated, now: now)
    }

    /// Records that the notices of a feed's replaced tokens look different.
    public func touchNotices(of feed: String, now: Int) throws {
        try execute(
            "UPDATE feed_tokens SET \(GraceNotice.touch) WHERE feed_id = $2 AND ends_at > $1",
            [.integer(now), .text(feed)])
    }

    /// Records the same for all feeds of a user.
    public func touchNotices(ofUser user: String, now: Int) throws {
        try execute(
            """
            UPDATE feed_tokens SET \(GraceNotice.touch)
            WHERE ends_at > $1 AND feed_id IN (
                SELECT id FROM feeds
                WHERE circle_id IN (SELECT circle_id FROM members WHERE user_id = $2) AND user_id = $2)
            """, [.integer(now), .text(user)])
    }

    /// Records the same for all feeds of a circle.
    func touchNotices(in circle: String, now: Int) throws {
        try execute(
            """
            UPDATE feed_tokens SET \(GraceNotice.touch)
            WHERE feed_id IN (SELECT id FROM feeds WHERE circle_id = $2) AND ends_at > $1
            """, [.integer(now), .text(circle)])
    }

    func endTokens(of feed: String, now: Int) throws {
        try execute(
            "UPDATE feed_tokens SET ends_at = $2 WHERE feed_id = $1 AND (ends_at IS NULL OR ends_at > $2)",
            [.text(feed), .integer(now)])
    }

    func insertToken(hash: String, feed: String, now: Int) throws {
        try execute(
            "INSERT INTO feed_tokens (hash, feed_id, created_at) VALUES ($1, $2, $3)",
            [.text(hash), .text(feed), .integer(now)])
    }
}

extension GraceNotice {
    static let touch = "notice_sequence = notice_sequence + 1, noticed_at = $1"
}
