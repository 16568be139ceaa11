// SPDX-License-Identifier: Apache-2.0

package import Storage
import Synchronization

/// The background work that is shared among servers: each piece runs under the lease of its shard, so that none runs at two
/// servers and a server that lost a shard stores nothing for it. A single server has all shards, and makes no query.
package final class ShardWork: Sendable {
    private struct Holding {
        let lease: HeldLease
        /// When the server learned that it has to give the shard up; from then on no work of it begins.
        var surplusSince: ContinuousClock.Instant?
    }

    private struct Run {
        let shards: Shards
        let cancel: @Sendable () -> Void
    }

    private struct State {
        var held: [Int: Holding] = [:]
        var runs: [Int: Run] = [:]
        var lastRun = 0
        /// The shards that have to be given back, because the server stopped their work before another took them.
        var ended: [Lease] = []
        /// The shards that were taken since the last call of `takeGained`.
        var gained = Shards([])

        func isBusy(_ shards: Shards) -> Bool { runs.values.contains { $0.shards.intersects(shards) } }

        func cancel(_ shards: Shards) {
            for run in runs.values where run.shards.intersects(shards) { run.cancel() }
        }

        /// Ends all work of a shard; it is taken up again under another epoch only.
        mutating func drop(_ number: Int) {
            guard let holding = held.removeValue(forKey: number) else { return }
            ended.append(holding.lease.lease)
            cancel(Shards([number]))
        }

        func lease(of number: Int) -> HeldLease? {
            held[number].flatMap { $0.surplusSince == nil && $0.lease.isFresh ? $0.lease : nil }
        }
    }

    private let store: any Store
    /// Nil if only one server uses the database.
    private let holder: String?
    private let state = Mutex(State())

    /// How long work of a shard that has to be given up may continue: longer than a message to a webhook takes. Work that takes
    /// longer is cancelled, and the next server continues it.
    private static let patience = Duration.seconds(16)
    /// The time before another server may take a shard at which its work is cancelled: it has ended by then, although
    /// the end is checked only twice a second.
    private static let margin = Duration.seconds(1)

    init(_ store: any Store, holder: String?) { (self.store, self.holder) = (store, holder) }

    /// The shards whose work may begin.
    package var open: Shards {
        guard holder != nil else { return .all }
        return state.withLock { state in Shards(state.held.keys.filter { state.lease(of: $0) != nil }) }
    }

    /// How many shards the server has.
    package var count: Int { holder == nil ? Shards.count : state.withLock { $0.held.count } }

    /// Returns the shards that were taken since the last call; a single server takes all at its start.
    func takeGained() -> Shards {
        state.withLock { state in
            defer { state.gained = Shards([]) }
            return state.gained
        }
    }

    /// Does work that belongs to these circles or people.
    ///
    /// - Returns: nil when the server does not have the work's shards, or has lost one of them in the meantime.
    package func work<Value: Sendable>(
        of ids: String..., work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        try await self.work(in: Shards(of: ids), work)
    }

    /// Like `work(of:work:)`, for work of several shards at once.
    package func work<Value: Sendable>(
        in shards: Shards, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        guard holder != nil else { return try await work() }
        let begun: (number: Int, task: Task<Value, any Error>)? = state.withLock { state in
            let leases = shards.numbers.map { state.lease(of: $0) }
            guard !leases.contains(where: { $0 == nil }) else { return nil }
            state.lastRun += 1
            let held = HeldLeases.current + leases.compactMap(\.self)
            let task = Task { try await HeldLeases.$current.withValue(held) { try await work() } }
            state.runs[state.lastRun] = Run(shards: shards) { task.cancel() }
            return (state.lastRun, task)
        }
        guard let (number, task) = begun else { return nil }
        defer { state.withLock { $0.runs[number] = nil } }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch StorageError.leaseLost {
            // The next piece is not begun, because its result could not be stored, although its messages would be sent.
            state.withLock { state in
                for number in shards.numbers { state.drop(number) }
            }
            return nil
        } catch is CancellationError where !Task.isCancelled {
            return nil
        }
    }

    /// Renews what the server has, takes its share of what nobody has, and gives up what is more than its share.
    ///
    /// - Returns: whether there is something to give up at once, by the next step.
    package func step(patience: Duration = patience) async throws -> Bool {
        guard let holder else { return false }
        // The time counts from here, so that a lease is shorter by the time the answer takes.
        let sent = ContinuousClock.now
        let end = sent + .milliseconds(Leases.time) - Self.margin
        let ended = state.withLock { state in
            for (number, holding) in state.held {
                guard let since = holding.surplusSince else { continue }
                if !state.isBusy(Shards([number])) {
                    state.drop(number)
                } else if sent - since >= patience {
                    state.cancel(Shards([number]))
                }
            }
            return state.ended
        }
        let share = try await HeldLeases.$current.withValue([]) {
            try await store.write(.keeping("server/\(holder)")) { transaction in
                transaction.concernsNamedCirclesOnly()
                return try transaction.shareShards(for: holder, time: Leases.time, ended: ended)
            }
        }
        return state.withLock { state in
            state.ended.removeAll { ended.contains($0) }
            for (number, holding) in state.held where share.held[number] != holding.lease.lease {
                state.held[number] = nil
                state.cancel(Shards([number]))
            }
            for (number, lease) in share.held {
                guard let holding = state.held[number] else {
                    // Work that was cancelled while its lease was renewed is not resumed under the same epoch.
                    guard !state.ended.contains(lease) else { continue }
                    state.held[number] = Holding(lease: HeldLease(lease, until: end))
                    state.gained.formUnion(Shards([number]))
                    continue
                }
                holding.lease.extend(until: end)
            }
            for (number, holding) in state.held {
                state.held[number]?.surplusSince =
                    share.surplus.contains(number) ? holding.surplusSince ?? .now : nil
            }
            return share.surplus.contains { !state.isBusy(Shards([$0])) }
        }
    }

    /// Cancels work whose shard another server may take by now.
    package func endStale(at time: ContinuousClock.Instant = .now) {
        state.withLock { state in
            for (number, holding) in state.held where !holding.lease.isFresh(at: time) { state.drop(number) }
        }
    }

    /// Ends all work, and gives back all shards; those that cannot be given back expire.
    ///
    /// - Parameter patience: how long work may take to end.
    package func leave(patience: Duration = .seconds(5)) async {
        guard let holder else { return }
        state.withLock { state in
            state.held = [:]
            state.cancel(.all)
        }
        // This also works in a cancelled task.
        await Task {
            let end = ContinuousClock.now + patience
            while state.withLock({ !$0.runs.isEmpty }), ContinuousClock.now < end {
                try? await Task.sleep(for: .milliseconds(20))
            }
            await HeldLeases.$current.withValue([]) {
                try? await store.record { try $0.endShards(of: holder) }
            }
        }.value
    }
}
