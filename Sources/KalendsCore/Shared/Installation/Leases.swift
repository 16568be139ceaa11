// SPDX-License-Identifier: Apache-2.0

package import Storage

/// Leases for work that only one server at a time may do; a single server needs none, and no query is made.
package struct Leases: Sendable {
    private let store: any Store
    /// Nil if only one server uses the database.
    private let holder: String?
    /// The server's share of the background work.
    package let shards: ShardWork

    /// How long a server keeps a lease that it does not renew, in milliseconds of the database's clock.
    static let time = 10_000
    private static let pause = Duration.seconds(3)
    private static let patience = Duration.milliseconds(100)

    package init(_ store: any Store, holder: String?) {
        (self.store, self.holder, shards) = (store, holder, ShardWork(store, holder: holder))
    }

    /// Whether other servers use the database too.
    package var isShared: Bool { holder != nil }

    /// Takes a lease; returns nil if another server holds it, or if there are no other servers.
    package func take(_ name: String) async throws -> HeldLease? {
        guard let holder else { return nil }
        // The time counts from here, so the lease is shorter by the time the answer takes.
        let end = ContinuousClock.now + .milliseconds(Self.time)
        let lease = try await HeldLeases.$current.withValue([]) { () async throws -> Lease? in
            // Waiting servers only read, and take no turn from those that write.
            guard try await store.read({ try $0.leaseNote(name) }) == nil else { return nil }
            return try await store.record { try $0.takeLease(name, for: holder, time: Self.time) }
        }
        return lease.map { HeldLease($0, until: end) }
    }

    /// Does work under a lease, renews the lease during the work, and then gives it back; if the lease is lost, the
    /// work is cancelled and can write nothing more.
    ///
    /// - Parameters:
    ///   - held: nil for work that needs no lease.
    ///   - pause: how often the lease is renewed; `note` is stored with it.
    ///   - isChecked: whether the work's writes, and those of what it starts, depend on the lease.
    package func keeping<Value: Sendable>(
        _ held: HeldLease?, every pause: Duration = Self.pause, noting note: @escaping @Sendable () -> String = { "" },
        isChecked: Bool = true, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let held else { return try await work() }
        let result: Result<Value, any Error>
        do {
            result = .success(
                try await withThrowingTaskGroup(of: Value?.self) { group in
                    group.addTask {
                        let checked = isChecked ? [held] : []
                        return try await HeldLeases.$current.withValue(HeldLeases.current + checked) {
                            try await work()
                        }
                    }
                    group.addTask {
                        try await renew(held, every: pause, noting: note)
                        return nil
                    }
                    defer { group.cancelAll() }
                    while let value = try await group.next() {
                        if let value { return value }
                    }
                    throw CancellationError()
                })
        } catch {
            result = .failure(error)
        }
        await giveBack(held)
        return try result.get()
    }

    /// Does work exclusively among the servers, after others have finished theirs.
    ///
    /// - Parameter isGivenUp: whether waiting is no longer useful; work that has begun continues.
    /// - Throws: `CancellationError` if waiting was given up, and what the work throws.
    func alone<Value: Sendable>(
        _ name: String, unless isGivenUp: @Sendable () -> Bool = { false },
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard isShared else { return try await work() }
        while true {
            if let held = try await take(name) { return try await keeping(held, work) }
            if isGivenUp() { throw CancellationError() }
            try await Task.sleep(for: Self.patience)
        }
    }

    /// Gives a lease back; a lease that cannot be given back expires.
    package func giveBack(_ held: HeldLease) async {
        let (store, lease) = (store, held.lease)
        // This also works in a cancelled task, and in one whose other leases are lost.
        await HeldLeases.$current.withValue([]) {
            await Task { try? await store.record { try $0.endLease(lease) } }.value
        }
    }

    /// Renews a lease until the task is cancelled; throws `StorageError.leaseLost` if it is lost or may be lost.
    private func renew(
        _ held: HeldLease, every pause: Duration, noting note: @escaping @Sendable () -> String
    ) async throws {
        let (lease, time) = (held.lease, Self.time)
        while (try? await Task.sleep(for: pause)) != nil {
            let sent = ContinuousClock.now
            let text = note()
            do {
                let isHeld = try await store.write(.keeping(lease.name)) { transaction in
                    transaction.concernsNamedCirclesOnly()
                    return try transaction.renewLease(lease, time: time, note: text)
                }
                guard isHeld else {
                    // Nothing more is written or sent under this lease.
                    held.extend(until: .now)
                    throw StorageError.leaseLost
                }
                held.extend(until: sent + .milliseconds(time))
            } catch StorageError.leaseLost {
                throw StorageError.leaseLost
            } catch {
                // The database may be available again before the lease ends.
                guard held.isFresh else { throw StorageError.leaseLost }
            }
        }
    }
}
