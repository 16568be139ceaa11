// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Hummingbird
import Logging
import ServiceLifecycle
import Storage
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the server.",
        discussion: """
            Every setting can also be a variable (KALENDS_PORT, KALENDS_PUBLIC_URL, …) or stand in the file of --config.
            Secrets can only be there: KALENDS_SECRET_KEY, KALENDS_JWT_SECRET.
            """
    )

    @OptionGroup var options: SettingsOptions

    @Option(help: "The address to listen on (default 127.0.0.1; 0.0.0.0 for all).")
    var host: String?

    @Option(help: "The port to listen on (default 8080; 0 for any free one).")
    var port: Int?

    @Option(name: .customLong("public-url"), help: "What the addresses handed out begin with.")
    var publicURL: String?

    @Option(name: .customLong("trusted-proxies"), help: "Proxies whose X-Forwarded-For counts: addresses or ranges.")
    var trustedProxies: String?

    @Option(name: .customLong("title-prefix"), help: "What titles in calendars begin with (default CK).")
    var titlePrefix: String?

    @Option(
        name: .customLong("link-template"),
        help: "Where the host application shows an item: https://…/{circle}/{collection}/{id}.")
    var linkTemplate: String?

    @Option(name: .customLong("tls-certificate"), help: "A certificate chain in PEM, for https without a proxy.")
    var tlsCertificate: String?

    @Option(name: .customLong("tls-key"), help: "The certificate's private key in PEM.")
    var tlsKey: String?

    @Option(name: .customLong("jwt-jwks-file"), help: "Public keys (JWKS) that users' tokens are checked with.")
    var jwtJwksFile: String?

    @Option(name: .customLong("jwt-jwks-url"), help: "The same from an address, https or on this machine.")
    var jwtJwksURL: String?

    @Option(name: .customLong("jwt-issuer"), help: "What users' tokens must have as iss.")
    var jwtIssuer: String?

    @Option(name: .customLong("jwt-audience"), help: "What users' tokens must have as aud, or among it.")
    var jwtAudience: String?

    @Option(name: .customLong("metrics-port"), help: "Offer Prometheus metrics on this port too.")
    var metricsPort: Int?

    @Flag(help: "Load the samples first if the database is empty.")
    var demo = false

    @Option(help: "The folder with the samples of --demo.")
    var samples = "Samples"

    @Option(name: .customLong("log-level"), help: "trace, debug, info, notice, warning, error or critical.")
    var logLevel = "info"

    func validate() throws {
        guard Logger.Level(rawValue: logLevel) != nil else {
            throw ValidationError("--log-level must be trace, debug, info, notice, warning, error or critical.")
        }
    }

    func run() async throws {
        var chosen = try await options.settings([
            "host": host, "port": port.map(String.init), "publicURL": publicURL, "trustedProxies": trustedProxies,
            "titlePrefix": titlePrefix, "linkTemplate": linkTemplate, "tlsCertificate": tlsCertificate,
            "tlsKey": tlsKey, "jwtJwksFile": jwtJwksFile, "jwtJwksURL": jwtJwksURL, "jwtIssuer": jwtIssuer,
            "jwtAudience": jwtAudience,
        ])
        Server.raiseFileLimit()
        // The addresses of feeds name the port, so a free one is chosen before anything is handed out.
        chosen.listen(on: try await Server.usablePort(chosen.host, chosen.port))
        let settings = chosen
        var logger = Logger(label: "kalends") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = Logger.Level(rawValue: logLevel) ?? .info
        let log = logger
        if demo { try await Demo(folder: samples).loadIfEmpty(settings) }
        let installation = try await Installation.opened(settings)
        if !installation.services.isSealingKeyRight {
            log.warning(
                "the sealing key is not the one of this database: feeds go on, their addresses cannot be shown again")
        }
        do {
            try await serve(installation, settings, log)
        } catch {
            await end(installation, settings)
            throw error
        }
        await end(installation, settings)
        log.notice("stopped")
    }

    private func end(_ installation: Installation, _ settings: ServerSettings) async {
        try? await installation.close()
        try? FileManager.default.removeItem(atPath: settings.socketFile)
    }

    private func serve(_ installation: Installation, _ settings: ServerSettings, _ log: Logger) async throws {
        let server = Server(installation: installation, logger: log)
        let (ready, signal) = AsyncStream.makeStream(of: Void.self)
        let local = try server.local { signal.finish() }
        let version = try await installation.services.store.libraryVersion()
        let listening = try server.listening(
            afterReady: { for await _ in ready {} },
            onRunning: { port in
                log.notice(
                    "serving",
                    metadata: [
                        "host": "\(settings.host)", "port": "\(port)", "publicURL": "\(settings.publicURL)",
                        "database": "\(settings.database)", "sqlite": "\(version)",
                    ])
            })
        let housekeeping = Housekeeping(services: installation.services, logger: log)
        let folding = AccessFolding(counter: installation.services.counter, logger: log)
        let webhooks = WebhookDispatch(services: installation.services, logger: log)
        let refreshing = SubscriptionRefresh(services: installation.services, logger: log)
        var running: [any Service] = [local, listening, housekeeping, folding, webhooks, refreshing]
        if let metricsPort { running.append(server.metrics(port: metricsPort)) }
        var configuration = ServiceGroupConfiguration(
            services: running, gracefulShutdownSignals: [.sigterm, .sigint], logger: log)
        configuration.maximumGracefulShutdownDuration = .seconds(20)
        try await ServiceGroup(configuration: configuration).run()
    }
}
