// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StoreConformance
import Synchronization
import Testing

@testable import FeedTokens

@Suite(
    "Journals of several servers",
    .enabled(if: TestedPostgreSQL.address != nil, "There is no PostgreSQL: run by Scripts/postgresql.sh"))
struct SharedJournalTests {
    private let directory: URL
    private let store: any Store & StoreMaintenance & SharedStore
    private let feed: Feed

    init() async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "kalends-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        store = try TestedPostgreSQL.share(directory.appending(path: "k").path)
        let ledger = FeedLedger(store: store, key: try SealingKey(file: directory.appending(path: "key").path))
        feed = try await store.write { transaction in
            _ = try transaction.putCircle(Circle(id: "home", name: "home", timeZone: "UTC"), now: 1)
            _ = try transaction.putMember("ann", in: "home", displayName: "ann", role: .member, now: 1)
            return try ledger.create(
                FeedLedger.NewFeed(circleID: "home", userID: "ann", label: nil, config: "{}", expiresAt: nil),
                in: transaction, now: 1
            ).0
        }
    }

    private func path(_ server: String) -> String { directory.appending(path: "\(server).accesses").path }

    private func open(_ server: String) async throws -> AccessCounter {
        try await AccessCounter(
            store: store, path: path(server), bytes: 1 << 16,
            owner: JournalOwner(name: server, program: "1", shown: ""))
    }

    private func count(_ counter: AccessCounter, _ times: Int, at time: Int = 86_400_000) async throws {
        for number in 0..<times { try await counter.count(.sample(feed.number, at: time + number)) }
    }

    private var counted: Int? {
        get async throws { try await store.read { [feed] in try $0.feed(feed.id)?.accessCount } }
    }

    private func close() throws {
        try store.close()
        try FileManager.default.removeItem(at: directory)
    }

    @Test("What several recorded is counted once, also after an end without order, and what is missing is known")
    func countsAll() async throws {
        let (one, other) = (try await open("one"), try await open("other"))
        try await count(one, 5)
        try await count(other, 7)
        try await one.fold()
        try await other.fold()
        try await other.fold()
        #expect(try await counted == 12)
        try await count(other, 3)
        try await other.beat()
        // It ends without having folded.
        other.journal.close()
        var servers = try await store.read { try $0.servers() }
        #expect(servers.map(\.missing) == [0, 3])
        #expect(servers.map(\.stoppedAt) == [nil, nil])
        let again = try await open("other")
        #expect(again.journal.pending == 3)
        try await again.fold()
        #expect(try await counted == 15)
        let sequences = try await store.read { [feed] in try $0.accesses(of: feed.id, limit: 99).map(\.number) }
        #expect(sequences.sorted() == Array(1...15))
        await one.close()
        await again.close()
        servers = try await store.read { try $0.servers() }
        #expect(servers.map(\.missing) == [0, 0])
        #expect(servers.allSatisfy { $0.stoppedAt != nil })
        try close()
    }

    @Test("Counting beside reports runs each of them once, though both change their server's row")
    func countsBesideReports() async throws {
        let runs = CountedRuns(store)
        let one = try await AccessCounter(
            store: runs, path: path("one"), bytes: 1 << 16, owner: JournalOwner(name: "one", program: "1", shown: ""))
        runs.begin()
        let rounds = 30
        async let reported: Void = { for _ in 0..<rounds { try await one.beat() } }()
        for round in 0..<rounds {
            try await count(one, 5, at: 86_400_000 + 10 * round)
            try await one.fold()
        }
        try await reported
        #expect(runs.count == (asked: 2 * rounds, run: 2 * rounds))
        #expect(try await counted == 5 * rounds)
        await one.close()
        try close()
    }

    @Test("A fold whose commit was not heard of is not counted again when it is repeated")
    func foldsOnce() async throws {
        let one = try await open("one")
        try await count(one, 4)
        let accesses = try one.journal.unfolded(limit: 99)
        let server = try #require(try await store.read { try $0.servers() }.first)
        for _ in 0..<2 {
            let last = try await store.record {
                try $0.fold(accesses, ofJournal: server.journal, token: server.token)
            }
            #expect(last == 4)
        }
        try await one.fold()
        #expect(try await counted == 4)
        await one.close()
        try close()
    }

    @Test("A copy of a journal is refused once the other was used, and who is overtaken records nothing more")
    func refusesCopies() async throws {
        let one = try await open("one")
        try await count(one, 2)
        try await one.fold()
        try FileManager.default.copyItem(atPath: path("one"), toPath: path("copy"))
        // As long as it was not started again, both are as good; the one that is started last has it.
        let copy = try await open("copy")
        try await count(one, 3)
        await #expect(throws: (any Error).self) { try await one.fold() }
        #expect(one.journal.failure != nil)
        await #expect(throws: JournalFailure.self) { try await count(one, 1) }
        try await count(copy, 1)
        await copy.close()
        #expect(try await counted == 3)
        one.journal.close()
        // Its three reads are lost, and that is said in place of counting them twice or not at all.
        let error = await #expect(throws: JournalFailure.self) { try await open("one") }
        #expect(error?.description.contains("is a copy") == true)
        try close()
    }

    @Test(
        "A single journal continues as one of several, and one of several is taken in by a later single one")
    func changesUse() async throws {
        let only = try await AccessCounter(store: store, path: path("one"), bytes: 1 << 16)
        try await count(only, 2)
        try await only.fold()
        try await count(only, 3)
        only.journal.close()
        // Another server starts first, and counts.
        let other = try await open("other")
        try await count(other, 10)
        try await other.fold()
        let one = try await open("one")
        #expect(one.journal.pending == 3)
        try await one.fold()
        #expect(try await counted == 15)
        try await count(one, 4)
        one.journal.close()
        await other.close()
        let after = try await AccessCounter(store: store, path: path("one"), bytes: 1 << 16)
        #expect(try await counted == 19)
        try await count(after, 1)
        await after.close()
        #expect(try await counted == 20)
        try close()
    }

    @Test("A read that is counted late takes nothing back: the last time that a client came stays the last")
    func countsLate() async throws {
        let (one, other) = (try await open("one"), try await open("other"))
        try await count(one, 1, at: 86_400_000)
        try await count(other, 1, at: 10 * 86_400_000)
        try await other.fold()
        try await one.fold()
        let clients = try await store.read { [feed] in try $0.clients(of: feed.id) }
        #expect(clients.map(\.lastSeenAt) == [10 * 86_400_000])
        #expect(clients.map(\.accessCount) == [2])
        await one.close()
        await other.close()
        try close()
    }
}

/// A store that counts how often the bodies of writes beside others run.
private final class CountedRuns: Store {
    private let base: any Store
    private let asked = Atomic(0)
    private let run = Atomic(0)

    init(_ base: any Store) { self.base = base }

    func begin() {
        asked.store(0, ordering: .relaxed)
        run.store(0, ordering: .relaxed)
    }

    var count: (asked: Int, run: Int) { (asked.load(ordering: .relaxed), run.load(ordering: .relaxed)) }
    var isShared: Bool { base.isShared }
    var clock: WriteClock { base.clock }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any ReadTransaction) throws -> Value
    ) async throws -> Value {
        try await base.read(body)
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await base.write(body)
    }

    func write<Value: Sendable>(
        _ turn: WriteTurn, _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        asked.add(1, ordering: .relaxed)
        return try await base.write(turn) { transaction in
            self.run.add(1, ordering: .relaxed)
            return try body(transaction)
        }
    }

    func record<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await base.record(body)
    }

    func close() throws { try base.close() }
}
