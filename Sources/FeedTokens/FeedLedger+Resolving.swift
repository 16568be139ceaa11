// SPDX-License-Identifier: Apache-2.0

public import Storage
internal import Synchronization

/// What a token in a URL stands for at one moment.
public enum TokenResolution: Sendable {
    /// It opens this feed.
    case live(LiveFeed)
    /// It once opened a feed and never will again: revoked, replaced, expired, deleted, or its owner has left.
    case ended
    /// No such token was ever made.
    case unknown
}

/// A feed that may be read, with what its validators depend on.
public struct LiveFeed: Sendable {
    public var feed: Feed
    public var circle: Circle
}

extension FeedLedger {
    /// Looks a token up by its hash, from memory as long as nothing was written since.
    ///
    /// An end that was committed before this call is seen, whatever was remembered.
    public func resolve(_ token: Secret, now: Int) async throws -> TokenResolution {
        let hash = token.hash
        // Before the look-up: a write that commits meanwhile makes what is remembered stale at once.
        let generation = store.generation
        if let known = resolved.find(hash, generation: generation) { return known.resolution(now: now) }
        let found = try await store.read { transaction -> ResolvedTokens.Entry? in
            guard let record = try transaction.feedToken(hash: hash) else { return nil }
            guard let feedID = record.feedID, let feed = try transaction.feed(feedID), feed.revokedAt == nil,
                let circle = try transaction.circle(feed.circleID),
                try transaction.member(feed.userID, in: feed.circleID) != nil
            else { return .ended }
            let ends = [record.endsAt, feed.expiresAt].compactMap { $0 }.min()
            return .live(LiveFeed(feed: feed, circle: circle), until: ends)
        }
        guard let found else { return .unknown }
        resolved.remember(hash, found, generation: generation)
        return found.resolution(now: now)
    }
}

/// Tokens that were looked up since the last write, bounded in number.
final class ResolvedTokens: Sendable {
    enum Entry: Sendable {
        case live(LiveFeed, until: Int?)
        case ended

        func resolution(now: Int) -> TokenResolution {
            switch self {
            case .live(_, let until?) where until <= now: .ended
            case .live(let feed, _): .live(feed)
            case .ended: .ended
            }
        }
    }

    private struct State {
        var generation: UInt64 = 0
        var entries: [String: Entry] = [:]
    }

    private static let capacity = 50_000
    private let state = Mutex(State())

    func find(_ hash: String, generation: UInt64) -> Entry? {
        state.withLock { $0.generation == generation ? $0.entries[hash] : nil }
    }

    func remember(_ hash: String, _ entry: Entry, generation: UInt64) {
        state.withLock { state in
            guard generation >= state.generation else { return }
            if generation > state.generation || state.entries.count >= Self.capacity {
                state = State(generation: generation)
            }
            state.entries[hash] = entry
        }
    }
}
