// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StorageSQLite
import Testing

@testable import FeedTokens

@Suite("Counting accesses")
struct AccessCounterTests {
    let home: TemporaryLedger
    let store: WatchedStore
    var path: String { home.directory.appending(path: "kalends.sqlite.accesses").path }

    init() async throws {
        home = try await TemporaryLedger.make()
        store = WatchedStore(home.store)
    }

    /// Opens the counter while `body` runs; `isKilled` leaves what was recorded as it is.
    private func counting(
        bytes: Int = 1 << 20, isKilled: Bool = false, _ body: @Sendable (AccessCounter) async throws -> Void
    ) async throws {
        let counter = try await AccessCounter(store: store, path: path, bytes: bytes)
        do { try await body(counter) } catch {
            counter.journal.close()
            throw error
        }
        if isKilled { counter.journal.close() } else { await counter.close() }
    }

    private func count(of feed: String) async throws -> Int? { try await home.read { try $0.feed(feed)?.accessCount } }

    @Test("Ten thousand accesses by eight tasks at once are ten thousand, in fewer commits")
    func countsExactly() async throws {
        let (feed, _) = try await home.create()
        try await counting { counter in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        for time in 0..<1_250 {
                            try await counter.count(.sample(feed.number, at: time, client: task % 3))
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await counter.fold()
        }
        let (counted, clients, days, numbers) = try await home.read { transaction in
            (
                try transaction.feed(feed.id)?.accessCount, try transaction.clients(of: feed.id),
                try transaction.clientDays(of: feed.id),
                try transaction.accesses(of: feed.id, limit: 20_000).map(\.number)
            )
        }
        #expect(counted == 10_000)
        #expect(clients.map(\.accessCount) == [3_750, 3_750, 2_500])
        #expect(days.map(\.accessCount) == [3_750, 3_750, 2_500])
        #expect(numbers == ((10_001 - numbers.count)...10_000).reversed())
        #expect(store.records < 100)
    }

    @Test("An access is in the counts after the next fold, and on the disk before")
    func recordsBeforeReturning() async throws {
        let (feed, _) = try await home.create()
        try await counting { counter in
            for number in 1...20 {
                try await counter.count(.sample(feed.number, at: number))
                #expect(counter.journal.pending == 1)
                try await counter.fold()
                let counted = try await count(of: feed.id)
                #expect(counted == number)
                #expect(counter.journal.pending == 0)
            }
        }
    }

    @Test("What was acknowledged is counted at the next start, once, however often the end comes before a fold")
    func survivesEnds() async throws {
        let (feed, _) = try await home.create()
        for round in 1...5 {
            try await counting(isKilled: true) { counter in
                #expect(counter.journal.pending == (round - 1) * 7)
                for time in 0..<7 { try await counter.count(.sample(feed.number, at: time)) }
            }
        }
        let counted = try await count(of: feed.id)
        #expect(counted == 0)
        try await counting { counter in
            try await counter.fold()
            let counted = try await count(of: feed.id)
            #expect(counted == 35)
        }
        try await counting { counter in
            #expect(counter.journal.pending == 0)
            let counted = try await count(of: feed.id)
            #expect(counted == 35)
        }
    }

    @Test("An end between the fold's commit and its note in memory doubles nothing")
    func foldsOnce() async throws {
        let (feed, _) = try await home.create()
        let before = path + ".before"
        try await counting(isKilled: true) { counter in
            for time in 0..<9 { try await counter.count(.sample(feed.number, at: time)) }
            try FileManager.default.copyItem(atPath: path, toPath: before)
            try await counter.fold()
        }
        // The journal as it was before the fold, the database as it was after.
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: before, toPath: path)
        try await counting { counter in
            #expect(counter.journal.pending == 0)
            try await counter.count(.sample(feed.number, at: 9))
            try await counter.fold()
            let counted = try await count(of: feed.id)
            #expect(counted == 10)
        }
    }

