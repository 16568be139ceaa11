// SPDX-License-Identifier: Apache-2.0

public import Storage

/// What a token in a URL opens at one moment.
public enum TokenResolution: Sendable {
    /// The token opens this feed.
    case live(LiveFeed)
    /// The token once opened a feed and never will again: it was revoked or replaced, the feed has expired or was
    /// deleted, or its owner has left.
    case ended
    /// No such token was ever created.
    case unknown
}

/// A feed as a token opens it, read in one snapshot.
public struct OpenFeed: Sendable {
    public let feed: Feed
    public let circle: Circle
    /// The announcement that the token ends; nil for the feed's current token.
    public let notice: GraceNotice?
    /// The first millisecond in which the token opens nothing.
    let endsAt: Int?
    /// The usage of all items of the circle, and that of its events from imports and subscriptions.
    public let itemUsage: Usage
    public let importedUsage: Usage

    /// Returns nil when the feed has ended.
    fileprivate init?(_ record: FeedTokenRecord) {
        guard let feed = record.feed, feed.revokedAt == nil, let circle = record.circle, record.isOfMember else {
            return nil
        }
        self.feed = feed
        self.circle = circle
        (itemUsage, importedUsage) = (record.itemUsage, record.importedUsage)
        notice = record.notice?.ending(by: feed.expiresAt ?? .max)
        endsAt = [record.endsAt, feed.expiresAt].compactMap { $0 }.min()
    }

    public var live: LiveFeed { LiveFeed(feed, circle, notice: notice) }
}

/// What the database holds about a token.
struct FoundToken: Sendable {
    /// Nil when the token has ended.
    var feed: LiveFeed?
    /// The circle whose writes may change the answer; empty once the feed is deleted, which cannot be undone.
    var circleID: String
    var endsAt: Int?

    func resolution(now: Int) -> TokenResolution {
        guard let feed, now < endsAt ?? .max else { return .ended }
        return .live(feed)
    }
}

extension FeedLedger {
    /// Looks a token up by its hash; answers from memory as long as no write has touched its circle.
    ///
    /// An end that was committed before this call is seen, even if an earlier answer was remembered.
    public func resolve(_ token: Secret, now: Int) async throws -> TokenResolution {
        try await resolve(token, now: now) { _, _, _ in }.resolution
    }

    /// Like `resolve`, with what is to be read in the same snapshot if the token has to be looked up and opens a feed.
    ///
    /// - Parameters:
    ///   - read: gets the feed, and what its present version showed last if that is remembered.
    /// - Returns: what `read` returned; nil if it was not called.
    public func resolve<Value: Sendable>(
        _ token: Secret, now: Int,
        reading read: @escaping @Sendable (OpenFeed, ShownFeed?, any ReadTransaction) throws -> Value
    ) async throws -> (resolution: TokenResolution, value: Value?) {
        let key = token.key
        // Read before the look-up: a write that commits during the look-up makes the remembered answer stale at once.
        let time = store.clock.now
        if let known = tokens.find(key, now: now) { return (known, nil) }
        let (hash, tokens) = (token.hash, tokens)
        let (found, value) = try await store.read { transaction -> (FoundToken?, Value?) in
            guard let record = try transaction.feedToken(hash: hash) else { return (nil, nil) }
            guard let open = OpenFeed(record) else {
                return (FoundToken(circleID: record.feed?.circleID ?? ""), nil)
            }
            let found = FoundToken(feed: open.live, circleID: open.circle.id, endsAt: open.endsAt)
            guard now < open.endsAt ?? .max else { return (found, nil) }
            return (found, try read(open, tokens.shown(key, of: open.live), transaction))
        }
        guard let found else { return (.unknown, nil) }
        return (tokens.remember(key, found, asOf: time, now: now), value)
    }

    /// What a token opens in a snapshot; nil when it has ended.
    public func open(_ token: Secret, now: Int, in transaction: any ReadTransaction) throws -> OpenFeed? {
        guard let open = try transaction.feedToken(hash: token.hash).flatMap(OpenFeed.init),
            now < open.endsAt ?? .max
        else { return nil }
        return open
    }

    /// What a token opens, if memory knows it without the database; nil means that `resolve` has to be called.
    public func remembered(_ token: TokenKey, now: Int) -> TokenResolution? { tokens.find(token, now: now) }

    /// Remembers what a version of a feed shows, for the next request with this token.
    public func remember(_ shown: ShownFeed, of version: FeedVersion, for token: Secret) {
        tokens.remember(token.key, shown, of: version)
    }
}
