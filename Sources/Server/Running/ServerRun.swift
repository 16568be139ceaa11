// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import KalendsCore
import KalendsFront
package import Logging
import ServiceLifecycle
import Storage
import UnixSignals
import WebhookSending

/// A server from its start until a signal ends it: its ports, and its work in the background.
package struct ServerRun {
    private let installation: Installation
    private let socket: PassedSocket?
    private let manager: ServiceManager
    private let logger: Logger
    private var settings: ServerSettings { installation.services.settings }

    /// - Parameter socket: a socket that is already listening; nil to open one at the settings' address.
    package init(installation: Installation, socket: PassedSocket?, manager: ServiceManager, logger: Logger) {
        (self.installation, self.socket, self.manager, self.logger) = (installation, socket, manager, logger)
    }

    /// Runs the server until it is asked to stop, and closes its installation.
    package func run() async throws {
        do {
            try await serve()
        } catch {
            await end()
            throw error
        }
        await end()
    }

    private func end() async {
        let isOurs = installation.services.maintenance.isInPlace
        try? await installation.close()
        // Once the database is another server's, the socket at this path may be too.
        if isOurs { try? FileManager.default.removeItem(atPath: settings.socketFile) }
    }

    private func serve() async throws {
        let server = ServerPorts(installation: installation, logger: logger)
        let certificates = try TLSCertificates(settings, logger: logger)
        // Files that are read again at SIGHUP.
        var actions: [@Sendable () async -> Void] = []
        if let certificates { actions.append { certificates.renew(isAsked: true) } }
        let hangup = HangupHandler(actions: actions, logger: logger)
        var running = try await ports(of: server, certificates) + background
        if let certificates { running.append(certificates) }
        if let port = settings.metricsPort { running.append(server.metrics(port: port)) }
        var configuration = ServiceGroupConfiguration(
            services: running.map { .init(service: $0) }
                + [.init(service: hangup, successTerminationBehavior: .gracefullyShutdownGroup)],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(15)
        try await ServiceGroup(configuration: configuration).run()
    }

    /// The operator's socket, and the public port, which opens once the socket is open.
    private func ports(of server: ServerPorts, _ certificates: TLSCertificates?) async throws -> [any Service] {
        let (ready, signal) = AsyncStream.makeStream(of: Void.self)
        let local = try server.local { signal.finish() }
        let (settings, services) = (settings, installation.services)
        let (manager, logger) = (manager, logger)
        let version = try await services.maintenance.engineVersion()
        let listening = try server.listening(
            on: socket, certificates, afterReady: { for await _ in ready {} },
            onRunning: { port in
                logger.notice(
                    "serving",
                    metadata: [
                        "host": "\(settings.host)", "port": "\(port)", "publicURL": "\(settings.publicURL)",
                        "database": "\(settings.shownDatabase)",
                        settings.server == nil ? "sqlite" : "postgresql": "\(version)",
                    ])
                manager.notify(.ready)
            },
            onStopping: {
                StopWatch(services: services, logger: logger).start()
                services.stopping.begin()
                services.streams.stop()
                manager.notify(.stopping)
            })
        return [local, listening]
    }

    private var background: [any Service] {
        let services = installation.services
        let isShared = settings.isShared
        let housekeeping = Housekeeping(services: services, logger: logger, prunes: !isShared)
        let own: [any Service] = [
            housekeeping, AccessFolding(counter: services.counter, logger: logger, isShared: isShared),
            AllocatorUpkeep(),
        ]
        // Several servers share these out.
        let jobs: [any Service] = [
            WebhookDispatch(services: services, logger: logger), PushDispatch(services: services, logger: logger),
            services.subscriptionRefresh(logger),
            services.officeNights(logger), services.connectionSync(logger),
        ]
        guard isShared else { return own + jobs }
        return own + [
            ServerHeartbeat(services: services),
            SharedJobs(services: services, logger: logger, housekeeping: housekeeping, running: jobs),
        ]
    }
}
