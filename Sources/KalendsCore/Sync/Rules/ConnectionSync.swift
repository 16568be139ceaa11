// SPDX-License-Identifier: Apache-2.0

package import Logging
import ServiceLifecycle
import Storage

/// Synchronizes connections when they are due, many at once and each independently.
///
/// All of its state is in the database, so it continues after a restart where it was. Runs that a person asked for come
/// first; then every user's first connection comes before any user's second one, and each provider has its own slots.
/// Querying the database takes time in proportion to everything that waits, so it is queried once a second, and
/// additionally when something becomes due at once; as runs end in between, connections from the last query take their
/// slots.
package struct ConnectionSync: Service {
    let context: SyncContext
    package let logger: Logger

    init(context: SyncContext, logger: Logger) {
        self.context = context
        self.logger = logger
    }

    private static let pause = Duration.seconds(1)
    private static let counting = Duration.seconds(60)
    /// The maximum number of connections of a provider that one query finds.
    private static let most = 20_000

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            if !context.leases.isShared { _ = await attempt { try await takeOver() } }
            await withDiscardingTaskGroup { group in
                var queue = SyncQueue()
                var gained = Shards([])
                let clock = ContinuousClock()
                var nextLook = clock.now
                var nextCount = clock.now
                while !Task.isCancelled {
                    if context.sync.takeNews() || clock.now >= nextLook {
                        nextLook = clock.now + Self.pause
                        gained.formUnion(context.leases.shards.takeGained())
                        if !gained.isEmpty, await attempt({ [gained] in try await takeOver(gained) }) != nil {
                            gained = Shards([])
                        }
                        if let found = await attempt({ try await due() }) { queue = SyncQueue(found) }
                    }
                    if clock.now >= nextCount {
                        nextCount = clock.now + Self.counting
                        group.addTask { _ = await attempt { try await count() } }
                    }
                    let now = context.now()
                    for own in queue.take({ context.sync.enter($0, now: now) }) {
                        group.addTask {
                            defer { context.sync.leave(own.id) }
                            _ = await attempt { try await go(own) }
                        }
                    }
                    await context.sync.pause(max(.milliseconds(1), nextLook - clock.now))
                }
            }
        }
        _ = await attempt { try await storeRequests() }
    }

    /// Stores the requests that no run has stored, and looks at what the day still needs.
    private func count() async throws {
        try await storeRequests()
        _ = try await context.requestForecasts()
    }

    /// Stores the requests that no run has stored.
    func storeRequests() async throws {
        let (counts, now) = (context.sync.requests.takeAll(), context.now())
        guard !counts.isEmpty else { return }
        do {
            try await context.store.record { transaction in
                for (source, counts) in counts.sorted(by: { $0.key.connection < $1.key.connection }) {
                    try transaction.addRequests(counts, of: source.connection.string, by: source.provider, now: now)
                }
            }
        } catch {
            context.sync.requests.giveBack(counts)
            throw error
        }
    }

    /// Runs everything that is due, and what becomes due while it runs; returns the number of runs.
    @discardableResult
    func once() async throws -> Int {
        var total = 0
        try await count()
        while true {
            var queue = SyncQueue(try await due())
            let now = context.now()
            let due = queue.take { context.sync.enter($0, now: now) }
            if due.isEmpty { return total }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for own in due {
                    group.addTask {
                        defer { context.sync.leave(own.id) }
                        try await go(own)
                    }
                }
                try await group.waitForAll()
            }
            total += due.count
        }
    }

    /// Ends the leases of another process, which must have ended, because otherwise it would hold the database, and makes
    /// its unfinished runs due. If several servers share the database, these are the runs of the shards; their leases end
    /// where shards are shared out.
    func takeOver(_ shards: Shards = .all) async throws {
        let (now, holder, isShared) = (context.now(), context.sync.holder, context.leases.isShared)
        try await context.store.record { transaction in
            if !isShared { try transaction.endSyncLeases(exceptOf: holder) }
            for row in try transaction.syncRuns(in: .running, limit: 100_000) {
                guard var own = try transaction.connectionEverKnown(row.connectionID),
                    shards.contains(Shards.number(of: own.userID))
                else { continue }
                // A phone asks again by itself.
                guard own.provider != .apple, own.ending != .records, own.ending != nil || own.state == .active
                else { continue }
                own.nextSyncAt = min(own.nextSyncAt ?? now, now)
                try transaction.recordConnection(own)
            }
        }
    }

    private func go(_ own: DueSync) async throws {
        _ = try await context.leases.shards.work(of: own.userID) {
            context.sync.metrics.countStart(own.provider, late: context.now() - own.dueAt)
            return try await ConnectionRun(context: context, logger: logger, id: own.id).go()
        }
    }

    private func due() async throws -> [DueSync] {
        let (now, shards) = (context.now(), context.leases.shards.open)
        if shards.isEmpty { return [] }
        context.sync.note(shards)
        return try await context.store.read { transaction in
            try Connection.Provider.allCases.flatMap {
                try transaction.dueSyncs(by: $0, now: now, in: shards, limit: Self.most)
            }
        }
    }

    private func attempt<Value: Sendable>(_ work: () async throws -> Value) async -> Value? {
        await logger.attempt("connections cannot be kept in step", work)
    }
}
