// SPDX-License-Identifier: Apache-2.0

import Storage
import StorageSQLite
import Testing

@Suite("Feeds and their tokens")
struct FeedTests {
    let home: TemporaryStore

    init() throws { home = try TemporaryStore() }

    @Test("A feed is read back as it was stored, with a token that has no end")
    func inserts() async throws {
        let given = Feed.sample("f", label: "phone", expiresAt: 90, now: 7)
        try await home.write { transaction in
            try transaction.makeHome()
            #expect(try transaction.insertFeed(given, tokenHash: hash("token")) == 1)
        }
        try await home.read { transaction in
            var feed = given
            feed.number = 1
            #expect(try transaction.feed("f") == feed)
            let token = try #require(try transaction.feedToken(hash: hash("token")))
            #expect(token.feedID == "f" && token.endsAt == nil)
            #expect(try transaction.feedToken(hash: hash("other")) == nil)
        }
    }

    @Test("A user has one feed of a circle without a label and one of each label, revoked ones aside")
    func keepsLabelsApart() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.makeHome("other")
            try transaction.insert(.sample("none"))
            try transaction.insert(.sample("phone", label: "phone"))
            try transaction.insert(.sample("case", label: "Phone"))
            try transaction.insert(.sample("of-bob", of: "bob"))
            try transaction.insert(.sample("elsewhere", in: "other"))
        }
        for (id, label) in [("x", nil), ("x", ""), ("x", "phone")] {
            await #expect(throws: (any Error).self) {
                try await home.write { try $0.insert(.sample(id, label: label)) }
            }
        }
        try await home.write { transaction in
            #expect(try transaction.feed(labelled: nil, of: "ann", in: "home")?.id == "none")
            #expect(try transaction.feed(labelled: "phone", of: "ann", in: "home")?.id == "phone")
            #expect(try transaction.feed(labelled: "phone", of: "bob", in: "home") == nil)
            for round in 1...3 {
                let id = try #require(try transaction.feed(labelled: "phone", of: "ann", in: "home")?.id)
                try transaction.revokeFeed(id, now: round)
                #expect(try transaction.feed(labelled: "phone", of: "ann", in: "home") == nil)
                try transaction.insert(.sample("phone-\(round)", label: "phone"))
            }
        }
    }

    @Test("A feed cannot be relabelled as another one, or be of somebody who was never a member")
    func refuses() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.insert(.sample("none"))
            try transaction.insert(.sample("phone", label: "phone"))
        }
        await #expect(throws: (any Error).self) {
            try await home.write { transaction in
                var feed = try #require(try transaction.feed("phone"))
                feed.label = nil
                try transaction.updateFeed(feed)
            }
        }
        await #expect(throws: (any Error).self) { try await home.write { try $0.insert(.sample("x", of: "nobody")) } }
        await #expect(throws: (any Error).self) { try await home.write { try $0.insert(.sample("x", in: "nowhere")) } }
        await #expect(throws: (any Error).self) {
            try await home.write { try $0.insertFeed(.sample("x", of: "bob"), tokenHash: hash("none")) }
        }
        #expect(try await home.read { try $0.feed("x") } == nil)
    }

    @Test("An update changes what a client can change, and neither token nor counts")
    func updates() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.insert(.sample("f"))
            try transaction.count([.sample("f", at: 4)])
            var feed = try #require(try transaction.feed("f"))
            feed.label = "phone"
            feed.config = "[1]"
            feed.expiresAt = 99
            feed.sequenceOffset = 3
            feed.shownChangedAt = 5
            feed.configChangedAt = 6
            feed.updatedAt = 7
            var sent = feed
            sent.accessCount = 0
            sent.tokenHint = "else"
            sent.sealedToken = "else"
            try transaction.updateFeed(sent)
            #expect(try transaction.feed("f") == feed)
            #expect(feed.accessCount == 1 && feed.lastAccessedAt == 4)
        }
    }

    @Test("A replaced token ends at the time it is given, and a later one never lengthens it")
    func replacesTokens() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.insert(.sample("f"))
            try transaction.insert(.sample("other", label: "other"))
            func ends() throws -> [Int?] {
                try ["f", "t2", "t3", "t4"].map { name in try transaction.feedToken(hash: hash(name))?.endsAt }
            }
            func replace(by name: String, othersEndAt end: Int, now: Int) throws {
                try transaction.replaceToken(
                    of: "f", hash: hash(name), hint: name, sealed: "v1.\(name)", othersEndAt: end, now: now)
            }
            try replace(by: "t2", othersEndAt: 5_000, now: 2_000)
            #expect(try ends() == [5_000, nil, nil, nil])
            try replace(by: "t3", othersEndAt: 3_000, now: 3_000)
            #expect(try ends() == [3_000, 3_000, nil, nil])
            // They end with the write, whatever the clock of whoever looks them up shows.
            for name in ["f", "t2"] { #expect(try transaction.feedToken(hash: hash(name))?.feedID == nil) }
            try replace(by: "t4", othersEndAt: 9_000, now: 3_500)
            #expect(try ends() == [3_000, 3_000, 9_000, nil])
            #expect(try transaction.feedToken(hash: hash("t3"))?.feedID == "f")
            let feed = try transaction.feed("f")
            #expect(feed?.tokenHint == "t4" && feed?.sealedToken == "v1.t4" && feed?.updatedAt == 3_500)
            #expect(try transaction.feedToken(hash: hash("other"))?.endsAt == nil)
        }
    }

    @Test("Revoking ends every token at once, those in their grace too, and keeps the first time")
    func revokes() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.insert(.sample("f"))
            try transaction.replaceToken(of: "f", hash: hash("g"), hint: "", sealed: "", othersEndAt: 100, now: 2)
            try transaction.revokeFeed("f", now: 9)
            try transaction.revokeFeed("f", now: 20)
            #expect(try transaction.feed("f")?.revokedAt == 9)
            for name in ["f", "g"] {
                let token = try #require(try transaction.feedToken(hash: hash(name)))
                #expect(token.feedID == "f" && token.endsAt == 9)
            }
        }
    }

    @Test("Deleting takes the feed and its accesses, and leaves the hashes, ended")
    func deletes() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.insert(.sample("f"))
            try transaction.insert(.sample("kept", label: "kept"))
            try transaction.replaceToken(of: "f", hash: hash("g"), hint: "", sealed: "", othersEndAt: 100, now: 2)
            try transaction.count([.sample("f"), .sample("kept")])
            try transaction.deleteFeed("f", now: 9)
            #expect(try transaction.feed("f") == nil)
            #expect(try transaction.clients(of: "f").isEmpty)
            #expect(try transaction.accesses(of: "f", limit: 9).isEmpty)
            for name in ["f", "g"] {
                let token = try #require(try transaction.feedToken(hash: hash(name)))
                #expect(token.feedID == nil && token.endsAt == 9)
            }
            #expect(try transaction.feed("kept")?.accessCount == 1)
            #expect(try transaction.feedToken(hash: hash("kept"))?.endsAt == nil)
        }
    }

    @Test("A hash is never used twice, not even after its feed is gone")
    func keepsHashes() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.insert(.sample("f"))
            try transaction.deleteFeed("f", now: 2)
        }
        await #expect(throws: (any Error).self) { try await home.write { try $0.insert(.sample("f")) } }
    }

    @Test("Feeds are listed by id, a user's or a circle's, ended ones too")
    func lists() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.makeHome("other")
            for id in ["d", "a", "c"] { try transaction.insert(.sample(id, label: id)) }
            try transaction.insert(.sample("b", of: "bob"))
            try transaction.insert(.sample("e", in: "other"))
            try transaction.revokeFeed("c", now: 2)
            #expect(try transaction.feeds(of: "ann", in: "home").map(\.id) == ["a", "c", "d"])
            #expect(try transaction.feeds(of: "ann", in: "home", after: "a", limit: 1).map(\.id) == ["c"])
            #expect(try transaction.feeds(in: "home", after: "", limit: 3).map(\.id) == ["a", "b", "c"])
            #expect(try transaction.feeds(in: "home", after: "c", limit: 3).map(\.id) == ["d"])
        }
    }

    @Test("A reveal is recorded")
    func notesReveal() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.insert(.sample("f"))
            try transaction.noteReveal(of: "f", now: 8)
            #expect(try transaction.feed("f")?.lastRevealedAt == 8)
        }
    }
}
