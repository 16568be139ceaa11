// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import Testing

@Suite("Accesses")
struct FeedAccessTests {
    let home: TemporaryStore

    init() throws { home = try TemporaryStore() }

    private func makeFeeds() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            for id in ["f", "g", "gone"] { try transaction.insert(.sample(id, label: id)) }
        }
    }

    @Test("The count of a feed is the number of its accesses, numbered without a gap in their order")
    func counts() async throws {
        try await makeFeeds()
        try await home.write { transaction in
            for group in [1, 7, 3] {
                let accesses = (0..<group).flatMap { index in
                    [FeedAccess.sample("f", at: group * 10 + index, status: 304), .sample("g", at: index)]
                }
                try transaction.count(accesses)
            }
            let feed = try transaction.feed("f")
            let accesses = try transaction.accesses(of: "f", limit: 100)
            #expect(feed?.accessCount == 11)
            #expect(feed?.lastAccessedAt == 32)
            #expect(accesses.map(\.number) == Array((1...11).reversed()))
            #expect(accesses.map(\.access.at) == [32, 31, 30, 76, 75, 74, 73, 72, 71, 70, 10])
            #expect(accesses.allSatisfy { $0.access.feedID == "f" && $0.access.status == 304 })
            #expect(accesses.allSatisfy { $0.access.network == "192.0.2.0/24" })
            #expect(try transaction.feed("g")?.accessCount == 11)
        }
    }

    @Test("Accesses come in pages, newest first")
    func pages() async throws {
        try await makeFeeds()
        try await home.write { transaction in
            try transaction.count((1...5).map { .sample("f", at: $0) })
            #expect(try transaction.accesses(of: "f", limit: 2).map(\.number) == [5, 4])
            #expect(try transaction.accesses(of: "f", before: 4, limit: 9).map(\.number) == [3, 2, 1])
            #expect(try transaction.accesses(of: "g", limit: 9).isEmpty)
        }
    }

    @Test("The clients' counts add up to the feed's, most frequent first")
    func countsClients() async throws {
        try await makeFeeds()
        try await home.write { transaction in
            try transaction.count([
                .sample("f", at: 1, client: "Outlook"), .sample("f", at: 2, client: "Google"),
                .sample("f", at: 3, client: "Google"), .sample("g", at: 9, client: "Outlook"),
            ])
            try transaction.count([.sample("f", at: 5, client: "Google"), .sample("f", at: 4, client: "Browser")])
            let clients = try transaction.clients(of: "f")
            #expect(clients.map(\.client) == ["Google", "Browser", "Outlook"])
            #expect(clients.map(\.accessCount) == [3, 1, 1])
            #expect(clients.map(\.lastSeenAt) == [5, 4, 1])
            #expect(try transaction.feed("f")?.accessCount == clients.map(\.accessCount).reduce(0, +))
        }
    }

    @Test("An access of a feed that is gone is left out and does not fail the others")
    func leavesOutDeleted() async throws {
        try await makeFeeds()
        try await home.write { transaction in
            try transaction.deleteFeed("gone", now: 1)
            try transaction.count([.sample("f"), .sample("gone"), .sample("never"), .sample("g"), .sample("f")])
            #expect(try transaction.feed("f")?.accessCount == 2)
            #expect(try transaction.feed("g")?.accessCount == 1)
            #expect(try transaction.numbers("SELECT COUNT(*) AS value FROM feed_accesses") == [3])
            #expect(try transaction.numbers("SELECT SUM(access_count) AS value FROM feed_clients") == [3])
        }
    }

    @Test("Counting nothing changes nothing")
    func countsNothing() async throws {
        try await makeFeeds()
        try await home.write { transaction in
            try transaction.count([])
            let feed = try transaction.feed("f")
            #expect(feed?.accessCount == 0 && feed?.lastAccessedAt == nil)
        }
    }

    @Test("Pruning forgets single accesses, keeps the counts, and numbers go on")
    func prunes() async throws {
        try await makeFeeds()
        try await home.write { transaction in
            try transaction.count((1...10).map { .sample("f", at: $0) })
            try transaction.pruneAccesses(before: 8)
            #expect(try transaction.accesses(of: "f", limit: 99).map(\.access.at) == [10, 9, 8])
            #expect(try transaction.feed("f")?.accessCount == 10)
            #expect(try transaction.clients(of: "f").map(\.accessCount) == [10])
            try transaction.pruneAccesses(before: 100)
            try transaction.count([.sample("f", at: 100)])
            #expect(try transaction.accesses(of: "f", limit: 99).map(\.number) == [11])
            #expect(try transaction.feed("f")?.accessCount == 11)
        }
    }

    @Test("The count goes on when the token is replaced")
    func countsAcrossTokens() async throws {
        try await makeFeeds()
        try await home.write { transaction in
            try transaction.count([.sample("f"), .sample("f")])
            try transaction.replaceToken(of: "f", hash: hash("f2"), hint: "", sealed: "", othersEndAt: 2, now: 2)
            try transaction.count([.sample("f")])
            #expect(try transaction.feed("f")?.accessCount == 3)
        }
    }

    @Test("A count is on the file when the store is closed right after it")
    func survivesClosing() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite").path
            let store = try SQLiteStore(path: path)
            try await store.write { transaction in
                try transaction.makeHome()
                try transaction.insert(.sample("f"))
            }
            try await store.record { try $0.count([.sample("f"), .sample("f")]) }
            try store.close()
            let again = try SQLiteStore(path: path)
            #expect(try await again.read { try $0.feed("f")?.accessCount } == 2)
            try again.close()
        }
    }
}
