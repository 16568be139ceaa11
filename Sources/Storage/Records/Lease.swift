// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The right to do something that only one server at a time may do, until another takes it over.
public struct Lease: Hashable, Sendable {
    public let name: String
    /// A number that the lease never has again: whoever takes it next has a higher one.
    public let epoch: Int
}

/// A lease with the time until which nobody else can have taken it.
public final class HeldLease: Sendable {
    public let lease: Lease
    private let end: Mutex<ContinuousClock.Instant>

    /// - Parameter end: on a clock that keeps running while the machine sleeps, counted from before the lease was
    ///   requested.
    package init(_ lease: Lease, until end: ContinuousClock.Instant) {
        self.lease = lease
        self.end = Mutex(end)
    }

    package func extend(until time: ContinuousClock.Instant) { end.withLock { $0 = time } }

    package var isFresh: Bool { isFresh(at: .now) }

    package func isFresh(at time: ContinuousClock.Instant) -> Bool { end.withLock { time < $0 } }
}

/// The leases under which a task, and every task that it starts, works.
///
/// A store that several servers share checks in every write transaction of such a task that they are still held.
public enum HeldLeases {
    @TaskLocal public static var current: [HeldLease] = []

    /// Throws `StorageError.leaseLost` when another server may already do the same work. It is called before something
    /// is sent that no transaction can take back.
    package static func check() throws {
        guard current.allSatisfy(\.isFresh) else { throw StorageError.leaseLost }
    }
}

extension ReadTransaction {
    /// Whether leases with these epochs are still held.
    public func areHeld(_ leases: Set<Lease>) throws -> Bool {
        if leases.isEmpty { return true }
        let each = (0..<leases.count).map { "(name = $\(2 * $0 + 1) AND epoch = $\(2 * $0 + 2))" }
        return try count(
            "SELECT COUNT(*) AS count FROM leases WHERE \(each.joined(separator: " OR "))",
            leases.flatMap { [.text($0.name), .integer($0.epoch)] }) == leases.count
    }

    /// Returns the note of a lease's holder; nil when nobody holds it.
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
    ///   - time: how long it lasts by the database's clock, in milliseconds.
    ///   - note: a text that others can read.
    public func takeLease(_ name: String, for holder: String, time: Int, note: String = "") throws -> Lease? {
        let now = try sharedTime()
        let held = try row(
            "SELECT 1 AS found FROM leases WHERE name = $1 AND ends_at > $2", [.text(name), .integer(now)])
        guard held == nil else { return nil }
        try demandAlone()
        return try putLease(name, try nextLeaseEpoch(), holder, until: now + time, note: note)
    }

    func nextLeaseEpoch() throws -> Int {
        try nextNumber(
            "UPDATE counters SET last_number = last_number + 1 WHERE name = 'leases' RETURNING last_number AS number")
    }

    @discardableResult
    func putLease(_ name: String, _ epoch: Int, _ holder: String, until end: Int, note: String = "") throws -> Lease {
        try execute(
            """
            INSERT INTO leases (name, holder, epoch, ends_at, note) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, epoch = EXCLUDED.epoch,
                ends_at = EXCLUDED.ends_at, note = EXCLUDED.note
            """, [.text(name), .text(holder), .integer(epoch), .integer(end), .text(note)])
        return Lease(name: name, epoch: epoch)
    }

    /// Extends a lease; returns false when somebody else has taken it.
    public func renewLease(_ lease: Lease, time: Int, note: String = "") throws -> Bool {
        try execute(
            "UPDATE leases SET ends_at = $3, note = $4 WHERE name = $1 AND epoch = $2",
            [.text(lease.name), .integer(lease.epoch), .integer(try sharedTime() + time), .text(note)]) > 0
    }

    /// Gives a lease back; nothing changes when somebody else has taken it.
    public func endLease(_ lease: Lease) throws {
        try execute(
            "DELETE FROM leases WHERE name = $1 AND epoch = $2", [.text(lease.name), .integer(lease.epoch)])
    }

    /// Removes leases of servers that ended without giving them back.
    public func pruneLeases() throws {
        try execute("DELETE FROM leases WHERE ends_at < $1", [.integer(try sharedTime() - 86_400_000)])
    }
}
