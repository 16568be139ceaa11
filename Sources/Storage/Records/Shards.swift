// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// Some of the parts into which the background work of several servers is divided: by the hash of the id of its
/// circle or user.
public struct Shards: Hashable, Sendable {
    public static let count = 64
    public static let all = Shards(bits: .max)
    /// The shard of work that belongs to no circle or user, such as removing old rows.
    public static let common = Shards([0])

    private var bits: UInt64

    private init(bits: UInt64) { self.bits = bits }

    /// - Parameter numbers: from 0 to `count` - 1.
    public init(_ numbers: some Sequence<Int>) { bits = numbers.reduce(0) { $0 | 1 << UInt64($1) } }

    /// The shards of these ids.
    public init(of ids: some Sequence<String>) { self.init(ids.map(Self.number(of:))) }

    public var numbers: [Int] { (0..<Self.count).filter(contains) }
    public var isEmpty: Bool { bits == 0 }

    public mutating func formUnion(_ other: Shards) { bits |= other.bits }
    public func contains(_ number: Int) -> Bool { bits >> UInt64(number) & 1 == 1 }
    public func intersects(_ other: Shards) -> Bool { bits & other.bits != 0 }

    /// The shard of an id, which each engine's `shard(of:)` has too.
    package static func number(of id: String) -> Int {
        Int(Array(SHA256.hash(data: Array(id.utf8)))[0]) % count
    }

    /// The end of a query's condition that a column's id is in these shards, whose value is added to the arguments; empty
    /// for all of them.
    func condition(_ column: String, in transaction: any ReadTransaction, _ arguments: inout [SQLValue]) -> String {
        condition(ofNumber: transaction.shard(of: column), &arguments)
    }

    /// Like `condition(_:in:_:)`, for an expression that is the number of a shard.
    func condition(ofNumber number: String, _ arguments: inout [SQLValue]) -> String {
        if self == .all { return "" }
        arguments.append(.integer(Int(truncatingIfNeeded: bits)))
        return " AND (CAST($\(arguments.count) AS BIGINT) >> CAST(\(number) AS INTEGER)) & 1 = 1"
    }
}

/// How shards are spread over servers: evenly within one, and moving no more of them than that takes.
package struct ShardPlan: Hashable, Sendable {
    /// The shards that the server has to give up, once what it does of them is done.
    package let surplus: [Int]
    /// The shards that it takes, among those that nobody has.
    package let taken: [Int]

    /// - Parameters:
    ///   - owners: who has which shard.
    ///   - servers: who else is alive.
    package init(for own: ByteString, owners: [Int: ByteString], servers: Set<ByteString>) {
        var counts = Dictionary(owners.values.map { ($0, 1) }, uniquingKeysWith: +)
        for server in servers.union([own]) { counts[server, default: 0] += 0 }
        let (share, rest) = Shards.count.quotientAndRemainder(dividingBy: counts.count)
        // One more than a share is for those that have it already. All servers come to the same result, also while some of
        // them still have more than they keep.
        let ranked = counts.map { (server: $0.key, count: min($0.value, share + 1)) }.sorted {
            $0.count != $1.count ? $0.count > $1.count : $0.server < $1.server
        }
        let hasMore = ranked.prefix(rest).contains { $0.server == own }
        let target = hasMore ? share + 1 : share
        let mine = owners.filter { $0.value == own }.map(\.key).sorted()
        surplus = Array(mine.dropFirst(target))
        taken = Array((0..<Shards.count).filter { owners[$0] == nil }.prefix(max(0, target - mine.count)))
    }
}

/// The shards that a server has, and which of them it has to give up.
public struct ShardShare: Hashable, Sendable {
    public var held: [Int: Lease]
    public var surplus: [Int]
}

extension WriteTransaction {
    /// The names of the leases of shards and of the servers that share them out, which are one range.
    private static var namesOfShards: String { "name >= 'server/' AND name < 'shard0'" }
    private static var namesOfServers: String { "name >= 'server/' AND name < 'server0'" }
    private static func name(ofShard number: Int) -> String { "shard/\(number)" }

