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

    /// - Parameter flags: the values of other settings' flags, by the setting's name.
    func values(_ flags: [String: String] = [:]) -> SettingValues {
        var given = flags
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

    /// Returns what a circle has of a kind, or what all circles have.
    func all(_ kind: String, ofCircle circle: String?) async throws -> [JSONValue] {
        try await LocalClient.with(try await settings()) { client in
            let circles =
                if let circle { [circle] } else {
                    try await client.all("/v1/circles").compactMap { $0["id"]?.string }
                }
            var found: [JSONValue] = []
            for id in circles { found += try await client.all("/v1/circles/\(pathComponent(id))/\(kind)") }
            return found
        }
    }
}

/// A command that takes the flags of all settings.
///
/// Each command has the groups itself, not in a group of groups: in a build for debugging, ArgumentParser validates a group
/// each time that it asks for it, so that each further level makes every start some times as long.
protocol SettingsTaking {
    var options: SettingsOptions { get }
    var own: SettingFlags<ServerSettingGroup> { get }
    var openID: SettingFlags<OpenIDSettingGroup> { get }
    var connections: SettingFlags<ConnectionSettingGroup> { get }
    var brand: SettingFlags<BrandSettingGroup> { get }
    var quotas: SettingFlags<QuotaSettingGroup> { get }
    var retention: SettingFlags<RetentionSettingGroup> { get }
}

extension SettingsTaking {
    func values() -> SettingValues {
        let groups = [own.given, openID.given, connections.given, brand.given, quotas.given, retention.given]
        return options.values(groups.reduce(into: [:]) { $0.merge($1) { own, _ in own } })
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
