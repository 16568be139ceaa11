// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage
import StorageSQLite
import Testing

@Suite("What a token opens")
struct FeedLedgerResolvingTests {
    let home: TemporaryLedger

    init() async throws { home = try await TemporaryLedger.make() }

    /// A token is resolved before each change too, so that a stale cache would show.
    private func expect(
        _ token: Secret, _ state: String, now: Int, location: SourceLocation = #_sourceLocation
    ) async throws {
        for _ in 1...2 { #expect(try await home.state(of: token, now: now) == state, sourceLocation: location) }
    }

    @Test("A new feed's token opens that feed, with the circle it is of")
    func opens() async throws {
        let (feed, token) = try await home.create()
        guard case .live(let live) = try await home.ledger.resolve(token, now: 2) else {
            Issue.record("The token is not live.")
            return
        }
        #expect(live.number == feed.number)
        let (stored, circle) = try await home.read {
            (try #require(try $0.feed(feed.id)), try #require(try $0.circle("home")))
        }
        #expect(live == LiveFeed(stored, circle))
        // As text from a path, it is the same token.
        try await expect(try #require(Secret(.feed, text: token.reveal())), "live \(feed.number)", now: 2)
    }

    @Test("A token that was never made is unknown, also the bits of a service key")
    func knowsNoOther() async throws {
        _ = try await home.create()
        try await expect(Secret.make(.feed), "unknown", now: 2)
        let key = Secret.make(.serviceKey)
        try await home.write { try $0.insertServiceKey(id: "k", name: "k", hash: key.hash, hint: "", now: 1) }
        try await expect(try #require(Secret(.feed, text: key.reveal().dropFirst(7))), "unknown", now: 2)
    }

    @Test("An unknown token is looked up again, so that one made afterwards opens")
    func doesNotRememberUnknown() async throws {
        let token = Secret.make(.feed)
        try await expect(token, "unknown", now: 2)
        let feed = Feed(
            id: "f", circleID: "home", userID: "ann", label: nil, config: "{}", tokenHint: "", sealedToken: "",
            expiresAt: nil, now: 1)
        let number = try await home.write { try $0.insertFeed(feed, tokenHash: token.hash) }
        try await expect(token, "live \(number)", now: 2)
    }

    @Test("After a regenerate the old token has ended at once and the new one opens the same feed")
    func replacesAtOnce() async throws {
        let (feed, first) = try await home.create(now: 1)
        try await expect(first, "live \(feed.number)", now: 1_000)
        let second = try await home.regenerate(feed.id, now: 1_000)
        // Also by a clock that is behind the one by which it was replaced.
        for now in [1_000, 500] { try await expect(first, "ended", now: now) }
        try await expect(second, "live \(feed.number)", now: 1_000)
        #expect(first != second)
    }

    @Test("With a grace the old token opens until its last millisecond, and no longer")
    func replacesAfterGrace() async throws {
        let (feed, first) = try await home.create(now: 1)
        let second = try await home.regenerate(feed.id, graceSeconds: 60, now: 1_000)
        for now in [1_000, 60_999] {
            try await expect(first, "live \(feed.number)", now: now)
            try await expect(second, "live \(feed.number)", now: now)
        }
        try await expect(first, "ended", now: 61_000)
        try await expect(second, "live \(feed.number)", now: 61_000)
    }

    @Test("A second regenerate without a grace ends one that is still in its grace")
    func cutsGrace() async throws {
        let (feed, first) = try await home.create(now: 1)
        let second = try await home.regenerate(feed.id, graceSeconds: 60, now: 1_000)
        try await expect(first, "live \(feed.number)", now: 2_000)
        let third = try await home.regenerate(feed.id, now: 2_000)
        try await expect(first, "ended", now: 2_000)
        try await expect(second, "ended", now: 2_000)
        try await expect(third, "live \(feed.number)", now: 2_000)
    }

    @Test("Revoking ends the token, and one in its grace with it")
    func revokes() async throws {
        let (feed, first) = try await home.create(now: 1)
        let second = try await home.regenerate(feed.id, graceSeconds: 60, now: 1_000)
        for token in [first, second] { try await expect(token, "live \(feed.number)", now: 1_000) }
        try await home.write { try $0.revokeFeed(feed.id, now: 2_000) }
        for token in [first, second] { try await expect(token, "ended", now: 2_000) }
    }

    @Test("A feed expires by the clock, without a write, and lives on when its expiry is moved")
    func expires() async throws {
        let (feed, token) = try await home.create(.sample(expiresAt: 5_000), now: 1)
        try await expect(token, "live \(feed.number)", now: 4_999)
        try await expect(token, "ended", now: 5_000)
        try await home.write { transaction in
            var feed = try #require(try transaction.feed(feed.id))
            feed.expiresAt = 9_000
            try transaction.updateFeed(feed)
        }
        try await expect(token, "live \(feed.number)", now: 5_000)
        try await expect(token, "ended", now: 9_000)
    }

    @Test("A grace never outlives the feed")
    func endsGraceWithFeed() async throws {
        let (feed, first) = try await home.create(.sample(expiresAt: 5_000), now: 1)
        _ = try await home.regenerate(feed.id, graceSeconds: 60, now: 1_000)
        try await expect(first, "live \(feed.number)", now: 4_999)
        try await expect(first, "ended", now: 5_000)
    }

    @Test("A deleted feed's tokens, replaced ones too, have ended and are not unknown")
    func deletesFeed() async throws {
        let (feed, first) = try await home.create(now: 1)
        let second = try await home.regenerate(feed.id, now: 2)
        try await expect(second, "live \(feed.number)", now: 3)
        try await home.write { try $0.deleteFeed(feed.id, now: 3) }
        for token in [first, second] { try await expect(token, "ended", now: 3) }
    }

    @Test("Leaving the circle ends only its feeds, and coming back revives none")
    func leaves() async throws {
        let (_, token) = try await home.create()
        let (elsewhere, other) = try await home.create(.sample(in: "other"))
        let (ofBob, bobs) = try await home.create(.sample(of: "bob"))
        try await home.write { transaction in _ = try transaction.removeMember("ann", from: "home", now: 5) }
        try await expect(token, "ended", now: 6)
        try await expect(other, "live \(elsewhere.number)", now: 6)
        try await expect(bobs, "live \(ofBob.number)", now: 6)
        try await home.write { transaction in
            _ = try transaction.putMember("ann", in: "home", displayName: "ann", role: .owner, now: 7)
        }
        try await expect(token, "ended", now: 8)
        let (again, new) = try await home.create(now: 8)
        try await expect(new, "live \(again.number)", now: 9)
        try await expect(token, "ended", now: 9)
    }

    @Test("A deleted circle's tokens have ended, also when a circle of its id is made again")
    func deletesCircle() async throws {
        let (feed, token) = try await home.create()
        try await expect(token, "live \(feed.number)", now: 4)
        try await home.write { transaction in _ = try transaction.deleteCircle("home", now: 5) }
        try await expect(token, "ended", now: 5)
        try await home.store.recordRepeatedly { try $0.purgeCircle("home", limit: $1) }
        try await expect(token, "ended", now: 5)
        try await home.write { transaction in
            _ = try transaction.putCircle(Circle(id: "home", name: "home", timeZone: "UTC"), now: 6)
            _ = try transaction.putMember("ann", in: "home", displayName: "ann", role: .owner, now: 6)
        }
        try await expect(token, "ended", now: 7)
    }

    @Test("A changed circle or configuration shows at the next look")
    func seesChanges() async throws {
        let (feed, token) = try await home.create()
        try await expect(token, "live \(feed.number)", now: 2)
        try await home.write { transaction in
            try transaction.touchCircle("home", now: 5_000)
            var feed = try #require(try transaction.feed(feed.id))
            feed.configChangedAt = 4
            feed.sequenceOffset = 1
            try transaction.updateFeed(feed)
        }
        guard case .live(let live) = try await home.ledger.resolve(token, now: 6) else {
            Issue.record("The token is not live.")
            return
        }
        #expect(live.changedAt == 5_000)
        let (stored, circle) = try await home.read {
            (try #require(try $0.feed(feed.id)), try #require(try $0.circle("home")))
        }
        #expect(live.version == FeedVersion(stored, circle))
        #expect(stored.sequenceOffset == 1)
    }

    @Test("A token is looked up once as long as nothing is written; counting accesses does not count as a write")
    func remembers() async throws {
        let store = WatchedStore(home.store)
        let ledger = FeedLedger(store: store, key: home.key)
        let (feed, token) = try await home.create()
        for now in 2...50 { _ = try await ledger.resolve(token, now: now) }
        #expect(store.reads == 1)
        try await store.record { try $0.count([.sample(feed.number)]) }
        _ = try await ledger.resolve(token, now: 51)
        #expect(store.reads == 1)
        try await home.write { try $0.touchCircle("other", now: 52) }
        _ = try await ledger.resolve(token, now: 53)
        #expect(store.reads == 2)
    }

    @Test("A look-up that a revocation overtakes is not remembered")
    func forgetsOvertakenLookUp() async throws {
        let store = WatchedStore(home.store)
        let ledger = FeedLedger(store: store, key: home.key)
        let (feed, token) = try await home.create()
        store.interruptNextRead { try await store.write { try $0.revokeFeed(feed.id, now: 5) } }
        // The look-up began before the revocation, so either answer would do here.
        _ = try await ledger.resolve(token, now: 4)
        guard case .ended = try await ledger.resolve(token, now: 5) else {
            Issue.record("A revoked token was served from memory.")
            return
        }
    }

    @Test("Under a storm of look-ups no token opens anything once its revocation has returned")
    func endsUnderLoad() async throws {
        let home = home
        for round in 1...20 {
            let (feed, token) = try await home.create(.sample(label: "\(round)"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask { for _ in 0..<50 { _ = try await home.state(of: token, now: 2) } }
                }
                group.addTask {
                    try await home.write { try $0.revokeFeed(feed.id, now: 2) }
                    for _ in 0..<20 { #expect(try await home.state(of: token, now: 2) == "ended") }
                }
                try await group.waitForAll()
            }
        }
    }
}
