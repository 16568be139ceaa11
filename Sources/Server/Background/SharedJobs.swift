// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import KalendsCore
import KalendsFront
import Logging
import ServiceLifecycle
import Storage

/// The background work of several servers: the server that holds the lease does it, and another takes over once that
/// server has ended, was paused or has lost the database.
struct SharedJobs: Service {
    let services: Services
    let logger: Logger
    let housekeeping: Housekeeping
    let running: [any Service]

    private static let name = "jobs"
    /// How often the server tries to take the lease, and looks for imports that ended with another server.
    private static let pause = Duration.seconds(2)
    /// For how many pauses it is kept what was written: a server that asks for nothing for so long forgets what it has in
    /// memory.
    private static let kept = 15

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
                    // The failure is the database's, and every request that is affected reports it.
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
                group.addTask { await forgetWritten() }
                group.addTask { await orderAudit() }
                group.addTask { await settle() }
                try await group.waitForAll()
            }
        }
    }

    /// Informs readers of what this version shows differently, once the servers of the version before have ended.
    private func settle() async {
        let (form, own) = (ShownForm(services.settings), Installation.owner(services.settings).name)
        while !Task.isCancelled {
            try? await form.note(in: services.store, own: own, now: services.now())
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Gives acts their places in the audit trail soon after them, so that a later change to one shows.
    private func orderAudit() async {
        while !Task.isCancelled {
            try? await services.audit.order()
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Keeps short what servers tell each other of their writes.
    private func forgetWritten() async {
        var floors: [Int] = []
        while !Task.isCancelled {
            let old = floors.count >= Self.kept ? floors[0] : nil
            if let floor = try? await services.sharing?.forgetWritten(below: old) {
                floors = floors.suffix(Self.kept - 1) + [floor]
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Marks imports that no server is working on as failed.
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

/// Reports to the other servers that this one is running, and how many reads it has recorded.
struct ServerHeartbeat: Service {
    let services: Services

    private static let pause = Duration.seconds(2)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            async let watching: Void = watch()
            while (try? await Task.sleep(for: Self.pause)) != nil {
                // If this fails, the other servers notice that they receive nothing.
                try? await services.counter.beat()
            }
            await watching
        }
    }

    /// Asks the database whether it is still the one, as a poll does. A server that nobody reads from has to notice that
    /// its database was replaced, too; its writes wait for the former one until then.
    private func watch() async {
        while (try? await Task.sleep(for: Self.pause)) != nil { _ = try? await services.sharing?.confirm() }
    }
}
