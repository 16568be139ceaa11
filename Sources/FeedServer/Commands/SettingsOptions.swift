// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import KalendsCore
import Server

/// The flags that select the installation for a command.
struct SettingsOptions: ParsableArguments {
    @Option(help: Setting.database.help) var database: String?
    @Option(help: Setting.files.help) var files: String?
    @Option(help: Setting.servers.help) var servers: String?

    @Option(
        help: ArgumentHelp(
            """
            A file with settings, lines of name = value or a JSON object (or \(Setting.fileVariable)); kalends settings \
            lists them.
            """,
            valueName: "file"))
    var config: String?

    /// - Parameter flags: the values of other settings' flags.
    func values(_ flags: [Setting: String?] = [:]) -> SettingValues {
        var given: [String: String] = [:]
        for case (let setting, let text?) in flags { given[setting.name] = text }
        if let database { given[Setting.database.name] = database }
        if let files { given[Setting.files.name] = files }
        if let servers { given[Setting.servers.name] = servers }
        return SettingValues(flags: given, configFile: config, environment: ProcessInfo.processInfo.environment)
    }

    func settings() async throws -> ServerSettings {
        var values = values()
        return try ServerSettings(&values)
    }

    /// Sends one request to the API of the process that has the database, and returns what it answers.
    ///
    /// - Parameter names: the command's words for the fields of the body, by JSON pointer, which faults name.
    func json(
        _ method: String, _ path: String, _ body: JSONValue? = nil, naming names: KeyValuePairs<String, String> = [:]
    ) async throws -> JSONValue {
        do {
            return try await LocalClient.with(try await settings()) { try await $0.json(method, path, body) }
        } catch let refusal as CommandRefusal {
            throw refusal.naming(names)
        }
    }

    /// Returns the elements of all pages of a list.
    func all(_ path: String) async throws -> [JSONValue] {
        try await LocalClient.with(try await settings()) { try await $0.all(path) }
    }
}

/// The flags of all settings.
struct ServerOptions: ParsableArguments {
    @OptionGroup var options: SettingsOptions

    @Option(name: Setting.host.option, help: Setting.host.help) var host: String?
    @Option(name: Setting.port.option, help: Setting.port.help) var port: String?
    @Option(name: Setting.publicURL.option, help: Setting.publicURL.help) var publicURL: String?
    @Option(name: Setting.trustedProxies.option, help: Setting.trustedProxies.help) var trustedProxies: String?
    @Option(name: Setting.tlsCertificate.option, help: Setting.tlsCertificate.help) var tlsCertificate: String?
    @Option(name: Setting.tlsKey.option, help: Setting.tlsKey.help) var tlsKey: String?
    @Flag(name: Setting.strict.option, inversion: .prefixedNo, help: Setting.strict.help) var strict: Bool?
    @Flag(
        name: Setting.requireSecondFactor.option, inversion: .prefixedNo, help: Setting.requireSecondFactor.help)
    var requireSecondFactor: Bool?
    @Flag(name: Setting.tmrSessionCookie.option, inversion: .prefixedNo, help: Setting.tmrSessionCookie.help)
    var tmrSessionCookie: Bool?
    @Option(name: Setting.titlePrefix.option, help: Setting.titlePrefix.help) var titlePrefix: String?
    @Option(name: Setting.linkTemplate.option, help: Setting.linkTemplate.help) var linkTemplate: String?
    @Option(name: Setting.corsOrigins.option, help: Setting.corsOrigins.help) var corsOrigins: String?
    @Option(name: Setting.maxImportBytes.option, help: Setting.maxImportBytes.help) var maxImportBytes: String?
    @Flag(name: Setting.allowHTTPImports.option, inversion: .prefixedNo, help: Setting.allowHTTPImports.help)
    var allowHTTPImports: Bool?
    @Option(name: Setting.maxConnections.option, help: Setting.maxConnections.help) var maxConnections: String?
    @Option(name: Setting.maxConnectionsPerNetwork.option, help: Setting.maxConnectionsPerNetwork.help)
    var maxConnectionsPerNetwork: String?
    @Option(name: Setting.accessJournalBytes.option, help: Setting.accessJournalBytes.help)
    var accessJournalBytes: String?
    @Option(name: Setting.accessDurability.option, help: Setting.accessDurability.help) var accessDurability: String?
    @Option(name: Setting.cacheBytes.option, help: Setting.cacheBytes.help) var cacheBytes: String?
    @Option(name: Setting.secretKeyFile.option, help: Setting.secretKeyFile.help) var secretKeyFile: String?
    @Option(name: Setting.jwtSecretFile.option, help: Setting.jwtSecretFile.help) var jwtSecretFile: String?
    @Option(name: Setting.jwtJwksFile.option, help: Setting.jwtJwksFile.help) var jwtJwksFile: String?
    @Option(name: Setting.jwtJwksURL.option, help: Setting.jwtJwksURL.help) var jwtJwksURL: String?
    @Option(name: Setting.jwtIssuer.option, help: Setting.jwtIssuer.help) var jwtIssuer: String?
    @Option(name: Setting.jwtAudience.option, help: Setting.jwtAudience.help) var jwtAudience: String?
    @Option(name: Setting.companionSyncUser.option, help: Setting.companionSyncUser.help)
    var companionSyncUser: String?
    @Option(name: Setting.metricsPort.option, help: Setting.metricsPort.help) var metricsPort: String?
    @Option(name: Setting.logLevel.option, help: Setting.logLevel.help) var logLevel: String?
    @Option(name: Setting.logFormat.option, help: Setting.logFormat.help) var logFormat: String?
    @Flag(name: Setting.demo.option, inversion: .prefixedNo, help: Setting.demo.help) var demo: Bool?