    /// Renews what a server has, takes its share of what nobody has, and shows the other servers that it is alive. The
    /// leases of runs end whose servers have been silent for longer than they keep a shard.
    ///
    /// A write that runs next to others may renew shares and nothing else; one that keeps others out may also move them.
    ///
    /// After an outage of the database, the first server that is back leaves the others their shares for `time`.
    ///
    /// - Parameters:
    ///   - time: how long it keeps them by the database's clock, in milliseconds.
    ///   - ended: what it gives up; it may get the same shard again, under another epoch.
    public func shareShards(for holder: String, time: Int, ended: [Lease] = []) throws -> ShardShare {
        let (now, own) = (try sharedTime(), ByteString(holder))
        let silent = try row(
            "SELECT 1 AS found FROM leases WHERE \(Self.namesOfServers) AND ends_at <= $1 LIMIT 1", [.integer(now)])
        if silent != nil || !ended.isEmpty { try demandAlone() }
        for lease in ended { try endLease(lease) }
        var (owners, held, servers): ([Int: ByteString], [Int: Lease], Set<ByteString>) = ([:], [:], [])
        if silent != nil {
            try waitForSilent(besides: holder, time: time, now: now)
            try endRunsOfSilent(besides: holder, now: now)
        }
        // A server's own leases are its own until somebody has taken them.
        for row in try rows(
            "SELECT name, holder, epoch FROM leases WHERE \(Self.namesOfShards) AND (ends_at > $1 OR holder = $2)",
            [.integer(now), .text(holder)])
        {
            let (name, other) = (try row.text(required: "name"), ByteString(try row.text(required: "holder")))
            guard name.hasPrefix("shard/"), let number = Int(name.dropFirst(6)) else {
                servers.insert(other)
                continue
            }
            owners[number] = other
            if other == own { held[number] = Lease(name: name, epoch: try row.integer(required: "epoch")) }
        }
        let plan = ShardPlan(for: own, owners: owners, servers: servers)
        let takes = !servers.contains(own) || !plan.taken.isEmpty
        if takes { try demandAlone() }
        try execute(
            "UPDATE leases SET ends_at = $2 WHERE holder = $1 AND \(Self.namesOfShards)",
            [.text(holder), .integer(now + time)])
        if takes {
            let epoch = try nextLeaseEpoch()
            if !servers.contains(own) { try putLease("server/\(holder)", epoch, holder, until: now + time) }
            for number in plan.taken {
                held[number] = try putLease(Self.name(ofShard: number), epoch, holder, until: now + time)
            }
        }
        return ShardShare(held: held, surplus: plan.surplus)
    }

    /// Counts those servers as alive for `time` that fell silent when this one did, unless a server has been back since.
    private func waitForSilent(besides holder: String, time: Int, now: Int) throws {
        try execute(
            """
            UPDATE leases SET ends_at = $2
            WHERE \(Self.namesOfServers) AND ends_at <= $1 AND ends_at > $4 + (
                SELECT own.ends_at FROM leases AS own WHERE own.name = $3 AND own.ends_at <= $1)
                AND NOT EXISTS (SELECT 1 FROM leases WHERE \(Self.namesOfServers) AND ends_at > $1)
            """, [.integer(now), .integer(now + time), .text("server/\(holder)"), .integer(-time / 2)])
    }

    /// Ends the leases of the runs of servers that have been silent for longer than they keep a shard.
    private func endRunsOfSilent(besides holder: String, now: Int) throws {
        for row in try rows(
            "DELETE FROM leases WHERE \(Self.namesOfServers) AND ends_at <= $1 AND holder <> $2 RETURNING holder",
            [.integer(now), .text(holder)])
        {
            try execute("DELETE FROM sync_leases WHERE holder = $1", [.text(try row.text(required: "holder"))])
        }
    }

    /// Gives back all shards of a server that ends.
    public func endShards(of holder: String) throws {
        try execute("DELETE FROM leases WHERE holder = $1 AND \(Self.namesOfShards)", [.text(holder)])
    }
}
