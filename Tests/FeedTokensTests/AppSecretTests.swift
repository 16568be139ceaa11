// SPDX-License-Identifier: Apache-2.0

import Storage
import Testing

@testable import FeedTokens

@Suite("App passwords in the ledger")
struct AppSecretTests {
    @Test("A secret is four groups of five characters that nobody confuses, and is read as people type it")
    func text() throws {
        for _ in 0..<100 {
            let secret = AppSecret.make()
            let text = secret.reveal()
            #expect(text.wholeMatch(of: /([a-km-np-z2-9]{5})(-[a-km-np-z2-9]{5}){3}/) != nil, "\(text)")
            for typed in [text, text.uppercased(), text.replacing("-", with: ""), text.replacing("-", with: " ") + " "]
            {
                #expect(AppSecret(text: typed) == secret, "\(typed)")
            }
            #expect(AppSecret(text: String(text.dropLast())) == nil)
            #expect(AppSecret(text: text + "a") == nil)
            #expect(!"\(secret)".contains(text) && !String(reflecting: secret).contains(text))
        }
        for other in ["", "0aaaa-aaaaa-aaaaa-aaaaa", "l2345-22222-22222-22222", "ann's password", "ééééé"] {
            #expect(AppSecret(text: other) == nil, "\(other)")
        }
        #expect(AppSecret(text: String(repeating: "-", count: 1_000_000)) == nil)
        #expect(Set((0..<1000).map { _ in AppSecret.make().reveal() }).count == 1000)
    }

    private static func password(_ id: String, expiresAt: Int? = nil) -> AppPassword {
        AppPassword(
            id: id, userID: "ann", label: "Phone", mayWrite: true, circleIDs: nil, reachesOwn: true,
            expiresAt: expiresAt, now: 1)
    }

    private static func state(_ home: TemporaryLedger, _ secret: AppSecret, now: Int = 5) async throws -> String {
        switch try await home.ledger.resolve(secret, now: now) {
        case .live(let password): "live \(password.id) \(password.number)"
        case .ended: "ended"
        case .unknown: "unknown"
        }
    }