    @OptionGroup(title: "Sign-in at a provider") var openID: OpenIDOptions
    @OptionGroup(title: "Calendars in step") var connections: ConnectionOptions
    @OptionGroup(title: "Pages") var brand: BrandOptions
    @OptionGroup(title: "Quotas") var quotas: QuotaOptions
    @OptionGroup(title: "What is kept") var retention: RetentionOptions

    func values() -> SettingValues {
        func word(_ flag: Bool?) -> String? { flag.map { $0 ? "true" : "false" } }
        let own: [Setting: String?] = [
            .host: host, .port: port, .publicURL: publicURL, .trustedProxies: trustedProxies,
            .tlsCertificate: tlsCertificate, .tlsKey: tlsKey, .strict: word(strict),
            .requireSecondFactor: word(requireSecondFactor), .tmrSessionCookie: word(tmrSessionCookie),
            .titlePrefix: titlePrefix, .linkTemplate: linkTemplate,
            .corsOrigins: corsOrigins, .maxImportBytes: maxImportBytes, .allowHTTPImports: word(allowHTTPImports),
            .maxConnections: maxConnections, .maxConnectionsPerNetwork: maxConnectionsPerNetwork,
            .accessJournalBytes: accessJournalBytes, .accessDurability: accessDurability, .cacheBytes: cacheBytes,
            .secretKeyFile: secretKeyFile,
            .jwtSecretFile: jwtSecretFile,
            .jwtJwksFile: jwtJwksFile, .jwtJwksURL: jwtJwksURL, .jwtIssuer: jwtIssuer, .jwtAudience: jwtAudience,
            .companionSyncUser: companionSyncUser, .metricsPort: metricsPort, .logLevel: logLevel,
            .logFormat: logFormat, .demo: word(demo),
        ]
        let others = quotas.given.merging(connections.given) { own, _ in own }.merging(brand.given) { own, _ in own }
            .merging(retention.given) { own, _ in own }.merging(openID.given) { own, _ in own }
        return options.values(own.merging(others) { own, _ in own })
    }
}

extension Setting {
    var option: NameSpecification { .customLong(flag) }

    var help: ArgumentHelp {
        let value: String =
            switch kind {
            case .number: "number"
            case .choice: "word"
            case .list: "list"
            case .bool: "yes"
            case .text:
                name.hasSuffix("File") || self == .database || self == .files || self == .tlsCertificate
                    || self == .tlsKey
                    ? "file" : "text"
            }
        return ArgumentHelp("\(about) (\(variable); default: \(standard))", valueName: value)
    }
}
