// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import Testing

@testable import Storage

@Suite(
    "Shards of servers that share a database",
    .enabled(if: PostgreSQLServer.address != nil, "There is no PostgreSQL: run by Scripts/postgresql.sh"))
struct SharedShardTests {
    private typealias Shared = any Store & StoreMaintenance & SharedStore

    private static let minute = 60_000

    private static func run(_ body: (_ one: Shared, _ other: Shared) async throws -> Void) async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            let servers = (try TestedPostgreSQL.share(path), try TestedPostgreSQL.share(path))
            defer {
                try? servers.0.close()
                try? servers.1.close()
            }
            try await body(servers.0, servers.1)
        }
    }

    @Test("A server that joins gets half of them once the other has given it up, and all once the other has ended")
    func joining() async throws {
        try await Self.run { one, other in
            let first = try await one.record { try $0.shareShards(for: "one", time: Self.minute) }
            #expect(first.held.count == Shards.count && first.surplus == [])
            #expect(try await other.record { try $0.shareShards(for: "other", time: Self.minute) }.held.isEmpty)

            let second = try await one.record { try $0.shareShards(for: "one", time: Self.minute) }
            #expect(second.surplus == Array(32..<64) && second.held == first.held)
            #expect(try await other.record { try $0.shareShards(for: "other", time: Self.minute) }.held.isEmpty)

            let given = second.surplus.compactMap { second.held[$0] }
            let third = try await one.record { try $0.shareShards(for: "one", time: Self.minute, ended: given) }
            #expect(third.held.keys.sorted() == Array(0..<32) && third.surplus == [])
            let half = try await other.record { try $0.shareShards(for: "other", time: Self.minute) }
            #expect(half.held.keys.sorted() == Array(32..<64))
            #expect(half.held.values.allSatisfy { lease in first.held.values.allSatisfy { $0.epoch < lease.epoch } })

            try await one.record { try $0.endShards(of: "one") }
            let all = try await other.record { try $0.shareShards(for: "other", time: Self.minute) }
            #expect(all.held.count == Shards.count)
            #expect(half.held.allSatisfy { all.held[$0.key] == $0.value })
        }
    }

    @Test("A server that lost a shard keeps nothing of its work, not even where it has another shard still")
    func fenced() async throws {
        try await Self.run { one, other in
            let had = try await one.record { try $0.shareShards(for: "one", time: 1) }
            try await Task.sleep(for: .milliseconds(20))
            // The silent one does not count among the living.
            let taken = try await other.record { try $0.shareShards(for: "other", time: Self.minute) }
            #expect(taken.held.count == Shards.count)

            let now = try await one.record { try $0.shareShards(for: "one", time: Self.minute) }
            #expect(now.held.isEmpty)
            let surplus = try await other.record { try $0.shareShards(for: "other", time: Self.minute) }.surplus
            let given = surplus.compactMap { taken.held[$0] }
            _ = try await other.record { try $0.shareShards(for: "other", time: Self.minute, ended: given) }
            let again = try await one.record { try $0.shareShards(for: "one", time: Self.minute) }
            let (lost, held) = (try #require(had.held[0]), try #require(again.held[63]))
            let former = try #require(had.held[63])
            for leases in [[lost], [held, lost], [former]] {
                await HeldLeases.$current.withValue(leases.map { HeldLease($0, until: .now + .seconds(60)) }) {
                    await #expect(throws: StorageError.leaseLost) { try await one.write { try $0.set("a", to: "1") } }
                    await #expect(throws: StorageError.leaseLost) { try await one.record { try $0.set("a", to: "2") } }
                    await #expect(throws: StorageError.leaseLost) {
                        try await one.write(.circle("c")) { try $0.set("a", to: "3") }
                    }
                }
            }
            #expect(try await other.read { try $0.setting("a") } == nil)
            try await HeldLeases.$current.withValue([HeldLease(held, until: .now)]) {
                try await one.record { try $0.set("a", to: "4") }
            }
            #expect(try await other.read { try $0.setting("a") } == "4")
        }
    }

    @Test("The leases of runs end with their server, and those of servers that are alive stay")
    func runs() async throws {
        try await Self.run { one, other in
            _ = try await one.record { try $0.shareShards(for: "one", time: 1) }
            try await one.record { transaction in
                try transaction.execute("ALTER TABLE sync_leases DROP CONSTRAINT sync_leases_connection_id_fkey", [])
                for holder in ["one", "other", "leaving"] {
                    try transaction.execute(
                        "INSERT INTO sync_leases (connection_id, holder, expires_at) VALUES ($1, $2, $3)",
                        [.text("of " + holder), .text(holder), .integer(.max)])
                }
            }
            try await Task.sleep(for: .milliseconds(20))
            _ = try await other.record { try $0.shareShards(for: "other", time: Self.minute) }
            try await one.read { transaction in
                let left = try transaction.rows("SELECT holder FROM sync_leases ORDER BY holder", [])
                #expect(left.compactMap { $0.text("holder") } == ["leaving", "other"])
            }
        }
    }

    @Test("After nobody could reach the database, each server finds its share, and that of who stays away is taken")
    func outage() async throws {
        try await Self.run { one, other in
            let time = 2_000
            @Sendable func share(_ store: Shared, _ name: String, ended: [Lease] = []) async throws -> ShardShare {
                try await store.record { try $0.shareShards(for: name, time: time, ended: ended) }
            }
            for _ in 0..<2 {
                for (store, name) in [(one, "one"), (other, "other")] {
                    let had = try await share(store, name)
                    _ = try await share(store, name, ended: had.surplus.compactMap { had.held[$0] })
                }
            }
            let both = (try await share(one, "one"), try await share(other, "other"))
            #expect(both.0.held.count == 32 && both.1.held.count == 32)
            try await Task.sleep(for: .milliseconds(time + 100))

            // By then each has given up its work.
            #expect(try await share(one, "one", ended: Array(both.0.held.values)).held.count == 32)
            #expect(try await share(one, "one").held.count == 32)
            let back = try await share(other, "other", ended: Array(both.1.held.values))
            #expect(back.held.count == 32 && back.surplus == [])

            try await Task.sleep(for: .milliseconds(time + 100))
            #expect(try await share(one, "one").held.count == 32)
            try await Task.sleep(for: .milliseconds(time / 2))
            #expect(try await share(one, "one").held.count == 32)
            // However late this is on a busy machine: it renews what it has in time, sooner or later.
            var (held, tries) = (32, 0)
            while held < Shards.count, tries < 60 {
                try await Task.sleep(for: .milliseconds(time / 4))
                held = try await share(one, "one").held.count
                tries += 1
            }
            #expect(held == Shards.count)
        }
    }

    @Test("However many servers take at once, each shard is one server's")
    func atOnce() async throws {
        try await Self.run { one, other in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<6 {
                    group.addTask {
                        let (store, name) = (number % 2 == 0 ? one : other, "s\(number)")
                        for _ in 0..<8 {
                            let share = try await store.record { try $0.shareShards(for: name, time: Self.minute) }
                            let given = share.surplus.compactMap { share.held[$0] }
                            _ = try await store.record {
                                try $0.shareShards(for: name, time: Self.minute, ended: given)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            // Those that ended before the last one joined have to look once more.
            for round in 0..<3 {
                for number in 0..<6 {
                    let name = "s\(number)"
                    let share = try await one.record { try $0.shareShards(for: name, time: Self.minute) }
                    let given = share.surplus.compactMap { share.held[$0] }
                    let kept = try await one.record {
                        try $0.shareShards(for: name, time: Self.minute, ended: given)
                    }
                    if round == 2 { #expect((10...11).contains(kept.held.count)) }
                }
            }
            let counts = try await other.read {
                try $0.rows(
                    "SELECT holder, COUNT(*) AS count FROM leases WHERE name LIKE 'shard/%' GROUP BY holder", [])
            }.compactMap { $0.integer("count") }
            #expect(counts.count == 6 && counts.reduce(0, +) == Shards.count)
        }
    }
}
