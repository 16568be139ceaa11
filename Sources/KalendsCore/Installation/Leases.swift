// SPDX-License-Identifier: Apache-2.0

package import Storage

/// Who does what one server at a time may do; with one server everything is its own, and nothing is asked.
package struct Leases: Sendable {
    private let store: any Store
    /// Nil where one server has the database.
    private let holder: String?

    /// How long a server that says nothing keeps a lease, in milliseconds of the database's clock.
    static let time = 10_000
    private static let pause = Duration.seconds(3)
    private static let patience = Duration.milliseconds(100)

    package init(_ store: any Store, holder: String?) { (self.store, self.holder) = (store, holder) }

    /// Whether other servers have the database too.
    package var isShared: Bool { holder != nil }

    /// Takes a lease; nil when another server has it, or when there is no other server.
    package func take(_ name: String) async throws -> HeldLease? {
        guard let holder else { return nil }
        // Counted from here: what the answer takes, the lease is shorter.
        let end = ContinuousClock.now + .milliseconds(Self.time)
        let lease = try await HeldLeases.$current.withValue([]) { () async throws -> Lease? in
            // Those who wait only look, and take no turn from those who write.
            guard try await store.read({ try $0.leaseNote(name) }) == nil else { return nil }
            return try await store.record { try $0.takeLease(name, for: holder, time: Self.time) }
        }
        return lease.map { HeldLease($0, until: end) }
    }

    /// Does work under a lease, keeps it meanwhile, and gives it back; work whose lease is lost is cancelled, and can write
    /// nothing more.
    ///
    /// - Parameters:
    ///   - held: nil for work that needs none.
    ///   - pause: how often the lease is renewed, and what is noted with it.
    package func keeping<Value: Sendable>(
        _ held: HeldLease?, every pause: Duration = Self.pause, noting note: @escaping @Sendable () -> String = { "" },
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let held else { return try await work() }
        let result: Result<Value, any Error>
        do {
            result = .success(
                try await withThrowingTaskGroup(of: Value?.self) { group in
                    group.addTask {
                        try await HeldLeases.$current.withValue(HeldLeases.current + [held]) { try await work() }
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

    /// Does work as the only server that does it, once the others are done with it.
    ///
    /// - Parameter isGivenUp: whether waiting is no longer of use; work that has begun continues.
    /// - Throws: `CancellationError` when it was given up, and what the work throws.
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

    /// Gives a lease back; of one that cannot be given back the time runs out.
    package func giveBack(_ held: HeldLease) async {
        let (store, lease) = (store, held.lease)
        // Also for a task that was cancelled, and for one whose other leases are lost.
        await HeldLeases.$current.withValue([]) {
            await Task { try? await store.record { try $0.endLease(lease) } }.value
        }
    }

    /// Renews a lease until it is cancelled; throws `StorageError.leaseLost` when it is lost, or may be.
    private func renew(
        _ held: HeldLease, every pause: Duration, noting note: @escaping @Sendable () -> String
    ) async throws {
        let (lease, time) = (held.lease, Self.time)
        while (try? await Task.sleep(for: pause)) != nil {
            let sent = ContinuousClock.now
            let text = note()
            do {
                guard try await store.record({ try $0.renewLease(lease, time: time, note: text) }) else {
                    // Nothing more goes out under it.
                    held.extend(until: .now)
                    throw StorageError.leaseLost
                }
                held.extend(until: sent + .milliseconds(time))
            } catch StorageError.leaseLost {
                throw StorageError.leaseLost
            } catch {
                // The database may be back before the lease ends.
                guard held.isFresh else { throw StorageError.leaseLost }
            }
        }
    }
}
