// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import KalendsCore
import KalendsFront
import Logging
import ServiceLifecycle
import Storage

/// Background work of several servers: it is done by the one that holds the lease of it, and by another once that one has
/// ended, was paused or has lost the database.
struct SharedJobs: Service {
    let services: Services
    let logger: Logger
    let housekeeping: Housekeeping
    let running: [any Service]

    private static let name = "jobs"
    /// How often it is tried to take the lease, and looked for imports that a server's end broke off.
    private static let pause = Duration.seconds(2)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    if let held = try await services.leases.take(Self.name) { try await work(held) }
                } catch StorageError.leaseLost {
                    logger.warning("background work was given up: another server may do it by now")
                } catch is CancellationError {
                    return
                } catch {
                    // The failure is the database's, and every request that runs into it reports it.
                    logger.debug("background work waits", metadata: ["error": "\(publicText(error))"])
                }
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    private func work(_ held: HeldLease) async throws {
        logger.notice("this server does the background work")
        try await services.leases.keeping(held) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for service in running { group.addTask { try await service.run() } }
                group.addTask { await housekeeping.prune() }
                group.addTask { await endAbandoned() }
                try await group.waitForAll()
            }
        }
    }

    /// Notes of imports that no server is at work on that they failed.
    private func endAbandoned() async {
        services.tidying.begin(after: [])
        guard let problem = try? ProblemDocument(ImportFailure.interrupted).json.text() else { return }
        while !Task.isCancelled {
            let failed = try? await services.store.record { transaction in
                try transaction.pruneLeases()
                try transaction.pruneServers()
                return try transaction.failAbandonedImports(problem: problem, limit: 100)
            }
            if let failed, !failed.isEmpty { services.tidying.begin(after: failed) }
            try? await Task.sleep(for: Self.pause)
        }
    }
}

/// Reports to the other servers that this one runs, and how many reads it has recorded.
struct ServerBeat: Service {
    let services: Services

    private static let pause = Duration.seconds(2)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.pause)) != nil {
                // When it fails, the others see that they hear nothing.
                try? await services.counter.beat()
            }
        }
    }
}
