// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Storage

@Suite("Shards of the background work")
struct ShardTests {
    /// Servers that share out the shards, one step of one server after the other, as their transactions do.
    private struct Servers {
        var owners: [Int: ByteString] = [:]
        var alive: Set<ByteString> = []
        /// How many shards were given up so far.
        var moved = 0

        mutating func step(_ server: ByteString) {
            let plan = ShardPlan(for: server, owners: owners, servers: alive)
            for number in plan.surplus { owners[number] = nil }
            moved += plan.surplus.count
            for number in ShardPlan(for: server, owners: owners, servers: alive).taken { owners[number] = server }
        }

        mutating func end(_ server: ByteString) {
            alive.remove(server)
            owners = owners.filter { $0.value != server }
        }

        var counts: [Int] { alive.map { server in owners.values.count(where: { $0 == server }) } }
    }

    @Test("Whoever joins and leaves, all shards are shared out within one, and no more of them move than has to")
    func histories() {
        for seed in UInt64(0)..<40 {
            var (chance, servers, last) = (SplitMix(seed: seed), Servers(), 0)
            for _ in 0..<30 {
                let before = servers
                if servers.alive.isEmpty || chance.below(2) == 0 {
                    last += 1
                    servers.alive.insert(ByteString("\(chance.below(1_000))-\(last)"))
                } else if let gone = servers.alive.sorted().dropFirst(chance.below(servers.alive.count)).first {
                    servers.end(gone)
                }
                guard !servers.alive.isEmpty else { continue }
                // Any order of steps comes to the same.
                for _ in 0..<4 { for server in servers.alive.shuffled(using: &chance) { servers.step(server) } }
                #expect(servers.owners.count == Shards.count, "seed \(seed)")
                let (most, least) = (servers.counts.max() ?? 0, servers.counts.min() ?? 0)
                #expect(most - least <= 1, "seed \(seed)")
                let share = Shards.count / servers.alive.count
                let joined = servers.alive.subtracting(before.alive)
                // Who joins gets its share from the others, and when one leaves nobody else gives anything up.
                let needed = joined.isEmpty || before.alive.isEmpty ? 0 : share
                let extra = joined.isEmpty || before.alive.isEmpty || Shards.count % servers.alive.count == 0 ? 0 : 1
                #expect((needed...needed + extra).contains(servers.moved - before.moved), "seed \(seed)")
                let settled = servers.owners
                for server in servers.alive { servers.step(server) }
                #expect(servers.owners == settled, "seed \(seed)")
            }
        }
    }

    @Test("More servers than shards have one each, or none")
    func many() {
        var servers = Servers()
        servers.alive = Set((0..<100).map { ByteString("server\($0)") })
        for _ in 0..<3 { for server in servers.alive { servers.step(server) } }
        #expect(servers.counts.sorted() == Array(repeating: 0, count: 36) + Array(repeating: 1, count: 64))
    }

    @Test("A server keeps the common shard as long as it has any")
    func common() {
        var servers = Servers()
        servers.alive = ["a"]
        servers.step("a")
        for other in ["b", "c", "d", "e"] as [ByteString] {
            servers.alive.insert(other)
            for _ in 0..<3 { for server in servers.alive { servers.step(server) } }
            #expect(servers.owners[0] == "a")
        }
    }

    @Test("Three servers have at most two fifths of 3,000 connections each")
    func shares() {
        var servers = Servers()
        for server in ["a", "b", "c"] as [ByteString] {
            servers.alive.insert(server)
            for _ in 0..<3 { for other in servers.alive { servers.step(other) } }
        }
        for name in ["user-%", "%@example.org", "0%"] {
            var counts: [ByteString: Int] = [:]
            for number in 0..<3_000 {
                let shard = Shards.number(of: name.replacing("%", with: String(number)))
                if let owner = servers.owners[shard] { counts[owner, default: 0] += 1 }
            }
            #expect(counts.count == 3 && counts.values.reduce(0, +) == 3_000)
            #expect(counts.values.allSatisfy { $0 <= 1_200 }, "\(name): \(counts)")
        }
    }

    @Test("The database has the same shard for an id as the program")
    func sameInBoth() async throws {
        let home = try TemporaryStore()
        let ids = ["", "c", "circle 7", "é", "e\u{301}", "日本語", "🗓️", String(repeating: "x", count: 300)]
        try await home.write { transaction in
            for id in ids { try transaction.set(id, to: "shard") }
            let found = try transaction.rows(
                "SELECT name, \(transaction.shard(of: "name")) AS shard FROM settings WHERE value = 'shard'", [])
            #expect(found.count == ids.count)
            for row in found {
                #expect(row.integer("shard") == Shards.number(of: try row.text(required: "name")))
            }
        }
    }

    @Test("What is due is found in exactly one shard")
    func due() async throws {
        let home = try TemporaryStore()
        let users = (0..<40).map { "user\($0)" }
        try await home.write { transaction in
            for user in users {
                var profile = OfficeProfile(userID: user, settings: "{}", seed: "s", now: 1)
                profile.nextNightAt = 1
                try transaction.putOfficeProfile(profile)
            }
        }
        try await home.read { transaction in
            var found: [String] = []
            for number in 0..<Shards.count {
                let users = try transaction.dueOfficeNights(now: 1, in: Shards([number]), limit: 100)
                #expect(users.allSatisfy { Shards.number(of: $0) == number })
                found += users
            }
            #expect(found.sorted() == users.sorted())
            let (some, others) = (Shards([0, 5, 63]), Shards((0..<Shards.count).filter { ![0, 5, 63].contains($0) }))
            let parts = try [some, others].map { try transaction.dueOfficeNights(now: 1, in: $0, limit: 100).count }
            #expect(parts.reduce(0, +) == users.count)
            #expect(try transaction.dueOfficeNights(now: 1, in: Shards([]), limit: 100) == [])
            // The other queries have the condition, too.
            #expect(try transaction.dueSubscriptions(now: 1, in: some, limit: 1).isEmpty)
            #expect(try transaction.dueDeliveries(of: "hook", now: 1, in: some, limit: 1).isEmpty)
            #expect(try transaction.pushRegistrationsBehind(now: 1, in: some, limit: 1).isEmpty)
            #expect(try transaction.dueSyncs(by: .google, now: 1, in: some, limit: 1).isEmpty)
        }
    }
}
