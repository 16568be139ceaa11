// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Storage

/// The servers of one installation: the operator's socket, and the public port.
struct Server {
    let installation: Installation
    let logger: Logger

    /// The operator's socket, open to nobody else.
    func local(onRunning: @escaping @Sendable () async -> Void = {}) throws -> some ApplicationProtocol {
        let path = installation.services.settings.socketFile
        return Application(
            router: try Routes.router(installation.services, isLocal: true),
            configuration: ApplicationConfiguration(
                address: .unixDomainSocket(path: path), serverName: "kalends-local"),
            onServerRunning: { _ in await onRunning() },
            logger: logger)
    }

    /// The public port, with TLS when there is a certificate.
    ///
    /// - Parameter afterReady: awaited before the port opens.
    func listening(
        afterReady: @escaping @Sendable () async -> Void, onRunning: @escaping @Sendable (Int) async -> Void
    ) throws -> some ApplicationProtocol {
        let settings = installation.services.settings
        let http = EdgeSetup.http(installation.services, limits: settings.limits, logger: logger)
        var application = Application(
            router: try Routes.router(installation.services, isLocal: false),
            server: try tls(settings).map { try .tls(http, tlsConfiguration: $0) } ?? http,
            configuration: ApplicationConfiguration(address: .hostname(settings.host, port: settings.port)),
            onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? settings.port) },
            logger: logger)
        application.beforeServerStarts(perform: afterReady)
        return application
    }

    /// The metrics on a port of their own, on this machine alone unless the host says otherwise.
    func metrics(port: Int) -> some ApplicationProtocol {
        Application(
            router: Routes.metricsRouter(installation.services),
            configuration: ApplicationConfiguration(
                address: .hostname(installation.services.settings.host, port: port)),
            logger: logger)
    }

    /// Lets this process have as many files and connections open as the system allows it.
    static func raiseFileLimit() {
        var limit = rlimit()
        // The calls read and write the one structure that they are given.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Makes sure that a port can be listened on, before anything is started that would have to be stopped again.
    ///
    /// - Parameter port: 0 for any that is free.
    /// - Returns: the port.
    static func usablePort(_ host: String, _ port: Int) async throws -> Int {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
                // Nobody is taken in here: they would wait for an answer that nobody gives.
                .serverChannelOption(ChannelOptions.autoRead, value: false)
                .bind(host: host, port: port).get()
            let found = channel.localAddress?.port
            try await channel.close()
            return found ?? port
        } catch let error as IOError {
            // strerror's text is copied at once.
            let reason =
                unsafe strerror(error.errnoCode).map { unsafe String(cString: $0) } ?? "error \(error.errnoCode)"
            throw StorageError.unusable("\(host):\(port) cannot be listened on: \(reason).")
        } catch is SocketAddressError {
            throw StorageError.unusable("\(host) is not an address of this machine.")
        }
    }

    private func tls(_ settings: ServerSettings) throws -> TLSConfiguration? {
        guard let certificate = settings.tlsCertificate, let key = settings.tlsKey else { return nil }
        do {
            return TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        } catch {
            throw StorageError.unusable("The TLS certificate or its key cannot be read as PEM.")
        }
    }
}

/// What has to be done again and again while the server runs.
struct Housekeeping: Service {
    let services: Services
    let logger: Logger

    /// How long single accesses are kept, and previews that nobody committed.
    private static let accessDays = 90
    private static let dayCountDays = 400
    private static let previewDays = 1
    /// How long messages to webhooks are listed once they were taken or given up.
    private static let deliveryDays = 30

    /// How long a change by a program that ignores our lock can stay unseen.
    private static let foreignChange = Duration.milliseconds(250)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await prune() }
                group.addTask { await lookForForeignChanges() }
            }
        }
    }

    private func lookForForeignChanges() async {
        while (try? await Task.sleep(for: Self.foreignChange)) != nil {
            // A failure here is one of the database, which every request meets and tells.
            try? await services.store.lookForForeignChange()
        }
    }

    private func prune() async {
        let day = 86_400_000
        do {
            while !Task.isCancelled {
                let now = services.now()
                do {
                    try await services.store.record { transaction in
                        // A day in an hour at most: a clock that jumps ahead for a while takes little with it.
                        let last = try transaction.setting("prunedAt").flatMap { Int($0) } ?? now
                        let trusted = min(now, last + day)
                        try transaction.set("prunedAt", to: String(trusted))
                        try transaction.pruneAccesses(
                            before: trusted - Self.accessDays * day, daysBefore: trusted - Self.dayCountDays * day,
                            now: max(now, trusted))
                        try transaction.pruneChanges(
                            before: trusted - ChangeRoutes.keptDays * day, keeping: ChangeRoutes.keptCount)
                        try transaction.pruneDeliveries(before: now - Self.deliveryDays * day)
                        try transaction.prunePreviews(before: now - Self.previewDays * day)
                        try transaction.pruneSessions(now: min(now, trusted))
                    }
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
