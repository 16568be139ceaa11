// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import KalendsCore
import KalendsFront
import Logging
import ServiceLifecycle
import Storage

/// The background work of several servers: each does the work of its shards, and one of them the work that belongs to no circle
/// or user. Others take over once a server has ended, was paused or has lost the database.
struct SharedJobs: Service {
    let services: Services
    let logger: Logger
    let housekeeping: Housekeeping
    let running: [any Service]

    /// How often the server renews its shards, and looks for what nobody does.
    private static let pause = Duration.seconds(2)
    /// How often the server checks, by its own clock, whether it still has them.
    private static let watch = Duration.milliseconds(500)
    /// For how many pauses it is kept what was written: a server that asks for nothing for so long forgets what it has in
    /// memory.
    private static let kept = 15

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for service in running { group.addTask { try? await service.run() } }
                group.addTask { await share() }
                group.addTask { await watch() }
                group.addTask { await doCommon() }
            }
        }
    }

    /// Keeps this server's share of the shards until the server ends, and then gives it back.
    private func share() async {
        let shards = services.leases.shards
        var known = 0
        while !Task.isCancelled {
            do {
                if try await shards.step() { _ = try await shards.step() }
            } catch {
                // The failure is the database's, and every request that is affected reports it.
                logger.debug("background work waits", metadata: ["error": "\(publicText(error))"])
            }
            if shards.count != known {
                known = shards.count
                logger.notice("background work is shared", metadata: ["shards": "\(known)", "of": "\(Shards.count)"])
            }
            try? await Task.sleep(for: Self.pause)
        }
        await shards.leave()
    }

    private func watch() async {
        while (try? await Task.sleep(for: Self.watch)) != nil { services.leases.shards.endStale() }
    }

    /// Does the work that belongs to no circle or user, as long as this server has its shard.
    private func doCommon() async {
        while !Task.isCancelled {
            _ = try? await services.leases.shards.work(in: .common) {
                await withDiscardingTaskGroup { group in
                    group.addTask { await housekeeping.prune() }
                    group.addTask { await endAbandoned() }
                    group.addTask { await forgetWritten() }
                    group.addTask { await orderAudit() }
                    group.addTask { await settle() }
                }
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Informs readers about what this version shows differently, once the servers of the version before have ended.
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
