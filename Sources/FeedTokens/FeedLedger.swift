// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.
public import Storage

/// The secrets of feeds and of calendar apps from creation to end: what they open, and what ends them.
public struct FeedLedger: Sendable {
    let store: any Store
    let key: SealingKey
    /// The tokens that were looked up before.
    public let tokens: TokenMemory
    let passwords: AppPasswordMemory

    /// - Parameter memory: the bytes to use for remembered tokens.
    public init(store: any Store, key: SealingKey, memory: Int = 256 << 20) {
        self.store = store
        self.key = key
        self.tokens = TokenMemory(clock: store.clock, limit: memory)
        passwords = AppPasswordMemory(clock: store.clock)
    }

    /// The requested properties of a new feed.
    public struct NewFeed: Sendable {
        public var circleID: String
        public var userID: String
        public var label: String?
        /// The configuration as JSON.
        public var config: String
        /// Whether the configuration includes entries of the feed's owner.
        public var showsOwn: Bool
        public var expiresAt: Int?

        public init(
            circleID: String, userID: String, label: String?, config: String, showsOwn: Bool = false, expiresAt: Int?
        ) {
            self.circleID = circleID
            self.userID = userID
            self.label = label
            self.config = config
            self.showsOwn = showsOwn
            self.expiresAt = expiresAt
        }
    }

    /// Why a feed cannot be changed as requested.
    public enum Refusal: Error, Hashable, Sendable {
        /// The user already has a feed with this label, or another one without a label.
        case labelTaken(by: String)
        case revoked
        case expired
    }

    /// Creates a feed with its first token.
    ///
    /// Throws `Refusal.labelTaken` when the user has a feed in this circle with the same label, or both have no label.
    public func create(_ new: NewFeed, in transaction: any WriteTransaction, now: Int) throws -> (Feed, Secret) {
        if let first = try transaction.feed(labelled: new.label, of: new.userID, in: new.circleID) {
            throw Refusal.labelTaken(by: first.id)
        }
        let token = Secret.make(.feed)
        let id = Self.makeID()
        var feed = Feed(
            id: id, circleID: new.circleID, userID: new.userID, label: new.label, config: new.config,
            tokenHint: token.hint, sealedToken: try key.seal(token.reveal(), for: Self.purpose(id)),
            expiresAt: new.expiresAt, now: now)
        feed.showsOwn = new.showsOwn
        feed.number = try transaction.insertFeed(feed, tokenHash: token.hash)
        return (feed, token)
    }

    /// Gives a feed a new token; the old one ends at once, or after `graceSeconds`, which its feed then announces.
    ///
    /// Throws `Refusal.revoked` or `.expired` for a feed that has ended: it cannot be reopened.
    public func regenerate(
        _ feed: Feed, graceSeconds: Int, in transaction: any WriteTransaction, now: Int
    ) throws -> Secret {
        if feed.revokedAt != nil { throw Refusal.revoked }
        if let expiresAt = feed.expiresAt, expiresAt <= now { throw Refusal.expired }
        let token = Secret.make(.feed)
        try transaction.replaceToken(
            of: feed.id, hash: token.hash, hint: token.hint,
            sealed: try key.seal(token.reveal(), for: Self.purpose(feed.id)),
            othersEndAt: now + graceSeconds * 1000, noticeUID: Self.makeID(), now: now)
        return token
    }

    /// The feed's current token, for showing it to its owner again; the reveal is recorded.
    ///
    /// Throws `SealingKey.Failure.wrongKey` when the token was sealed with a key that the server does not have.
    public func reveal(_ feed: Feed, in transaction: any WriteTransaction, now: Int) throws -> Secret {
        let text = try key.open(feed.sealedToken, for: Self.purpose(feed.id))
        guard let token = Secret(.feed, text: text) else { throw SealingKey.Failure.wrongKey }
        try transaction.noteReveal(of: feed.id, now: now)
        return token
    }

    /// The purpose for which a feed's token is sealed. It binds the token to its feed: a copy in another row opens nothing.
    package static func purpose(_ feed: String) -> String { "feeds/\(feed)/token" }

    /// An id that reveals nothing: 128 random bits in hex, so that it never begins with a hyphen like an option.
    public static func makeID() -> String { Hexadecimal.text([UInt8].random(16)) }
}
