// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Hummingbird
import HummingbirdCore
import KalendsCore
import KalendsFront
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Storage

/// The servers of one installation: the operator's socket, and the public port.
struct Server {
    let installation: Installation
    let logger: Logger

    /// The operator's socket, which nobody else can open.
    func local(onRunning: @escaping @Sendable () async -> Void = {}) throws -> some ApplicationProtocol {
        let path = installation.services.settings.socketFile
        return Application(
            router: try Routes.router(installation.front, isLocal: true),
            configuration: ApplicationConfiguration(
                address: .unixDomainSocket(path: path), serverName: "kalends-local"),
            onServerRunning: { channel in
                await AcceptPause.add(to: channel, logger)
                await onRunning()
            },
            logger: logger)
    }

    /// The public port, with TLS when there is a certificate.
    ///
    /// - Parameters:
    /// - socket: a socket that is already listening; nil to open one at the settings' address.
    /// - certificates: nil for a port without TLS.
    /// - afterReady: awaited before the port opens.
    /// - onRunning: called with the port's number once connections are accepted.
    /// - onStopping: called when no further connections are accepted.
    func listening(
        on socket: PassedSocket?, _ certificates: TLSCertificates?, afterReady: @escaping @Sendable () async -> Void,
        onRunning: @escaping @Sendable (Int) async -> Void, onStopping: @escaping @Sendable () -> Void
    ) throws -> some Service {
        let settings = installation.services.settings
        return PublicPort(
            place: socket.map { .passed($0) } ?? .address(host: settings.host, port: settings.port),
            responder: try Routes.router(installation.front, isLocal: false).buildResponder(),
            channels: EdgeSetup.channels(
                installation.front, limits: settings.limits, certificates: certificates, logger: logger),
            logger: logger, afterReady: afterReady, onRunning: onRunning, onStopping: onStopping)
    }

    /// The metrics on a separate port, which only this machine can reach unless another host is set.
    func metrics(port: Int) -> some ApplicationProtocol {
        Application(
            router: Routes.metricsRouter(installation.services),
            server: EdgeSetup.http(
                installation.front, limits: installation.services.settings.limits, hasFeeds: false, logger: logger),
            configuration: ApplicationConfiguration(
                address: .hostname(installation.services.settings.host, port: port)),
            onServerRunning: { channel in await AcceptPause.add(to: channel, logger) },
            logger: logger)
    }

    /// Raises this process's limit of open files and connections as far as the system allows.
    ///
    /// - Returns: the number of connections that leaves room for everything else; nil when the system does not report
    ///   it.
    static func raiseFileLimit() -> Int? {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        // The calls access only the structure that they are given.
        guard unsafe getrlimit(kind, &limit) == 0 else { return nil }
        limit.rlim_cur = limit.rlim_max
        guard unsafe setrlimit(kind, &limit) == 0, unsafe getrlimit(kind, &limit) == 0 else { return nil }
        let all = Int(clamping: limit.rlim_cur)
        return max(all / 2, all - otherFiles)
    }

    /// Files besides clients' connections: the database's, the journal's, those of workers and of outgoing calls.
    private static let otherFiles = 128

    /// Checks that a port can be listened on, before anything is started that would have to be stopped again.
    ///
    /// - Parameter port: the port; 0 selects a free one.
    /// - Returns: the port.
    static func usablePort(_ host: String, _ port: Int) async throws -> Int {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
                // No connection is accepted here, since nobody would answer it.
                .serverChannelOption(ChannelOptions.autoRead, value: false)
                .bind(host: host, port: port).get()
            let found = channel.localAddress?.port
            try await channel.close()
            return found ?? port
        } catch let error as IOError {
            let reason = systemReason(error.errnoCode)
            throw StorageError.unusable("\(host):\(port) cannot be listened on: \(reason).")
        } catch is SocketAddressError {
            throw StorageError.unusable("\(host) is not an address of this machine.")
        } catch is SocketAddressError.UnknownHost {
            throw StorageError.unusable("The host \(host) is not known here; give an address of this machine.")
        }
    }
}

/// The regular work of a running server.
struct Housekeeping: Service {
    let services: Services
    let logger: Logger

    /// Whether this server prunes; of several servers, only one does.
    var prunes = true

    /// How many days single accesses and uncommitted previews are kept.
    private static let accessDays = 90
    private static let dayCountDays = 400
    private static let previewDays = 1
    /// How many days the journal of writes to people's calendars is kept, with the runs that made them.
    private static let journalDays = 90
    /// How many days runs without changes are listed: with many connections they are most of the stored data.
    private static let idleRunDays = 1
    private static let idleRunsLookedAt = 7
    /// How many days the deletion of one of our events on both sides is remembered, so that an old copy cannot bring it
    /// back.
    private static let tombstoneDays = 365
    /// How many days messages to webhooks are listed after they were delivered or given up.
    private static let deliveryDays = 30

