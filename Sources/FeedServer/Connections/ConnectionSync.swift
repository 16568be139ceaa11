// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle
import Storage

/// Keeps connections in step when their time has come: many at once, each by itself.
///
/// All that it knows is in the database, so that it goes on after a restart where it was. What a person asked for comes
/// first; then each user's first connection comes before anybody's second one, and every provider has places of its own.
struct ConnectionSync: Service {
    let services: Services
    let logger: Logger

    private static let pause = Duration.seconds(1)
    /// Candidates that are looked at for each free place, because some may have to wait for others.
    private static let candidates = 8

    func run() async throws {
        await cancelWhenGracefulShutdown {
            _ = await attempt { try await takeOver() }
            await withDiscardingTaskGroup { group in
                while !Task.isCancelled {
                    for own in await attempt({ try await due() }) ?? [] where services.sync.enter(own) {
                        group.addTask {
                            defer { services.sync.leave(own.id) }
                            _ = await attempt { try await go(own.id) }
                        }
                    }
                    await services.sync.pause(Self.pause)
                }
            }
        }
    }

    /// Does all that is due, and what becomes due meanwhile; how many runs that were.
    @discardableResult
    func once() async throws -> Int {
        var total = 0
        while true {
            let due = try await due().filter { services.sync.enter($0) }
            if due.isEmpty { return total }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for own in due {
                    group.addTask {
                        defer { services.sync.leave(own.id) }
                        try await go(own.id)
                    }
                }
                try await group.waitForAll()
            }
            total += due.count
        }
    }

    /// Takes over what another process held: it has ended, because it would have the database otherwise. What it had
    /// begun becomes due.
    func takeOver() async throws {
        let (now, holder) = (services.now(), services.sync.holder)
        try await services.store.record { transaction in
            try transaction.endSyncLeases(exceptOf: holder)
            for row in try transaction.syncRuns(in: .running, limit: 100_000) {
                guard var own = try transaction.connectionEverKnown(row.connectionID) else { continue }
                guard own.ending != nil || own.state == .active else { continue }
                own.nextSyncAt = min(own.nextSyncAt ?? now, now)
                try transaction.recordConnection(own)
            }
        }
    }

    private func go(_ id: String) async throws {
        try await ConnectionRun(services: services, logger: logger, id: id).go()
    }

    private func due() async throws -> [Connection] {
        let now = services.now()
        var due: [Connection] = []
        for provider in Connection.Provider.allCases where provider != .apple {
            let free = services.sync.free(provider)
            guard free > 0 else { continue }
            due += try await services.store.read {
                try $0.dueSyncs(by: provider, now: now, limit: free * Self.candidates)
            }
        }
        return due
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
