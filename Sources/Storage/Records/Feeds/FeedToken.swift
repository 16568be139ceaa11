// SPDX-License-Identifier: Apache-2.0

/// What the database stores about the hash of a token.
public struct FeedTokenRecord: Hashable, Sendable {
    /// The feed's id; nil once the token has been detached from its feed.
    public var feedID: String?
    /// When the token stops opening anything; nil while it is the feed's current one.
    public var endsAt: Int?
    /// Nil for a current token, and for one that ended when it was replaced.
    public var notice: GraceNotice?
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

    /// Returns the notice for a token that ends at that time at the latest, in a language.
    public func ending(by time: Int, in language: String?) -> GraceNotice {
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
        try row(
            """
            SELECT feed_id, ends_at, replaced_at, notice_uid, notice_sequence, noticed_at FROM feed_tokens
            WHERE hash = $1
            """, [.text(hash)]
        ).map { row in
            var record = FeedTokenRecord(feedID: row.text("feed_id"), endsAt: row.integer("ends_at"))
            if let uid = row.text("notice_uid"), let replacedAt = row.integer("replaced_at"),
                let noticedAt = row.integer("noticed_at"), let endsAt = record.endsAt
            {
                record.notice = GraceNotice(
                    uid: uid, sequence: try row.integer(required: "notice_sequence"), replacedAt: replacedAt,
                    changedAt: noticedAt, endsAt: endsAt)
            }
            return record
        }
    }
}

extension ReadTransaction {
    /// Counts the replaced tokens of a feed that still open it.
    public func tokensInGrace(of feed: String, now: Int) throws -> Int {
        try row(
            "SELECT COUNT(*) AS count FROM feed_tokens WHERE feed_id = $1 AND ends_at > $2",
            [.text(feed), .integer(now)])?.integer("count") ?? 0
    }

    /// Returns the circles of a user's feeds of which a token was replaced.
    public func circlesWithNotices(of user: String) throws -> [String] {
        try rows(
            """
            SELECT DISTINCT circle_id FROM feeds
            WHERE user_id = $1
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
            WHERE feed_id IN (SELECT id FROM feeds WHERE user_id = $2) AND ends_at > $1
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
