// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage
import Testing

@Suite("Counting accesses")
struct AccessCounterTests {
    let home: TemporaryLedger
    let store: WatchedStore
    let counter: AccessCounter

    init() async throws {
        home = try await TemporaryLedger.make()
        store = WatchedStore(home.store)
        counter = AccessCounter(store: store)
    }

    @Test("Ten thousand accesses by eight tasks at once are ten thousand, in fewer commits")
    func countsExactly() async throws {
        let (feed, _) = try await home.create()
        let counter = counter
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for time in 0..<1_250 {
                        try await counter.count(.sample(feed.id, at: time, client: "Client \(task % 3)"))
                    }
                }
            }
            try await group.waitForAll()
        }
        let (counted, numbers, clients) = try await home.read { transaction in
            (
                try transaction.feed(feed.id)?.accessCount,
                try transaction.accesses(of: feed.id, limit: 20_000).map(\.number),
                try transaction.clients(of: feed.id)
            )
        }
        #expect(counted == 10_000)
        #expect(numbers == Array((1...10_000).reversed()))
        #expect(clients.map(\.accessCount) == [3_750, 3_750, 2_500])
        #expect(store.records < 10_000)
    }

    @Test("An access is committed when its count returns")
    func commitsBeforeReturning() async throws {
        let (feed, _) = try await home.create()
        for number in 1...20 {
            try await counter.count(.sample(feed.id, at: number))
            #expect(try await home.read { try $0.feed(feed.id)?.accessCount } == number)
        }
    }

    @Test("Accesses of many feeds are counted each on its own; one of a deleted feed fails nobody")
    func countsManyFeeds() async throws {
        var ids: [String] = []
        for label in 0..<10 { ids.append(try await home.create(.sample(label: "\(label)")).feed.id) }
        let gone = try await home.create(.sample(label: "gone")).feed.id
        try await home.write { try $0.deleteFeed(gone, now: 2) }
        let (feeds, counter) = (ids, counter)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for feed in feeds + [gone] {
                for time in 0..<20 { group.addTask { try await counter.count(.sample(feed, at: time)) } }
            }
            try await group.waitForAll()
        }
        let counts = try await home.read { transaction in
            try feeds.map { try transaction.feed($0)?.accessCount }
        }
        #expect(counts == Array(repeating: 20, count: 10))
    }

    @Test("A count that could not be committed is told, and the next one works again")
    func tellsFailure() async throws {
        let (feed, _) = try await home.create()
        store.fail(true)
        let counter = counter
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    await #expect(throws: WatchedStore.DiskFull.self) { try await counter.count(.sample(feed.id)) }
                }
            }
        }
        store.fail(false)
        try await counter.count(.sample(feed.id))
        #expect(try await home.read { try $0.feed(feed.id)?.accessCount } == 1)
    }

    @Test("An access whose reader has gone is counted all the same")
    func countsCancelled() async throws {
        let (feed, _) = try await home.create()
        let counter = counter
        let tasks = (0..<50).map { time in Task { try await counter.count(.sample(feed.id, at: time)) } }
        for task in tasks { task.cancel() }
        for task in tasks { try await task.value }
        #expect(try await home.read { try $0.feed(feed.id)?.accessCount } == 50)
    }

    @Test("Counting leaves what is remembered of tokens valid")
    func keepsGeneration() async throws {
        let (feed, _) = try await home.create()
        let before = home.store.generation
        try await counter.count(.sample(feed.id))
        #expect(home.store.generation == before)
    }
}
