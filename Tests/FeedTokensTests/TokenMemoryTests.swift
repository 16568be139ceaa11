// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StorageSQLite
import Testing

@testable import FeedTokens

@Suite("The cache of tokens")
struct TokenMemoryTests {
    private static func slot(_ key: TokenKey, circle: String = "c", number: Int = 0) -> TokenTable.Slot {
        let live = LiveFeed(
            number: number,
            version: FeedVersion(circleVersion: 1, configChangedAt: 1, sequenceOffset: 0, notice: nil), changedAt: 1,
            shown: nil)
        return TokenTable.Slot(key, FoundToken(feed: live, circleID: circle, endsAt: nil), asOf: 1)
    }

    @Test("A shelf finds what it holds and nothing else, through any order of taking in and making room")
    func table() throws {
        var random = SystemRandomNumberGenerator()
        // Few starts for the look-up, so that keys collide.
        let keys = (0..<300).map { number in
            TokenKey(first: [UInt64.random(in: 0..<24, using: &random), UInt64(number)], second: [0, 0])
        }
        var table = TokenTable(capacity: 100)
        for step in 0..<5000 {
            let number = Int.random(in: 0..<keys.count, using: &random)
            if let index = table.find(keys[number]) {
                #expect(table.slots[index].key == keys[number])
                table.slots[index].isUsed = true
            } else {
                table.insert(Self.slot(keys[number], number: number))
                #expect(table.find(keys[number]) != nil, "step \(step)")
            }
            #expect(table.slots.count <= 100)
        }
        let held = Set(table.slots.map(\.key))
        #expect(held.count == 100)
        for key in keys { #expect((table.find(key) != nil) == held.contains(key)) }
    }

    @Test("What is asked for again and again stays when others make room")
    func keepsTheUsed() throws {
        var table = TokenTable(capacity: 10)
        let used = TokenKey(first: [7, 7], second: [7, 7])
        table.insert(Self.slot(used))
        for number in 0..<200 {
            let other = TokenKey(first: [UInt64(number), 1], second: [1, 1])
            table.insert(Self.slot(other, number: number))
            let index = try #require(table.find(used))
            table.slots[index].isUsed = true
        }
    }

    @Test("A million tokens fit into the memory that is set aside for them")
    func size() { #expect(TokenMemory.bytesPerToken * 1_000_000 <= 256 << 20) }

    @Test("Through any sequence of writes what is remembered is what a look-up would find")
    func agreesWithTheDatabase() async throws {
        let home = try await TemporaryLedger.make()
        var random = SystemRandomNumberGenerator()
        var tokens: [(feed: String, circle: String, token: Secret)] = []
        for step in 1...300 {
            let now = step * 10
            let circle = Bool.random(using: &random) ? "home" : "other"
            let user = Bool.random(using: &random) ? "ann" : "bob"
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1:
                let new = FeedLedger.NewFeed(
                    circleID: circle, userID: user, label: "\(step)", config: "{}",
                    expiresAt: step % 3 == 0 ? now + 200 : nil)
                let ledger = home.ledger
                let made = try? await home.write { transaction in
                    transaction.concerns(circle: circle)
                    return try ledger.create(new, in: transaction, now: now)
                }
                if let (feed, token) = made { tokens.append((feed.id, circle, token)) }
            case 2:
                guard let chosen = tokens.randomElement(using: &random) else { continue }
                try await home.write { transaction in
                    transaction.concerns(circle: chosen.circle)
                    try transaction.revokeFeed(chosen.feed, now: now)
                }
            case 3:
                guard let chosen = tokens.randomElement(using: &random) else { continue }
                let ledger = home.ledger
                let token = try await home.write { transaction -> Secret? in
                    transaction.concerns(circle: chosen.circle)
                    guard let feed = try transaction.feed(chosen.feed) else { return nil }
                    return try? ledger.regenerate(feed, graceSeconds: step % 2, in: transaction, now: now)
                }
                if let token { tokens.append((chosen.feed, chosen.circle, token)) }
            case 4:
                try await home.write { transaction in
                    transaction.concerns(circle: circle)
                    try transaction.touchCircle(circle, now: now)
                }
            case 5 where step % 10 == 0:
                try await home.write { transaction in
                    transaction.concerns(circle: circle)
                    _ = try transaction.removeMember(user, from: circle, now: now)
                    _ = try transaction.putMember(user, in: circle, displayName: user, role: .member, now: now)
                }
            case 6:
                guard let chosen = tokens.randomElement(using: &random) else { continue }
                try await home.write { transaction in
                    transaction.concerns(circle: chosen.circle)
                    try transaction.deleteFeed(chosen.feed, now: now)
                }
            default: break
            }
            let fresh = FeedLedger(store: home.store, key: home.key)
            for (_, _, token) in tokens.suffix(20) {
                let (kept, looked) = (
                    try await home.ledger.resolve(token, now: now), try await fresh.resolve(token, now: now)
                )
                #expect("\(kept)" == "\(looked)", "step \(step)")
            }
        }
    }
}