    @Test("A password opens until it ends or expires, from memory and from the database alike, and never again")
    func life() async throws {
        let home = try await TemporaryLedger.make()
        #expect(try await Self.state(home, AppSecret.make()) == "unknown")
        let ledger = home.ledger
        let (feed, _) = try await home.create()
        let (first, secret) = try await home.write { try ledger.mint(Self.password("p"), in: $0) }
        let (_, brief) = try await home.write { try ledger.mint(Self.password("q", expiresAt: 9), in: $0) }
        // Numbers are those of feeds' sequence, so that no access counts for two.
        #expect(first.number == feed.number + 1)
        for ledger in [home.ledger, FeedLedger(store: home.store, key: home.key)] {
            for _ in 0..<2 {
                guard case .live(let found) = try await ledger.resolve(secret, now: 5) else {
                    Issue.record("It is not live.")
                    return
                }
                #expect((found.id, found.number) == ("p", first.number))
            }
        }
        #expect(try await Self.state(home, brief, now: 8).hasPrefix("live q"))
        #expect(try await Self.state(home, brief, now: 9) == "ended")
        try await home.write { transaction in
            transaction.concerns(circle: FeedLedger.scope(ofPasswords: "ann"))
            try transaction.endAppPassword("p", now: 6)
        }
        for _ in 0..<2 { #expect(try await Self.state(home, secret) == "ended") }
        #expect(try await Self.state(home, AppSecret.make()) == "unknown")
        // The hash outlives the row and what was counted.
        let isLeft = try await home.write { try $0.pruneAppPasswords(endedBefore: 7, limit: 10) }
        #expect(!isLeft)
        #expect(try await home.read { try $0.appPassword("p") } == nil)
        guard case .ended = try await FeedLedger(store: home.store, key: home.key).resolve(secret, now: 7) else {
            Issue.record("What was pruned is not ended.")
            return
        }
    }

    @Test("A password is handed out once, in time, and to nobody once it has ended")
    func handout() async throws {
        let home = try await TemporaryLedger.make()
        let ledger = home.ledger
        let fetchers = (0..<3).map { _ in Secret.make(.profile).hash }
        let (_, secret) = try await home.write { transaction in
            let made = try ledger.mint(Self.password("p"), in: transaction)
            for fetcher in fetchers {
                let isFirst = try ledger.handOut(
                    made.secret, of: made.password, to: fetcher, until: 100, in: transaction)
                #expect(isFirst)
            }
            let again = try ledger.handOut(made.secret, of: made.password, to: fetchers[0], until: 100, in: transaction)
            #expect(!again)
            return made
        }
        func take(_ fetcher: String, _ now: Int) async throws -> AppSecret? {
            try await home.write { try ledger.take(for: fetcher, in: $0, now: now)?.secret }
        }
        #expect(try await take(fetchers[0], 99) == secret)
        #expect(try await take(fetchers[0], 99) == nil)
        #expect(try await take(fetchers[1], 100) == nil)
        #expect(try await take(Secret.make(.profile).hash, 1) == nil)
        _ = try await home.write { try $0.prunePasswordHandouts(now: 100, limit: 10) }
        #expect(try await home.read { try $0.passwordHandout(hash: fetchers[2])?.sealed } == nil)
        #expect(try await home.read { try $0.passwordHandout(hash: fetchers[2]) } != nil)
        _ = try await home.write { try $0.prunePasswordHandouts(now: 100 + PasswordHandout.memory, limit: 10) }
        #expect(try await home.read { try $0.passwordHandout(hash: fetchers[2]) } == nil)
    }

    @Test("Accesses with a password are counted like reads of a feed, each for its own holder")
    func counting() async throws {
        let home = try await TemporaryLedger.make()
        let ledger = home.ledger
        let (feed, _) = try await home.create()
        let (own, _) = try await home.write { try ledger.mint(Self.password("p"), in: $0) }
        let day = 86_400_000
        try await home.write { transaction in
            try transaction.count([.sample(feed.number, at: 5), .sample(own.number, at: 6, client: 14)])
            try transaction.count([.sample(own.number, at: 7, client: 14), .sample(999, at: 8)])
            try transaction.count([.sample(own.number, at: 8 * day, client: 5)])
        }
        let found = try #require(try await home.read { try $0.appPassword("p") })
        #expect((found.accessCount, found.lastAccessedAt) == (3, 8 * day))
        #expect(try await home.read { try $0.feed(feed.id)?.accessCount } == 1)
        let clients = try await home.read { try $0.clients(of: "p") }
        #expect(clients.map(\.client) == [14, 5] && clients.map(\.accessCount) == [2, 1])
        #expect(try await home.read { try $0.accesses(of: "p", limit: 10).map(\.number) } == [3, 2, 1])
        // A program that came first after a week.
        #expect(try await home.read { try $0.attention(of: "p").map(\.kind) } == [.newClient(5)])
        #expect(try await home.write { try $0.clearAttention(of: "p", now: 9 * day) })
        #expect(try await home.read { try $0.attention(of: "p") }.isEmpty)
        try await home.write { try $0.endAppPassword("p", now: 9 * day) }
        // An access that was on its way still counts, and the counts are the proof for a while.
        try await home.write { try $0.count([.sample(own.number, at: 9 * day)]) }
        #expect(
            try await home.read { try $0.endedAppPasswords(of: "ann", since: 1, limit: 9).map(\.accessCount) } == [4])
        _ = try await home.write { try $0.pruneAppPasswords(endedBefore: 10 * day, limit: 10) }
        try await home.write { try $0.count([.sample(own.number, at: 10 * day)]) }
        #expect(try await home.read { try $0.clients(of: "p") }.isEmpty)
    }
}
