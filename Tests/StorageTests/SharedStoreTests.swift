// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoragePostgreSQL
import StoreConformance
import Testing

@testable import Storage

@Suite(
    "A database that several servers share",
    .enabled(if: PostgreSQLServer.address != nil, "There is no PostgreSQL: run by Scripts/postgresql.sh"))
struct SharedStoreTests {
    private typealias Shared = any Store & StoreMaintenance & SharedStore

    /// Runs servers on one database and closes them at the end.
    private static func run(
        _ count: Int = 2, _ body: (_ path: String, _ servers: [Shared]) async throws -> Void
    ) async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            let servers = try (0..<count).map { _ in try TestedPostgreSQL.share(path) }
            defer { for server in servers { try? server.close() } }
            try await body(path, servers)
        }
    }

    /// Runs a statement as somebody else who takes no turn.
    private static func byHand(_ path: String, _ statement: String) async throws {
        let store = try TestedPostgreSQL.open(path, isOnly: false)
        defer { try? store.close() }
        try await store.record { _ = try $0.rows(statement, []) }
    }

    @Test("Several share it while nobody has it to themselves, and nobody shares it while somebody has")
    func neverMix() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            let (one, other) = (try TestedPostgreSQL.share(path), try TestedPostgreSQL.share(path))
            #expect(throws: StorageError.inUse) { try TestedPostgreSQL.open(path, isOnly: true) }
            try other.close()
            // What confirms has a share of its own, which outlives the one that writes.
            _ = try await one.confirm()
            try await Self.byHand(path, Self.endsWriters)
            #expect(throws: StorageError.inUse) { try TestedPostgreSQL.open(path, isOnly: true) }
            try one.close()
            let only = try TestedPostgreSQL.open(path, isOnly: true)
            #expect(throws: StorageError.inUse) { try TestedPostgreSQL.share(path) }
            try only.close()
            try TestedPostgreSQL.share(path).close()
        }
    }

    @Test("A server that starts while another one makes the tables waits for it")
    func startsTogether() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            let maker = try TestedPostgreSQL.open(path, isOnly: false)
            defer { try? maker.close() }
            let (waiting, isMaking) = AsyncStream.makeStream(of: Void.self)
            // The locks that it holds in the meantime: of migrations, and of use.
            async let made: Void = maker.record { transaction in
                for lock in [1, 2] {
                    let taken = "SELECT CAST(pg_advisory_xact_lock(1801546853, \(lock)) AS TEXT) AS taken"
                    _ = try transaction.rows(taken, [])
                }
                isMaking.finish()
                _ = try transaction.rows("SELECT CAST(pg_sleep(4) AS TEXT) AS slept", [])
            }
            for await _ in waiting {}
            try TestedPostgreSQL.share(path).close()
            try await made
        }
    }

    /// Ends the sessions that listen, which are the writing ones.
    private static let endsWriters = """
        SELECT COUNT(pg_terminate_backend(pid)) AS ended FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE 'LISTEN%'
        """

    /// The schema as a program of the next version knows it.
    private static func next(isExpansion: Bool) -> SchemaHistory { SchemaHistoryTests.next(isExpansion: isExpansion) }

    @Test("Servers of the next version replace those of this one while they work, where its schema only adds to ours")
    func rolls() async throws {
        try await Self.run(1) { path, servers in
            let old = servers[0]
            try await old.write { try $0.set("a", to: "1") }
            #expect(try await old.read { try $0.setting("a") } == "1")
            // The change waits for a read that has the table, and the read ends undisturbed.
            let (reading, isReading) = AsyncStream.makeStream(of: Void.self)
            async let long = old.read { reader in
                let value = try reader.setting("a")
                isReading.finish()
                _ = try reader.rows("SELECT CAST(pg_sleep(1.2) AS TEXT) AS slept", [])
                return value
            }
            for await _ in reading {}
            let new = try TestedPostgreSQL.share(path, as: Self.next(isExpansion: true))
            defer { try? new.close() }
            #expect(try await long == "1")
            _ = try await new.record { try $0.execute("UPDATE settings SET remark = 'new' WHERE name = 'a'", []) }
            // What the earlier version prepared before runs, and what it writes keeps what it does not know.
            try await old.write { try $0.set("a", to: "2") }
            #expect(try await old.read { try $0.setting("a") } == "2")
            let remark = try await new.read { try $0.row("SELECT remark FROM settings WHERE name = 'a'", []) }
            #expect(remark?.text("remark") == "new")
            let time = new.clock.now
            try await old.write { $0.concerns(circle: "home") }
            _ = try await new.confirm()
            #expect(!new.clock.isUnchanged(WriteClock.Slot(circle: "home"), since: time))
            // One that was killed in the meantime comes back.
            let again = try TestedPostgreSQL.share(path)
            #expect(try await again.read { try $0.setting("a") } == "2")
            try again.close()
            let newer = StorageError.newerSchema(found: SchemaHistory().latest + 1, known: SchemaHistory().latest)
            // Its copy would lack what it does not know.
            await #expect(throws: newer) { try await old.backup(to: path + ".copy") }
            try await new.checkSchema()
            try old.close()
            try new.close()
            #expect(throws: newer) { try TestedPostgreSQL.open(path, isOnly: true) }
        }
    }

    @Test("A database is brought up to date with what is in it", arguments: [true, false])
    func upgrades(isExpansion: Bool) async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            let first = try TestedPostgreSQL.share(path)
            try await first.record { transaction in
                for row in SchemaHistoryTests.rows { try transaction.execute(row, []) }
            }
            try first.close()
            let store = try TestedPostgreSQL.share(path, as: Self.next(isExpansion: isExpansion))
            defer { try? store.close() }
            try await store.checkSchema()
            try await store.read { reader throws in
                #expect(try reader.circle("home")?.name == "Zuhause ☕")
                let feed = try #require(try reader.feed("f"))
                #expect(feed.config == #"{"pastDays":7}"# && feed.label == "phone" && feed.accessCount == 2)
                #expect(try reader.setting("prunedAt") == "9")
                #expect(try reader.rows("SELECT content FROM occurrences", []).count == 1)
                let contents = try reader.rows("SELECT content FROM schedule_items ORDER BY id DESC", [])
                #expect(try contents.map { try $0.text(required: "content") } == [#"{"title":"Tëa"}"#, "{}"])
            }
        }
    }

    @Test("What an earlier version could work with says nothing of a later one")
    func expandsThenContracts() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            try TestedPostgreSQL.share(path, as: Self.next(isExpansion: true)).close()
            try TestedPostgreSQL.share(path).close()
            var later = Self.next(isExpansion: true)
            later.migrations.append(["DROP TABLE remarks"])
            try TestedPostgreSQL.share(path, as: later).close()
            for history in [SchemaHistory(), Self.next(isExpansion: true)] {
                #expect(throws: StorageError.newerSchema(found: later.latest, known: history.latest)) {
                    try TestedPostgreSQL.share(path, as: history)
                }
            }
        }
    }

    @Test("A schema with which they cannot work is only changed once they have ended, and is refused by them then")
    func contracts() async throws {
        try await Self.run(1) { path, servers in
            let error = #expect(throws: StorageError.self) {
                try TestedPostgreSQL.share(path, as: Self.next(isExpansion: false))
            }
            #expect(error?.description.contains("stop all of them") == true)
            try await servers[0].write { try $0.set("a", to: "1") }
            try servers[0].close()
            let new = try TestedPostgreSQL.share(path, as: Self.next(isExpansion: false))
            defer { try? new.close() }
            #expect(try await new.read { try $0.setting("a") } == "1")
            #expect(throws: StorageError.newerSchema(found: SchemaHistory().latest + 1, known: SchemaHistory().latest))
            {
                try TestedPostgreSQL.share(path)
            }
        }
    }

    @Test("Once it is confirmed, the clock of one has moved on for what another wrote, and for nothing else")
    func confirms() async throws {
        try await Self.run { _, servers in
            let (one, other) = (servers[0], servers[1])
            _ = try await other.confirm()
            let time = other.clock.now
            try await one.write { $0.concerns(circle: "home") }
            // Nobody has told yet.
            #expect(other.clock.isUnchanged(WriteClock.Slot(circle: "home"), since: time))
            _ = try await other.confirm()
            #expect(!other.clock.isUnchanged(WriteClock.Slot(circle: "home"), since: time))
            #expect(other.clock.isUnchanged(WriteClock.Slot(circle: "elsewhere"), since: time))
            let later = other.clock.now
            try await one.record { try $0.set("a", to: "1") }
            _ = try await other.confirm()
            #expect(other.clock.now == later)
            // A write that says nothing concerns all of them, and so does one that names very many.
            for count in [0, WrittenCircles.most + 1] {
                let before = other.clock.now
                try await one.write { transaction in
                    for number in 0..<count { transaction.concerns(circle: "c\(number)") }
                }
                _ = try await other.confirm()
                #expect(!other.clock.isUnchanged(WriteClock.Slot(circle: "elsewhere"), since: before))
            }
        }
    }

    @Test("Failed and rolled-back writes inform nobody")
    func failedWrites() async throws {
        try await Self.run { _, servers in
            _ = try await servers[1].confirm()
            let time = servers[1].clock.now
            await #expect(throws: StorageError.diskFull) {
                try await servers[0].write { _ in throw StorageError.diskFull }
            }
            _ = try await servers[1].confirm()
            #expect(servers[1].clock.now == time)
        }
    }

    /// Returns the number below which every transaction has ended, once all that were noted have ended. Transactions of other
    /// databases count, too.
    private static func floor(_ server: Shared) async throws -> Int {
        let last = try await server.read { try $0.rows("SELECT MAX(written_in) AS last FROM written_circles", []) }
        while true {
            let floor = try await server.forgetWritten(below: nil)
            if floor > last.first?.integer("last") ?? 0 { return floor }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test("A server that had not seen what was removed discards its cache, and so does one with a new session")
    func forgets() async throws {
        try await Self.run { path, servers in
            let (one, other) = (servers[0], servers[1])
            try await one.write { $0.concerns(circle: "a") }
            let seen = try await Self.floor(one)
            _ = try await other.confirm()
            var time = other.clock.now
            _ = try await one.forgetWritten(below: seen)
            _ = try await other.confirm()
            // What was removed it had seen.
            #expect(other.clock.isUnchanged(WriteClock.Slot(circle: "elsewhere"), since: time))
            for circle in ["b", "c"] { try await one.write { $0.concerns(circle: circle) } }
            let unseen = try await Self.floor(one)
            try await one.write { $0.concerns(circle: "d") }
            _ = try await one.forgetWritten(below: unseen)
            let left = try await one.read { try $0.rows("SELECT circle FROM written_circles", []) }
            #expect(try left.map { try $0.text(required: "circle") } == ["d"])
            _ = try await other.confirm()
            #expect(!other.clock.isUnchanged(WriteClock.Slot(circle: "elsewhere"), since: time))
            time = other.clock.now
            try await Self.byHand(
                path,
                """
                SELECT COUNT(pg_terminate_backend(pid)) AS ended FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """)
            await #expect(throws: StorageError.self) { try await other.confirm() }
            _ = try await other.confirm()
            #expect(!other.clock.isUnchanged(WriteClock.Slot(circle: "elsewhere"), since: time))
        }
    }

    @Test("What a copy brought from another server's database is removed, and hides nothing until then")
    func foreignNumbers() async throws {
        try await Self.run { path, servers in
            let (one, other) = (servers[0], servers[1])
            try await Self.byHand(
                path, "INSERT INTO written_circles VALUES (\(Int.max / 2), 'copied') RETURNING circle")
            try await Self.byHand(
                path,
                """
                UPDATE counters SET last_number = \(Int.max / 2) WHERE name = 'writesForgotten' RETURNING last_number
                """)
            _ = try await other.confirm()
            var time = other.clock.now
            try await one.write { $0.concerns(circle: "home") }
            _ = try await other.confirm()
            #expect(!other.clock.isUnchanged(WriteClock.Slot(circle: "home"), since: time))
            _ = try await one.forgetWritten(below: nil)
            _ = try await one.forgetWritten(below: try await Self.floor(one))
            #expect(try await one.read { try $0.rows("SELECT circle FROM written_circles", []) }.isEmpty)
            _ = try await other.confirm()
            time = other.clock.now
            _ = try await other.confirm()
            #expect(other.clock.now == time)
        }
    }

    @Test("Servers that write at once take turns: no write is lost, and each is noted")
    func takesTurns() async throws {
        try await Self.run(3) { _, servers in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for server in servers {
                    for _ in 0..<2 {
                        group.addTask {
                            for _ in 0..<40 {
                                try await server.write { transaction in
                                    transaction.concerns(circle: "home")
                                    let sum = try transaction.setting("sum").flatMap { Int($0) } ?? 0
                                    try transaction.set("sum", to: String(sum + 1))
                                }
                                _ = try await server.confirm()
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let (sum, count) = try await servers[0].read { transaction in
                (
                    try transaction.setting("sum"),
                    try transaction.rows("SELECT written_in FROM written_circles", []).count
                )
            }
            #expect(sum == "240")
            #expect(count == 240)
        }
    }

    @Test("A lease has one holder, and writes of a former holder are rolled back")
    func leases() async throws {
        try await Self.run { _, servers in
            let (one, other) = (servers[0], servers[1])
            let first = try #require(try await one.record { try $0.takeLease("jobs", for: "one", time: 60_000) })
            #expect(try await other.record { try $0.takeLease("jobs", for: "other", time: 60_000) } == nil)
            let held = HeldLease(first, until: .now)
            try await HeldLeases.$current.withValue([held]) {
                try await one.write { try $0.set("a", to: "1") }
            }
            #expect(try await one.record { try $0.renewLease(first, time: 1) })
            try await Task.sleep(for: .milliseconds(20))
            let second = try #require(
                try await other.record { try $0.takeLease("jobs", for: "other", time: 60_000, note: "half") })
            #expect(second.epoch > first.epoch)
            await HeldLeases.$current.withValue([held]) {
                await #expect(throws: StorageError.leaseLost) { try await one.write { try $0.set("a", to: "2") } }
                await #expect(throws: StorageError.leaseLost) { try await one.record { try $0.set("a", to: "3") } }
                #expect(throws: StorageError.leaseLost) { try HeldLeases.check() }
            }
            #expect(try await other.read { try $0.setting("a") } == "1")
            #expect(try await other.read { try $0.leaseNote("jobs") } == "half")
            #expect(try await one.record { try $0.renewLease(first, time: 60_000) } == false)
            // Nor does it take anything from who has it now.
            try await one.record { try $0.endLease(first) }
            #expect(try await one.record { try $0.takeLease("jobs", for: "one", time: 60_000) } == nil)
            try await other.record { try $0.endLease(second) }
            let third = try #require(try await one.record { try $0.takeLease("jobs", for: "one", time: 60_000) })
            #expect(third.epoch > second.epoch)
        }
    }

    @Test("Servers that start at once on an empty database make its schema once")
    func migrates() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            try await Self.byHand(path, "DO $$ BEGIN DROP SCHEMA public CASCADE; CREATE SCHEMA public; END $$")
            let opened = try await withThrowingTaskGroup(of: Shared.self) { group in
                for _ in 0..<3 { group.addTask { try TestedPostgreSQL.share(path) } }
                return try await group.reduce(into: [Shared]()) { $0.append($1) }
            }
            for store in opened {
                try await store.checkSchema()
                try store.close()
            }
        }
    }
}