    @Test("Accesses of many feeds are counted each on its own; one of a deleted feed fails nobody")
    func countsManyFeeds() async throws {
        var feeds: [Feed] = []
        for label in 0..<10 { feeds.append(try await home.create(.sample(label: "\(label)")).feed) }
        let gone = try await home.create(.sample(label: "gone")).feed
        let kept = feeds
        try await counting { counter in
            for feed in kept + [gone] {
                for time in 0..<20 { try await counter.count(.sample(feed.number, at: time)) }
            }
            try await home.write { try $0.deleteFeed(gone.id, now: 2) }
            try await counter.fold()
        }
        // A number is not given again, so a later feed never gets accesses of a gone one.
        let later = try await home.create(.sample(label: "later")).feed
        #expect(later.number == gone.number + 1)
        let counts = try await home.read { transaction in
            try (kept + [later]).map { try transaction.feed($0.id)?.accessCount }
        }
        #expect(counts == Array(repeating: 20, count: 10) + [0])
    }

    @Test("While the database cannot be written accesses are recorded, and counted once it can be")
    func outlastsFullDisk() async throws {
        let (feed, _) = try await home.create()
        try await counting { counter in
            store.fail(true)
            for time in 0..<10 { try await counter.count(.sample(feed.number, at: time)) }
            await #expect(throws: WatchedStore.DiskFull.self) { try await counter.fold() }
            #expect(counter.foldingFailure is WatchedStore.DiskFull)
            #expect(counter.journal.failure == nil)
            store.fail(false)
            try await counter.fold()
            #expect(counter.foldingFailure == nil)
            let counted = try await count(of: feed.id)
            #expect(counted == 10)
        }
    }

    @Test("A full journal refuses, reports it, and takes accesses again after the next fold")
    func refusesWhenFull() async throws {
        let (feed, _) = try await home.create()
        try await counting(bytes: JournalFile.headSize + 10 * AccessRecord.size) { counter in
            for round in 1...3 {
                for time in 0..<10 { try await counter.count(.sample(feed.number, at: time)) }
                #expect(counter.journal.failure == .full)
                await #expect(throws: JournalFailure.full) { try await counter.count(.sample(feed.number)) }
                try await counter.fold()
                #expect(counter.journal.failure == nil)
                let counted = try await count(of: feed.id)
                #expect(counted == round * 10)
            }
        }
    }

    @Test("An access whose reader has gone is counted all the same")
    func countsCancelled() async throws {
        let (feed, _) = try await home.create()
        try await counting { counter in
            let tasks = (0..<50).map { time in Task { try await counter.count(.sample(feed.number, at: time)) } }
            for task in tasks { task.cancel() }
            for task in tasks { try await task.value }
            try await counter.fold()
            let counted = try await count(of: feed.id)
            #expect(counted == 50)
        }
    }

    @Test("Counting leaves the cache of tokens valid")
    func keepsGeneration() async throws {
        let (feed, _) = try await home.create()
        try await counting { counter in
            let before = home.store.clock.now
            try await counter.count(.sample(feed.number))
            try await counter.fold()
            #expect(home.store.clock.now == before)
        }
    }

    @Test("A journal of another life of the database is not taken for its own")
    func ignoresForeignJournal() async throws {
        let (feed, _) = try await home.create()
        try await counting(isKilled: true) { counter in try await counter.count(.sample(feed.number)) }
        try await home.store.record { try $0.forgetAccessJournal() }
        try await counting { counter in
            #expect(counter.journal.pending == 0)
            try await counter.fold()
            let counted = try await count(of: feed.id)
            #expect(counted == 0)
        }
    }

    @Test("A journal gets another size once nothing is left in it")
    func changesSize() async throws {
        let (feed, _) = try await home.create()
        let size = { try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int }
        try await counting(isKilled: true) { counter in try await counter.count(.sample(feed.number)) }
        try await counting(bytes: 1 << 16) { counter in #expect(counter.journal.pending == 1) }
        #expect(try size() == 1 << 20)
        try await counting(bytes: 1 << 16) { counter in try await counter.count(.sample(feed.number)) }
        #expect(try size() == 1 << 16)
        let counted = try await count(of: feed.id)
        #expect(counted == 2)
    }
}
