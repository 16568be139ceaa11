// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import Foundation
import Storage
import StorageSQLite
import TestSupport
import Testing

@Suite("The ledger of feeds")
struct FeedLedgerTests {
    let home: TemporaryLedger
    var ledger: FeedLedger { home.ledger }

    init() async throws { home = try await TemporaryLedger.make() }

    @Test("A new feed is as it was asked for, with a token that is kept hashed and sealed")
    func creates() async throws {
        let (feed, token) = try await home.create(.sample(label: "phone", expiresAt: 500), now: 7)
        #expect(feed.circleID == "home" && feed.userID == "ann" && feed.label == "phone" && feed.expiresAt == 500)
        #expect(feed.createdAt == 7 && feed.updatedAt == 7 && feed.accessCount == 0 && feed.revokedAt == nil)
        #expect(feed.tokenHint == token.hint)
        #expect(feed.sealedToken.hasPrefix("v1."))
        #expect(!feed.sealedToken.contains(token.reveal()))
        #expect(token.kind == .feed)
        let (stored, record) = try await home.read { (try $0.feed(feed.id), try $0.feedToken(hash: token.hash)) }
        #expect(stored == feed)
        #expect(record?.feedID == feed.id)
    }

    @Test("A second feed with the same label, or none, is refused and names the first")
    func refusesSecondLabel() async throws {
        for label in [nil, "phone"] {
            let (first, _) = try await home.create(.sample(label: label))
            await #expect(throws: FeedLedger.Refusal.labelTaken(by: first.id)) {
                try await home.create(.sample(label: label))
            }
            // No feed of another user, another circle or another label exists yet.
            _ = try await home.create(.sample(of: "bob", label: label))
            _ = try await home.create(.sample(in: "other", label: label))
        }
        #expect(try await home.read { try $0.feeds(of: "ann", in: "home") }.count == 2)
    }

    @Test("The label of a revoked feed is free again; that of an expired one is not")
    func freesLabel() async throws {
        let (first, _) = try await home.create(.sample(label: "phone"))
        try await home.write { try $0.revokeFeed(first.id, now: 2) }
        let (second, _) = try await home.create(.sample(label: "phone", expiresAt: 5), now: 3)
        #expect(second.id != first.id)
        await #expect(throws: FeedLedger.Refusal.labelTaken(by: second.id)) {
            try await home.create(.sample(label: "phone"), now: 9)
        }
    }

    @Test("A revoked or expired feed gets no new token, and keeps the one it had", arguments: [false, true])
    func refusesToRegenerateEnded(isRevoked: Bool) async throws {
        let (feed, token) = try await home.create(.sample(expiresAt: 100), now: 1)
        if isRevoked { try await home.write { try $0.revokeFeed(feed.id, now: 50) } }
        let refusal: FeedLedger.Refusal = isRevoked ? .revoked : .expired
        await #expect(throws: refusal) { try await home.regenerate(feed.id, now: 100) }
        #expect(try await home.read { try $0.feed(feed.id)?.sealedToken } == feed.sealedToken)
        #expect(try await home.state(of: token, now: 100) == "ended")
    }

    @Test("A feed may be regenerated until the moment it expires")
    func regeneratesBeforeExpiry() async throws {
        let (feed, _) = try await home.create(.sample(expiresAt: 100), now: 1)
        let token = try await home.regenerate(feed.id, now: 99)
        #expect(try await home.state(of: token, now: 99) == "live \(feed.number)")
        #expect(try await home.state(of: token, now: 100) == "ended")
    }

    @Test("A reveal gives the feed's current token again and is recorded")
    func reveals() async throws {
        let (feed, first) = try await home.create(now: 1)
        let ledger = ledger
        let revealed = try await home.write { try ledger.reveal(feed, in: $0, now: 5) }
        #expect(revealed == first)
        let noted = try #require(try await home.read { try $0.feed(feed.id) })
        #expect(noted.lastRevealedAt == 5)

        let second = try await home.regenerate(feed.id, now: 6)
        let again = try await home.write { transaction in
            try ledger.reveal(try #require(try transaction.feed(feed.id)), in: transaction, now: 8)
        }
        #expect(again == second && again != first)
        #expect(try await home.read { try $0.feed(feed.id)?.lastRevealedAt } == 8)
    }

    @Test("Another server's key reveals nothing, and the failed reveal is not recorded")
    func refusesOtherKey() async throws {
        let (feed, _) = try await home.create()
        let key = try SealingKey(text: String(repeating: "A", count: 43), source: "test")
        let other = FeedLedger(store: home.store, key: key)
        await #expect(throws: SealingKey.Failure.wrongKey) {
            try await home.write { try other.reveal(feed, in: $0, now: 5) }
        }
        #expect(try await home.read { try $0.feed(feed.id)?.lastRevealedAt } == nil)
    }

    @Test("A sealed token that is copied to another feed reveals nothing there")
    func bindsSealToFeed() async throws {
        let (victim, _) = try await home.create(.sample(of: "ann"))
        let (thief, _) = try await home.create(.sample(of: "bob"))
        let ledger = ledger
        await #expect(throws: SealingKey.Failure.wrongKey) {
            try await home.write { transaction in
                try transaction.execute(
                    "UPDATE feeds SET sealed_token = $2 WHERE id = $1", [.text(thief.id), .text(victim.sealedToken)])
                return try ledger.reveal(try #require(try transaction.feed(thief.id)), in: transaction, now: 5)
            }
        }
    }

    @Test("An id is 32 hex digits, which no command line takes for an option, and no two are the same")
    func makesIDs() {
        let ids = (0..<1_000).map { _ in FeedLedger.makeID() }
        #expect(Set(ids).count == 1_000)
        #expect(ids.allSatisfy { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) })
    }

    @Test("A copy of the database and its log holds no token, no service key and no sealing key")
    func keepsNoSecretInClear() async throws {
        let (feed, first) = try await home.create()
        let second = try await home.regenerate(feed.id, graceSeconds: 60, now: 2)
        let (deleted, third) = try await home.create(.sample(label: "phone"))
        let key = Secret.make(.serviceKey)
        let ledger = ledger
        try await home.write { transaction in
            try transaction.deleteFeed(deleted.id, now: 3)
            try transaction.insertServiceKey(id: "k", name: "App", hash: key.hash, hint: key.hint, now: 1)
            _ = try ledger.reveal(try #require(try transaction.feed(feed.id)), in: transaction, now: 4)
        }
        try await home.store.record { try $0.count([.sample(feed.number)]) }

        let files = try FileManager.default.contentsOfDirectory(at: home.directory, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent != "kalends.sqlite.key" }
        #expect(files.count >= 2)
        let content = try files.map { try Data(contentsOf: $0) }
        func holds(_ bytes: some Collection<UInt8>) -> Bool { content.contains { $0.holds(Data(bytes)) } }

        for secret in [first, second, third, key] {
            #expect(holds(secret.hash.utf8))
            let text = secret.reveal().replacingOccurrences(of: "kal_sk_", with: "")
            #expect(!holds(secret.reveal().utf8))
            // Neither a part of it beyond the hint, nor its bits, nor those in other spellings.
            #expect(!holds(text.dropFirst(4).prefix(12).utf8))
            let bytes = try #require(Base64URL.decode(Array(text.utf8)))
            #expect(!holds(bytes))
            #expect(!holds(Data(bytes).base64EncodedString().utf8))
            #expect(!holds(bytes.map { String(format: "%02x", $0) }.joined().utf8))
        }
        let sealing = try String(
            contentsOf: home.directory.appending(path: "kalends.sqlite.key"), encoding: .utf8
        ).trimmingCharacters(in: .newlines)
        #expect(!holds(sealing.utf8))
        #expect(!holds(try #require(Data(base64Encoded: sealing))))
    }
}