    /// How long a change by a program that ignores our lock can remain unnoticed.
    private static let foreignChange = Duration.milliseconds(250)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                if prunes { group.addTask { await prune() } }
                group.addTask { await lookForForeignChanges() }
            }
        }
    }

    private func lookForForeignChanges() async {
        var wasInPlace = true
        while (try? await Task.sleep(for: Self.foreignChange)) != nil {
            // A failure here is the database's, and every request that is affected reports it.
            try? await services.maintenance.lookForForeignChange()
            let isInPlace = services.maintenance.isInPlace
            if isInPlace != wasInPlace { tell(isInPlace) }
            wasInPlace = isInPlace
        }
    }

    private func tell(_ isInPlace: Bool) {
        let database: Logger.Metadata = ["database": "\(services.settings.shownDatabase)"]
        if isInPlace {
            logger.notice("the database is in its place again", metadata: database)
        } else {
            logger.critical(
                """
                the database or its log was deleted or replaced: no change is accepted until it is back; \
                `kalends backup FILE` saves what this process has open
                """, metadata: database)
        }
    }

    /// Removes old data in short transactions.
    func prune(_ now: Int) async throws {
        let (store, day) = (services.store, 86_400_000)
        let trusted = try await store.record { transaction in
            // At most one day per hour, so that a clock which jumps ahead for a while removes little.
            let last = try transaction.setting("prunedAt").flatMap { Int($0) } ?? now
            let trusted = min(now, last + day)
            try transaction.set("prunedAt", to: String(trusted))
            return trusted
        }
        try await store.recordRepeatedly {
            try $0.pruneAccesses(
                before: trusted - Self.accessDays * day, daysBefore: trusted - Self.dayCountDays * day,
                now: max(now, trusted), limit: $1)
        }
        try await store.recordForAll(
            { try $0.oldChanges(before: trusted - CircleChanges.keptDays * day, limit: $1) },
            { try $0.deleteChanges($1) })
        for circle in try await store.read({ try $0.circlesWithManyChanges(CircleChanges.keptCount) }) {
            try await store.recordRepeatedly {
                try $0.pruneChanges(in: circle, keeping: CircleChanges.keptCount, limit: $1)
            }
        }
        try await store.recordForAll(
            { try $0.finishedDeliveries(before: now - Self.deliveryDays * day, limit: $1) },
            { try $0.deleteDeliveries($1) })
        try await store.recordRepeatedly { try $0.prunePreviews(before: now - Self.previewDays * day, limit: $1) }
        try await store.recordForAll(
            { try $0.endedSessions(now: min(now, trusted), limit: $1) }, { try $0.deleteSessions($1) })
        let old = trusted - Self.journalDays * day
        try await store.recordRepeatedly { try $0.pruneAuthorizations(before: now, limit: $1) }
        try await store.recordRepeatedly {
            try $0.pruneSignInLinks(before: min(now, trusted) - SignInLink.memory, limit: $1)
        }
        try await store.record { try $0.pruneOperatorSessions(now: now) }
        try await store.recordRepeatedly { try $0.pruneSyncJournal(before: old, limit: $1) }
        try await store.recordRepeatedly { try $0.pruneSyncRuns(before: old, limit: $1) }
        let idle = trusted - Self.idleRunDays * day
        try await store.recordRepeatedly {
            try $0.pruneIdleSyncRuns(from: idle - Self.idleRunsLookedAt * day, before: idle, limit: $1)
        }
        try await store.recordRepeatedly { try $0.pruneSyncConflicts(before: old, limit: $1) }
        try await store.recordRepeatedly {
            try $0.pruneSyncLinks(before: trusted - Self.tombstoneDays * day, limit: $1)
        }
        // Both tables are small, since their rows are limited.
        try await store.record { transaction in
            try transaction.pruneSignInFailures(before: trusted - SignInThrottle.memory)
            try transaction.pruneSignInHomes()
        }
    }

    /// Removes old data every hour, until it is cancelled.
    func prune() async {
        do {
            while !Task.isCancelled {
                let now = services.now()
                do {
                    try await prune(now)
                    try await services.tidying.tidy()
                } catch {
                    logger.error("pruning failed", metadata: ["error": "\(publicText(error))"])
                }
                try await Task.sleep(for: .seconds(3600))
            }
        } catch {
            // Only the sleep throws, when the server ends.
        }
    }
}
