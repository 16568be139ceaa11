// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StorageSQLite
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
                    [SampleAccess.sample("f", at: group * 10 + index, status: 304), .sample("g", at: index)]
                }
                try transaction.count(accesses)
            }
            let feed = try transaction.feed("f")
            let accesses = try transaction.accesses(of: "f", limit: 100)
            #expect(feed?.accessCount == 11)
            #expect(feed?.lastAccessedAt == 32)
            #expect(accesses.map(\.number) == Array((1...11).reversed()))
            #expect(accesses.map(\.at) == [32, 31, 30, 76, 75, 74, 73, 72, 71, 70, 10])
            #expect(accesses.allSatisfy { $0.status == 304 })
            #expect(accesses.allSatisfy { $0.network == "192.0.2.0/24" })
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
                .sample("f", at: 1, client: 4), .sample("f", at: 2, client: 3),
                .sample("f", at: 3, client: 3), .sample("g", at: 9, client: 4),
            ])
            try transaction.count([.sample("f", at: 5, client: 3), .sample("f", at: 4, client: 13)])
            let clients = try transaction.clients(of: "f")
            #expect(clients.map(\.client) == [3, 4, 13])
            #expect(clients.map(\.accessCount) == [3, 1, 1])
            #expect(clients.map(\.lastSeenAt) == [5, 1, 4])
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

    @Test("Days are days of UTC, counted by client, newest first")
    func countsDays() async throws {
        try await makeFeeds()
        let day = 86_400_000
        try await home.write { transaction in
            try transaction.count([
                .sample("f", at: day - 1, client: 4), .sample("f", at: day, client: 4),
                .sample("f", at: day, client: 3),
                .sample("g", at: 5 * day), .sample("f", at: 9 * day, client: 3),
            ])
            try transaction.count([.sample("f", at: 2 * day - 1, client: 3)])
            let days = try transaction.clientDays(of: "f")
            #expect(days.map(\.day) == [9, 1, 1, 0])
            #expect(days.map(\.client) == [3, 3, 4, 4])
            #expect(days.map(\.accessCount) == [1, 2, 1, 1])
            #expect(try transaction.clientDays(of: "f", limit: 2).map(\.day) == [9, 1])
            try transaction.pruneAccesses(before: 0, daysBefore: 9 * day, now: 9 * day)
            #expect(try transaction.clientDays(of: "f").map(\.day) == [9])
            #expect(try transaction.feed("f")?.accessCount == 5)
        }
    }

    @Test("What was folded already is left out, whatever part of it comes again")
    func foldsOnce() async throws {
        try await makeFeeds()
        try await home.write { transaction in
            let number = try #require(try transaction.feed("f")?.number)
            let all = (1...9).map { sequence in
                SequencedAccess(
                    sequence: sequence,
                    access: FeedAccess(feed: number, at: sequence, client: 0, status: 200, network: .local))
            }
            #expect(try transaction.fold(Array(all[0..<4])) == 4)
            #expect(try transaction.fold(Array(all[0..<4])) == 4)
            #expect(try transaction.fold(Array(all[2..<6])) == 6)
            #expect(try transaction.fold(all) == 9)
            #expect(try transaction.feed("f")?.accessCount == 9)
            #expect(try transaction.accesses(of: "f", limit: 99).map(\.at) == (1...9).reversed())
            #expect(try transaction.clientDays(of: "f").map(\.accessCount) == [9])
        }
    }

    @Test("The newest accesses stay listed however often a feed is read; the counts are whole")
    func cutsLists() async throws {
        try await makeFeeds()
        try await home.write { transaction in
            var count = 0
            for group in [3, 1, 25, 9, 2, 40, 1, 1, 1, 7] {
                try transaction.count(
                    (0..<group).flatMap { [.sample("f", at: count + $0), .sample("g", at: 1)] }, keepingNewest: 10)
                count += group
                let listed = try transaction.accesses(of: "f", limit: 999).map(\.number)
                #expect(listed == Array((count - listed.count + 1)...count).reversed())
                #expect(listed.count <= 20 && listed.count >= min(count, 10))
                #expect(try transaction.feed("f")?.accessCount == count)
            }
            #expect(try transaction.numbers("SELECT COUNT(*) AS value FROM feed_accesses")[0] <= 40)
        }
    }

    @Test("Lists of many feeds are interleaved and are distinguished")
    func keepsListsApart() async throws {
        try await makeFeeds()
        try await home.write { transaction in
            for round in 0..<30 {
                try transaction.count(
                    (0..<5).map { .sample(($0 + round) % 3 == 0 ? "f" : "g", at: round * 10 + $0, client: $0) })
            }
            for feed in ["f", "g"] {
                let expected = (0..<150).filter { (($0 % 5 + $0 / 5) % 3 == 0) == (feed == "f") }
                let listed = try transaction.accesses(of: feed, limit: 999)
                #expect(listed.map(\.at) == expected.map { $0 / 5 * 10 + $0 % 5 }.reversed())
            }
        }
    }

    @Test("A clock that was wrong for a while cuts no list in its middle")
    func prunesWithWrongClock() async throws {
        try await makeFeeds()
        try await home.write { transaction in
            // Ten years back, then ten years ahead, then right again.
            try transaction.count([100, 101, 1, 2, 9_000, 9_001, 110].map { .sample("f", at: $0) })
            try transaction.pruneAccesses(before: 50, daysBefore: 0, now: 120)
            #expect(try transaction.accesses(of: "f", limit: 99).map(\.at) == [110, 9_001, 9_000, 2, 1, 101, 100])
            try transaction.pruneAccesses(before: 105, daysBefore: 0, now: 130)
            #expect(try transaction.accesses(of: "f", limit: 99).map(\.at) == [110])
            #expect(try transaction.feed("f")?.accessCount == 7)
            #expect(try transaction.feed("f")?.lastAccessedAt == 110)
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

    @Test("Pruning removes single accesses, keeps the counts, and numbers go on")
    func prunes() async throws {
        try await makeFeeds()
        try await home.write { transaction in
            try transaction.count((1...10).map { .sample("f", at: $0) })
            try transaction.pruneAccesses(before: 8, daysBefore: 0, now: 10)
            #expect(try transaction.accesses(of: "f", limit: 99).map(\.at) == [10, 9, 8])
            #expect(try transaction.feed("f")?.accessCount == 10)
            #expect(try transaction.clients(of: "f").map(\.accessCount) == [10])
            try transaction.pruneAccesses(before: 100, daysBefore: 0, now: 100)
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
