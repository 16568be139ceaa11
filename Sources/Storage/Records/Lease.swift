// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The right to do something that one server at a time may do, until another has taken it over.
public struct Lease: Hashable, Sendable {
    public let name: String
    /// Given once: whoever takes the lease next has a higher one.
    public let epoch: Int

    package init(name: String, epoch: Int) { (self.name, self.epoch) = (name, epoch) }
}

/// A lease as its holder has it: with the time until which nobody else can have taken it.
public final class HeldLease: Sendable {
    public let lease: Lease
    private let end: Mutex<ContinuousClock.Instant>

    /// - Parameter end: of a clock that keeps running while the machine sleeps, counted from before the lease was asked
    ///   for.
    package init(_ lease: Lease, until end: ContinuousClock.Instant) {
        self.lease = lease
        self.end = Mutex(end)
    }

    package func extend(until time: ContinuousClock.Instant) { end.withLock { $0 = time } }

    package var isFresh: Bool { end.withLock { ContinuousClock.now < $0 } }
}

/// The leases under which a task works, and every task that it begins.
///
/// A store with several servers looks in every write of such a task whether they are held still, in the transaction itself.
public enum HeldLeases {
    @TaskLocal public static var current: [HeldLease] = []

    /// Throws `StorageError.leaseLost` when another server may do the same by now; asked before something goes out that
    /// no transaction can take back.
    package static func check() throws {
        guard current.allSatisfy(\.isFresh) else { throw StorageError.leaseLost }
    }
}

extension ReadTransaction {
    /// Whether a lease is held by whoever was given this epoch.
    public func isHeld(_ lease: Lease) throws -> Bool {
        try row(
            "SELECT 1 AS found FROM leases WHERE name = $1 AND epoch = $2", [.text(lease.name), .integer(lease.epoch)])
            != nil
    }

    /// What the holder of a lease last noted, nil when nobody holds it.
    public func leaseNote(_ name: String) throws -> String? {
        try row(
            "SELECT note FROM leases WHERE name = $1 AND ends_at > $2",
            [.text(name), .integer(try sharedTime())])?.text("note")
    }
}

extension WriteTransaction {
    /// Takes a lease that nobody holds, or whose holder has not renewed it in time; nil when it is held.
    ///
    /// - Parameters:
    ///   - time: milliseconds of the database's clock after which another may take it.
    ///   - note: what others read of it.
    public func takeLease(_ name: String, for holder: String, time: Int, note: String = "") throws -> Lease? {
        let now = try sharedTime()
        let held = try row(
            "SELECT 1 AS found FROM leases WHERE name = $1 AND ends_at > $2", [.text(name), .integer(now)])
        guard held == nil else { return nil }
        let epoch = try nextNumber(
            "UPDATE counters SET last_number = last_number + 1 WHERE name = 'leases' RETURNING last_number AS number")
        try execute(
            """
            INSERT INTO leases (name, holder, epoch, ends_at, note) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, epoch = EXCLUDED.epoch,
                ends_at = EXCLUDED.ends_at, note = EXCLUDED.note
            """, [.text(name), .text(holder), .integer(epoch), .integer(now + time), .text(note)])
        return Lease(name: name, epoch: epoch)
    }

    /// Keeps a lease for another while; false when somebody else has it by now.
    public func renewLease(_ lease: Lease, time: Int, note: String = "") throws -> Bool {
        try execute(
            "UPDATE leases SET ends_at = $3, note = $4 WHERE name = $1 AND epoch = $2",
            [.text(lease.name), .integer(lease.epoch), .integer(try sharedTime() + time), .text(note)]) > 0
    }

    /// Gives a lease back; one that somebody else has by now stays.
    public func endLease(_ lease: Lease) throws {
        try execute(
            "DELETE FROM leases WHERE name = $1 AND epoch = $2", [.text(lease.name), .integer(lease.epoch)])
    }

    /// Forgets leases of servers that ended without giving them back.
    public func pruneLeases() throws {
        try execute("DELETE FROM leases WHERE ends_at < $1", [.integer(try sharedTime() - 86_400_000)])
    }
}
