// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import Synchronization
import Testing

@testable import Storage
@testable import StoragePostgreSQL

@Suite(
    "Writes side by side",
    .enabled(if: PostgreSQLServer.address != nil, "There is no PostgreSQL: run by Scripts/postgresql.sh"))
struct SideBySideTests {
    private typealias Shared = any Store & StoreMaintenance & SharedStore

    private static func run(_ count: Int, _ body: (_ servers: [Shared]) async throws -> Void) async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            let servers = try (0..<count).map { _ in try TestedPostgreSQL.share(path) }
            defer { for server in servers { try? server.close() } }
            try await body(servers)
        }
    }

    /// What happened, in its order.
    private final class Events: Sendable {
        private let events = Mutex<[String]>([])
        var all: [String] { events.withLock { $0 } }
        func add(_ event: String) { events.withLock { $0.append(event) } }
        func has(_ event: String) -> Bool { all.contains { $0.isSameText(as: event) } }
        func wait(for event: String) async throws {
            let deadline = ContinuousClock.now + patience
            while !has(event) {
                try #require(ContinuousClock.now < deadline, "“\(event)” did not happen")
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    /// Long after whatever a write waits for should have happened.
    private static let patience = Duration.seconds(300)

    /// Writes in a turn, and stays in it until something has happened.
    private static func hold(
        _ server: Shared, _ turn: WriteTurn, _ name: String, _ events: Events,
        until isOver: @escaping @Sendable (any ReadTransaction) throws -> Bool
    ) async throws {
        try await server.write(turn) { transaction in
            transaction.concerns(circle: name)
            try transaction.note(.circle, .updated, in: name, now: 1)
            events.add("\(name) begins")
            let deadline = ContinuousClock.now + patience
            // The session is not idle, which would end it.
            while try !isOver(transaction), ContinuousClock.now < deadline {
                _ = try transaction.rows("SELECT CAST(pg_sleep(0.005) AS TEXT) AS slept", [])
            }
            events.add("\(name) ends")
        }
    }

    private static func hold(
        _ server: Shared, _ turn: WriteTurn, _ name: String, until event: String, _ events: Events
    ) async throws {
        try await hold(server, turn, name, events) { _ in events.has(event) }
    }

    /// How many sessions of the database wait for a lock.
    private static func waiting(_ transaction: any ReadTransaction) throws -> Int {
        try transaction.rows(
            """
            SELECT 1 AS found FROM pg_locks
            WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """, []
        ).count
    }

    @Test("Writes about two circles go on at once, on one server and on two", arguments: [1, 2])
    func beside(count: Int) async throws {
        try await Self.run(count) { servers in
            let events = Events()
            async let long: Void = Self.hold(servers[0], .circle("a"), "a", until: "b ends", events)
            try await events.wait(for: "a begins")
            try await Self.hold(servers[count - 1], .circle("b"), "b", until: "b begins", events)
            try await long
            #expect(events.all == ["a begins", "b begins", "b ends", "a ends"])
        }
    }

    @Test("Writes about one circle, and writes that go alone, wait for each other", arguments: [1, 2])
    func inTurn(count: Int) async throws {
        for second in [WriteTurn.circle("a"), .alone] {
            for first in [WriteTurn.circle("a"), .alone] {
                try await Self.run(count) { servers in
                    let events = Events()
                    // Where a server has one session or queue for both, no lock shows that the second waits.
                    let isQueued = count == 1 && first.isSameKind(as: second)
                    async let long: Void = Self.hold(servers[0], first, "a", events) { transaction in
                        try events.has("the second is asked") && (isQueued || Self.waiting(transaction) > 0)
                    }
                    try await events.wait(for: "a begins")
                    events.add("the second is asked")
                    let number = try await servers[count - 1].write(second) { transaction in
                        // The circle's number is the next one: the write before is seen.
                        try transaction.note([CircleChange(.circle, .updated)], in: "a", now: 1).lowerBound
                    }
                    try await long
                    #expect(number == 2)
                }
            }
        }
    }

    @Test("A write that was running for one question, and is over for the next, is found then")
    func runningMeanwhile() async throws {
        try await Self.run(3) { servers in
            let (events, reader) = (Events(), servers[2])
            async let long: Void = Self.hold(servers[0], .circle("a"), "a", until: "it was asked twice", events)
            try await events.wait(for: "a begins")
            // Later numbers than the running one's are seen before it.
            try await Self.hold(servers[1], .circle("b"), "b", until: "b begins", events)
            _ = try await reader.confirm()
            let time = reader.clock.now
            _ = try await reader.confirm()
            #expect(reader.clock.isUnchanged(WriteClock.Slot(circle: "a"), since: time))
            events.add("it was asked twice")
            try await long
            _ = try await reader.confirm()
            #expect(!reader.clock.isUnchanged(WriteClock.Slot(circle: "a"), since: time))
            #expect(reader.clock.isUnchanged(WriteClock.Slot(circle: "b"), since: time))
        }
    }

    @Test("Feeds, members and patients change, and accesses are counted, while another circle is written")
    func feedsAndCounts() async throws {
        try await Self.run(2) { servers in
            try await servers[0].record { transaction in
                try transaction.makeHome()
                for id in ["f", "g"] { try transaction.insert(.sample(id, label: id)) }
                try transaction.putServer(
                    ServerRecord(journal: 7, token: 9, name: "s", program: "1", shown: "", folded: 0, now: 1))
            }
            let events = Events()
            async let long: Void = Self.hold(servers[0], .circle("a"), "a", until: "all is counted", events)
            try await events.wait(for: "a begins")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for round in 1...10 {
                        try await servers[round % 2].write(.circle("home")) { transaction in
                            transaction.concerns(circle: "home")
                            #expect(!transaction.isAlone)
                            var feed = try #require(try transaction.feed("f"))
                            try transaction.clearAttention(of: "f", now: round)
                            feed.expiresAt = 1_000 + round
                            try transaction.updateFeed(feed)
                            try transaction.replaceToken(
                                of: "f", hash: hash("f\(round)"), hint: "h", sealed: "s", othersEndAt: 0, now: round)
                            _ = try transaction.putMember(
                                "ann", in: "home", displayName: "Ann \(round)", role: .owner, now: round)
                            _ = try transaction.putPatient("pia", in: "home", displayName: "P\(round)", now: round)
                        }
                    }
                }
                group.addTask {
                    for round in 1...10 {
                        try await servers[round % 2].write(.order) { transaction in
                            transaction.concernsNamedCirclesOnly()
                            let accesses = (1...round * 5).map { place in
                                SequencedAccess(
                                    sequence: place,
                                    access: FeedAccess(
                                        feed: 1, at: place, client: place % 7, status: 200, network: .local))
                            }
                            _ = try transaction.fold(
                                accesses, ofJournal: 7, token: 9, noting: AttentionRules(firstDays: 0))
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await servers[1].write(.circle("home")) { transaction in
                transaction.concerns(circle: "home")
                try transaction.revokeFeed("f", now: 99)
            }
            #expect(events.all == ["a begins"])
            events.add("all is counted")
            try await long
            try await servers[0].read { transaction in
                let feed = try #require(try transaction.feed("f"))
                #expect(feed.accessCount == 50 && feed.revokedAt == 99)
                #expect(try transaction.circle(ofFeed: "g") == "home")
                let numbers = try transaction.changes(in: "home", after: 0, seenBy: nil, limit: 1_000).map(\.number)
                #expect(numbers == Array(1...numbers.count))
            }
        }
    }

    @Test("However many writes go on, what a server has to renew is renewed meanwhile")
    func keeps() async throws {
        try await Self.run(1) { servers in
            // As many as the server has sessions for them.
            let (events, circles) = (Events(), (0..<8).map { "c\($0)" })
            try await withThrowingTaskGroup(of: Void.self) { group in
                for circle in circles {
                    group.addTask {
                        try await Self.hold(servers[0], .circle(circle), circle, until: "all is renewed", events)
                    }
                }
                for circle in circles { try await events.wait(for: "\(circle) begins") }
                for _ in 0..<3 {
                    #expect(try await servers[0].write(.keeping("work")) { !$0.isAlone })
                }
                #expect(events.all.count == circles.count)
                events.add("all is renewed")
                try await group.waitForAll()
            }
        }
    }

    @Test("A write that does not get its turn leaves nothing of it, and its session goes on")
    func leavesTurn() async throws {
        try await Self.run(2) { servers in
            let events = Events()
            let store = try #require(servers[0] as? PostgreSQLStore)
            let session = try store.maker.session()
            // It has the circle's lock, and not yet the table's.
            async let long: Void = Self.hold(servers[1], .alone, "a", until: "one gave up", events)
            try await events.wait(for: "a begins")
            try session.run("SET lock_timeout = 100")
            #expect(throws: SessionFailure.self) { try session.run(store.beginning(.circle("b"))) }
            try session.rollBack()
            let held = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
            #expect(try session.run(held).count == 1)
            try store.leave(.circle("b"), session)
            #expect(try session.run(held).isEmpty)
            try store.leave(.circle("b"), session)
            #expect(session.takeWarnings() == 0)
            events.add("one gave up")
            try await long
            try await servers[1].write(.circle("b")) { #expect(!$0.isAlone) }
        }
    }

    @Test("A server renews its shards while a circle is written, and takes some or gives them up alone")
    func renewals() async throws {
        try await Self.run(2) { servers in
            @Sendable func share(
                _ place: Int, ended: [Lease] = []
            ) async throws -> (isAlone: Bool, share: ShardShare) {
                try await servers[place].write(.keeping("shares of work")) { transaction in
                    transaction.concernsNamedCirclesOnly()
                    let share = try transaction.shareShards(for: "\(place)", time: 60_000, ended: ended)
                    return (transaction.isAlone, share)
                }
            }
            let first = try await share(0)
            #expect(first.isAlone && first.share.held.count == Shards.count)
            let joined = try await share(1)
            #expect(joined.isAlone && joined.share.held.isEmpty)
            let events = Events()
            async let long: Void = Self.hold(servers[0], .circle("a"), "a", until: "both are renewed", events)
            try await events.wait(for: "a begins")
            let second = try await share(0)
            #expect(!second.isAlone && second.share.held == first.share.held && second.share.surplus == Array(32..<64))
            #expect(try await !share(1).isAlone)
            #expect(events.all == ["a begins"])
            events.add("both are renewed")
            try await long
            let given = try await share(0, ended: second.share.surplus.compactMap { first.share.held[$0] })
            #expect(given.isAlone && given.share.held.count == 32)
            let taken = try await share(1)
            #expect(taken.isAlone && taken.share.held.keys.sorted() == Array(32..<64))
        }
    }

    @Test("What needs a number that all writes share is done alone, once")
    func narrowTurn() async throws {
        try await Self.run(1) { servers in
            let isAlone = try await servers[0].write(.circle("a")) { transaction in
                try transaction.note(.circle, .updated, in: "a", now: 1)
                _ = try transaction.takeLease("x", for: "one", time: 1)
                return transaction.isAlone
            }
            #expect(isAlone)
            #expect(try await servers[0].read { try $0.changeNumbers(in: "a").latest } == 1)
        }
    }

    @Test("Who reads the changes of all circles skips none and sees none twice, and each circle's are in its order")
    func order() async throws {
        try await Self.run(3) { servers in
            let (writes, circles) = (30, 6)
            let events = Events()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    // Also after a failure, so that the readers end.
                    defer { events.add("all are written") }
                    try await withThrowingTaskGroup(of: Void.self) { writers in
                        // Two of each circle, so that no write waits for a session.
                        for writer in 0..<(2 * circles) {
                            let circle = "c\(writer % circles)"
                            writers.addTask {
                                for number in 0..<(writes / 2) {
                                    try await servers[(writer + number) % 3].write(.circle(circle)) { transaction in
                                        transaction.concerns(circle: circle)
                                        try transaction.note(.circle, .updated, in: circle, now: 1)
                                    }
                                }
                            }
                        }
                        try await writers.waitForAll()
                    }
                }
                for server in servers {
                    group.addTask {
                        var seen: [CircleChange] = []
                        var isLast = false
                        repeat {
                            isLast = !events.all.isEmpty
                            try await server.orderChanges()
                            let position = seen.last?.sequence ?? 0
                            seen += try await server.read { try $0.changes(afterSequence: position, limit: 1_000) }
                        } while !isLast
                        #expect(seen.map(\.sequence) == Array(1...(writes * circles)))
                        for circle in 0..<circles {
                            let own = seen.filter { $0.circleID.isSameText(as: "c\(circle)") }
                            #expect(own.map(\.number) == Array(1...writes))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("No session keeps a synchronous_commit of its own, and no write commits without waiting for the disk")
    func commits() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            let first = try TestedPostgreSQL.open(path, isOnly: false)
            try await first.record { transaction in
                let name = try transaction.rows("SELECT CAST(current_database() AS TEXT) AS name", [])
                let database = try #require(name.first).text(required: "name")
                try transaction.execute("ALTER DATABASE \"\(database)\" SET synchronous_commit = off", [])
            }
            try first.close()
            let store = try TestedPostgreSQL.share(path)
            defer { try? store.close() }
            let setting = "SELECT setting, source FROM pg_settings WHERE name = 'synchronous_commit'"
            for turn in [WriteTurn.alone, .circle("a"), .order] {
                let found = try await store.write(turn) { try $0.rows(setting, []) }
                #expect(found.first?.text("setting") == "on")
            }
            let found = try await store.read { try $0.rows(setting, []) }
            #expect(found.first?.text("setting") == "off")
            #expect(found.first?.text("source") == "database")
        }
    }
}

extension WriteTurn {
    fileprivate func isSameKind(as other: WriteTurn) -> Bool {
        switch (self, other) {
        case (.alone, .alone), (.circle, .circle): true
        default: false
        }
    }
}
