// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CoreMetrics
import FoundationEssentials
import Glibc
import KalendsCore
import KalendsFront
import Logging
import Server
import Storage

struct Serve: AsyncParsableCommand, SettingsTaking {
    static let configuration = CommandConfiguration(
        abstract: "Run the server.",
        discussion: """
            Every setting is a flag, a variable, or a name in the file of --config; a flag overrides a variable, \
            and a variable overrides the file. Secrets have no flag, because every program on the machine can read \
            arguments: set \(Setting.secretKey.variable) and \(Setting.jwtSecret.variable), or name files that contain \
            them; set \(Setting.companionSyncToken.variable) as a variable or in the file of --config. \
            `kalends settings` lists the settings that the server would use.
            """
    )

    @OptionGroup var options: SettingsOptions
    @OptionGroup var own: SettingFlags<ServerSettingGroup>
    @OptionGroup(title: "Sign-in at a provider") var openID: SettingFlags<OpenIDSettingGroup>
    @OptionGroup(title: "Calendars in step") var connections: SettingFlags<ConnectionSettingGroup>
    @OptionGroup(title: "Pages") var brand: SettingFlags<BrandSettingGroup>
    @OptionGroup(title: "Quotas") var quotas: SettingFlags<QuotaSettingGroup>
    @OptionGroup(title: "What is kept") var retention: SettingFlags<RetentionSettingGroup>

    func run() async throws {
        let isSettled = Allocator.settle()
        // From now on SIGHUP does not end the process; `HangupHandler` handles it once the server is running.
        _ = signal(SIGHUP, SIG_IGN)
        var values = self.values()
        var chosen = try ServerSettings(&values)
        let most = ServerPorts.raiseFileLimit()
        let wanted = chosen.limits.connections
        chosen.limits.connections = min(wanted, most ?? wanted)
        let environment = ProcessInfo.processInfo.environment
        let socket = try PassedSocket.taken(from: environment)
        try checkAddress(values, socket)
        try chosen.checkStrictly(passed: socket)
        // The addresses of feeds contain the port, so a free one is chosen before any address is issued.
        let port = if let socket { socket.port } else { try await ServerPorts.usablePort(chosen.host, chosen.port) }
        chosen.listen(on: port)
        if let port = chosen.metricsPort {
            do {
                _ = try await ServerPorts.usablePort(chosen.host, port)
            } catch StorageError.unusable(let reason) {
                throw StorageError.unusable("The port for metrics cannot be used: \(reason)")
            }
        }
        let settings = chosen
        let sink = try LogSink(STDERR_FILENO, as: settings.logFormat)
        var logger = Logger(label: "kalends") { _ in LineLogHandler(sink, as: settings.logFormat) }
        logger.logLevel = Logger.Level(rawValue: settings.logLevel) ?? .info
        let log = logger
        if !isSettled { log.warning("the C library keeps its own way of allocating memory: expect it to take more") }
        if settings.limits.connections < wanted {
            log.warning(
                "the system allows this process fewer connections than are wanted (ulimit -n)",
                metadata: ["connections": "\(settings.limits.connections)", "wanted": "\(wanted)"])
        }
        if settings.demo { try await Demo().loadIfEmpty(settings) }
        let installation: Installation
        do {
            installation = try await Installation.opened(settings)
        } catch let error as StorageError where error.isLocked {
            let holder = LockHolder(ofLock: settings.lockFile) ?? LockHolder(ofLock: settings.database)
            let sentence = holder.map { "\(error.description) It is \($0.description)." }
            throw LocalClient.Failure(description: sentence ?? error.description)
        }
        if !installation.services.isSealingKeyRight {
            log.warning(
                """
                the sealing key is not the one of this database: feeds keep working, but their addresses cannot be \
                shown again
                """)
        }
        MetricsSystem.bootstrap(installation.services.metrics.libraries)
        let running = ServerRun(
            installation: installation, socket: socket, manager: ServiceManager(environment), logger: log)
        do {
            try await running.run()
        } catch {
            _ = await sink.flush(within: .seconds(2))
            throw error
        }
        log.notice("stopped")
        _ = await sink.flush(within: .seconds(2))
    }

    /// Throws when a host or port is set that would not be listened on.
    private func checkAddress(_ values: SettingValues, _ socket: PassedSocket?) throws {
        guard socket != nil, values.source(of: .host) != nil || values.source(of: .port) != nil else { return }
        throw ServerSettings.Invalid(faults: [
            """
            host and port cannot be set where the service manager passes the socket: set ListenStream in \
            kalends.socket (systemctl edit kalends.socket).
            """
        ])
    }
}
