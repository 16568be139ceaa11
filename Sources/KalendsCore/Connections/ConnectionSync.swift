// SPDX-License-Identifier: Apache-2.0

package import Logging
import ServiceLifecycle
import Storage

/// Syncs connections when they are due: many at once, each by itself.
///
/// Everything it knows is in the database, so that it continues after a restart where it was. What a person asked for
/// comes first; then each user's first connection comes before anybody's second one, and every provider has its own
/// places. A look at the database costs as much as everything that waits, so there is one per second, and one more when
/// something becomes due at once; runs that end in between make room for what the last look found.
package struct ConnectionSync: Service {
    package let services: Services
    package let logger: Logger

    package init(services: Services, logger: Logger) {
        self.services = services
        self.logger = logger
    }

    private static let pause = Duration.seconds(1)
    /// Connections of a provider that one look finds at most.
    private static let most = 20_000

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            _ = await attempt { try await takeOver() }
            await withDiscardingTaskGroup { group in
                var queue = SyncQueue()
                let clock = ContinuousClock()
                var nextLook = clock.now
                while !Task.isCancelled {
                    if services.sync.takeNews() || clock.now >= nextLook {
                        nextLook = clock.now + Self.pause
                        if let found = await attempt({ try await due() }) { queue = SyncQueue(found) }
                    }
                    let now = services.now()
                    for own in queue.take({ services.sync.enter($0, now: now) }) {
                        group.addTask {
                            defer { services.sync.leave(own.id) }
                            _ = await attempt { try await go(own) }
                        }
                    }
                    await services.sync.pause(max(.milliseconds(1), nextLook - clock.now))
                }
            }
        }
    }

    /// Does all that is due, and what becomes due meanwhile; how many runs that were.
    @discardableResult
    func once() async throws -> Int {
        var total = 0
        while true {
            var queue = SyncQueue(try await due())
            let now = services.now()
            let due = queue.take { services.sync.enter($0, now: now) }
            if due.isEmpty { return total }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for own in due {
                    group.addTask {
                        defer { services.sync.leave(own.id) }
                        try await go(own)
                    }
                }
                try await group.waitForAll()
            }
            total += due.count
        }
    }

    /// Takes over what another process held: it has ended, because it would have the database otherwise. What it had
    /// begun becomes due. Where several servers have the database, the lease of one that ended runs out by itself.
    func takeOver() async throws {
        let (now, holder, isShared) = (services.now(), services.sync.holder, services.leases.isShared)
        try await services.store.record { transaction in
            if !isShared { try transaction.endSyncLeases(exceptOf: holder) }
            for row in try transaction.syncRuns(in: .running, limit: 100_000) {
                guard var own = try transaction.connectionEverKnown(row.connectionID) else { continue }
                guard own.ending != nil || own.state == .active else { continue }
                own.nextSyncAt = min(own.nextSyncAt ?? now, now)
                try transaction.recordConnection(own)
            }
        }
    }

    private func go(_ own: DueSync) async throws {
        services.sync.metrics.countStart(own.provider, late: services.now() - own.dueAt)
        try await ConnectionRun(services: services, logger: logger, id: own.id).go()
    }

    private func due() async throws -> [DueSync] {
        let now = services.now()
        return try await services.store.read { transaction in
            try Connection.Provider.allCases.flatMap {
                try transaction.dueSyncs(by: $0, now: now, limit: Self.most)
            }
        }
    }

    private func attempt<Value: Sendable>(_ work: () async throws -> Value) async -> Value? {
        do {
            return try await work()
        } catch is CancellationError {
            return nil
        } catch {
            logger.error("connections cannot be kept in step", metadata: ["error": "\(publicText(error))"])
            return nil
        }
    }
}
