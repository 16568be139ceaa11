// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Settings")
struct SettingTests {
    /// A valid value for each setting, other than its default.
    private static let values: [String: String] = [
        "host": "127.0.0.2", "port": "8123", "database": "/nonexistent/k.sqlite",
        "files": "/nonexistent/k", "servers": "several", "publicURL": "https://a.example",
        "trustedProxies": "10.0.0.0/8,127.0.0.1", "tlsCertificate": "/c.pem", "tlsKey": "/k.pem", "strict": "true",
        "requireSecondFactor": "true", "tmrSessionCookie": "true",
        "titlePrefix": "ZZ",
        "linkTemplate": "https://a.example/{id}", "maxImportBytes": "1000", "allowHTTPImports": "true",
        "maxConnections": "100", "maxConnectionsPerNetwork": "50", "accessJournalBytes": "65536",
        "accessDurability": "process",
        "cacheBytes": "2000000",
        "secretKey": "secret-A", "secretKeyFile": "/etc/hostname", "jwtSecret": "0123456789abcdef0123456789abcdef",
        "jwtSecretFile": "/etc/hostname", "jwtJwksFile": "/jwks", "jwtJwksURL": "https://a.example/secret-B",
        "jwtIssuer": "i", "jwtAudience": "a", "metricsPort": "9100", "companionSyncToken": "secret-E",
        "companionSyncUser": "ann",
        "oidcIssuer": "https://login.example/realms/a", "oidcClientID": "kalends", "oidcClientSecret": "secret-F",
        "oidcName": "Our company", "oidcScopes": "openid groups", "oidcUserClaim": "preferred_username",
        "oidcAccounts": "members", "oidcSessionHours": "12", "oidcGroupsClaim": "roles", "oidcOperatorGroup": "admins",
        "oidcPrivateHosts": "sso.lan,10.0.0.7:8443",
        "googleClientID": "g.apps.example", "googleClientSecret": "secret-C", "microsoftClientID": "m",
        "microsoftClientSecret": "secret-D", "microsoftTenant": "contoso.example",
        "googleAuthorizeURL": "http://127.0.0.1:1/a", "googleTokenURL": "http://localhost:1/t",
        "googleRevokeURL": "https://g.example/r", "googleApiURL": "https://g.example", "googleRequestsPerDay": "500000",
        "microsoftLoginURL": "https://m.example", "microsoftGraphURL": "https://m.example/v1.0",
        "privateCaldavHosts": "cal.lan,10.0.0.7:5232", "privatePushHosts": "push.lan",
        "returnOrigins": "https://app.example,http://localhost:3000",
        "corsOrigins": "https://app.example",
        "appName": "Our family", "appAccent": "#7a3e9d", "appLogo": logo,
        "frameAncestors": "https://app.example,http://localhost:3000", "logLevel": "debug", "logFormat": "json",
        "demo": "true",
    ]

    private static let logo = packageRoot.appending(path: "Tests/FeedServerTests/Oracles/logo.svg").path

    private static func listed(
        _ arguments: [String] = [], _ environment: [String: String] = [:]
    ) async throws -> [String: JSONValue] {
        let result = try await runProgram(
            Programs.kalends, ["settings", "--json"] + arguments, environment: environment)
        var listed: [String: JSONValue] = [:]
        for line in result.output.split(separator: "\n") {
            let value = try JSONValue(parsing: Array(line.utf8))
            listed[value["name"]?.string ?? ""] = value
        }
        return listed
    }

    /// Several settings are given at once. No two are given in the same rounds, so that one that is taken for another shows.
    @Test("Every setting is taken as a flag, as a variable and from the file, the flag first", arguments: 0..<7)
    func threeWays(round: Int) async throws {
        #expect(Setting.all.count < 1 << 7, "another round")
        let given = Setting.all.enumerated().filter { ($0.offset + 1) >> round & 1 == 1 }.map(\.element)
        let values = try given.reduce(into: [Setting: String]()) { values, setting in
            let isNumber = if case .number = setting.kind { true } else { false }
            values[setting] = try #require(
                Self.values[setting.name] ?? (isNumber ? "77" : nil), "a value of \(setting.name) to try")
        }
        let inFile = values.map { setting, value in
            let inFile: JSONValue =
                switch setting.kind {
                case .number: .integer(Int(value) ?? 0)
                case .bool: .bool(value == "true")
                case .list: .array(value.split(separator: ",").map { .string(String($0)) })
                case .text, .choice: .string(value)
                }
            return (setting.name, inFile)
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(try JSONValue.object(Dictionary(uniqueKeysWithValues: inFile)).serialized()).write(to: file)
        let variables = Dictionary(uniqueKeysWithValues: values.map { ($0.variable, $1) })
        let flagged = given.filter(\.hasFlag)
        let flags = flagged.flatMap { $0.kind == .bool ? ["--\($0.flag)"] : ["--\($0.flag)", values[$0] ?? ""] }
        let others = Dictionary(uniqueKeysWithValues: flagged.map { ($0.variable, "other") })
        for (way, arguments, environment) in [("file", [], [:]), ("variable", [], variables), ("flag", flags, others)] {
            let listed = try await Self.listed(arguments + ["--config", file.path], environment)
            for setting in Setting.all {
                let value = values[setting].map { setting.isSecret ? "(set)" : $0 }
                let from = value == nil ? "default" : way == "flag" && !setting.hasFlag ? "file" : way
                let line = listed[setting.name]
                #expect(
                    line?["value"] == JSONValue(value) && line?["from"]?.string == from,
                    "\(setting.name) by \(way): \(line as JSONValue?)")
            }
        }
    }

    @Test("The help of the server has every flag and its variable")
    func help() async throws {
        let help = try await runProgram(Programs.kalends, ["serve", "--help"]).output
        for setting in Setting.all where setting.hasFlag {
            #expect(help.contains("--\(setting.flag)") && help.contains(setting.variable), "\(setting.name)")
        }
    }

    @Test("The list of settings has headings, and no secret")
    func list() async throws {
        let result = try await runProgram(
            Programs.kalends, ["settings"],
            environment: ["KALENDS_SECRET_KEY": "secret-A", "KALENDS_JWT_JWKS_URL": "https://a.example/secret-B"])
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("SETTING "))
        #expect(result.output.split(separator: "\n").count == Setting.all.count + 1)
        #expect(!result.output.contains("secret-A") && !result.output.contains("secret-B"))
    }

    @Test(
        "The host of the public address is in ASCII; its path may be in any letters",
        arguments: [
            ("https://bücher.example", false), ("https://bücher.example:8443/k", false),
            ("https://xn--bcher-kva.example", true), ("https://my_host:8443/bücher", true),
        ])
    func publicHost(address: String, isRight: Bool) async throws {
        do {
            _ = try await ServerSettings(flags: ["publicURL": address], configFile: nil, environment: [:])
            #expect(isRight)
        } catch {
            #expect(!isRight && "\(error)".contains("publicURL must have a host in ASCII"), "\(error)")
        }
    }

    @Test(
        "A misspelt variable keeps every command from starting, with the name that was meant",
        arguments: [
            ("KALENDS_DATABSE", "KALENDS_DATABASE"), ("KALENDS_PUBLICURL", "KALENDS_PUBLIC_URL"),
            ("KALENDS_TRUSTED_PROXY", "KALENDS_TRUSTED_PROXIES"), ("KALENDS_METRICSPORT", "KALENDS_METRICS_PORT"),
            ("KALENDS_LOGLEVEL", "KALENDS_LOG_LEVEL"), ("KALENDS_ALOW_HTTP_IMPORTS", "KALENDS_ALLOW_HTTP_IMPORTS"),
        ])
    func misspelt(variable: String, meant: String) async throws {
        for command in [["serve", "--port", "0"], ["key", "list"], ["settings"], ["doctor"]] {
            let result = try await runProgram(Programs.kalends, command, environment: [variable: "x"])
            #expect(result.status == 2, "\(command)")
            #expect(
                result.error
                    == "\(variable) is not a setting; did you mean \(meant)? `kalends settings` lists them all.\n",
                "\(result.error)")
        }
    }

    @Test("A variable that is near to no setting is refused without a guess; the file's unknown names likewise")
    func unknown() async throws {
        let result = try await runProgram(Programs.kalends, ["settings"], environment: ["KALENDS_QQQQQQQQ": "x"])
        #expect(result.error == "KALENDS_QQQQQQQQ is not a setting. `kalends settings` lists them all.\n")
        let file = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(#"{"prot": 1, "public_url": "x", "zzzzzzzzz": 2, "port": "8080", "demo": 1}"#.utf8).write(to: file)
        let faulty = try await runProgram(Programs.kalends, ["settings", "--config", file.path])
        #expect(faulty.status == 2)
        let named = try await runProgram(Programs.kalends, ["key", "list"], environment: ["KALENDS_CONFIG": file.path])
        #expect(named.status == 2 && named.error == faulty.error)
        for sentence in [
            "prot is not a setting; did you mean port?", "public_url is not a setting; did you mean publicURL?",
            "zzzzzzzzz is not a setting. ", "port: must be a whole number from 0 to 65535.",
            "demo: must be true or false.",
        ] {
            #expect(faulty.error.contains(sentence), "\(faulty.error)")
        }
    }

    @Test("An invalid value is quoted as it was given, and Kubernetes' own variable is explained")
    func values() async throws {
        let result = try await runProgram(
            Programs.kalends, ["serve", "--metrics-port", "x"],
            environment: [
                "KALENDS_PORT": "tcp://10.0.0.1:80", "KALENDS_LOG_LEVEL": "loud", "KALENDS_HOST": "",
                "KALENDS_CORS_ORIGINS": "https://app.example,*",
            ])
        #expect(result.status == 2)
        for sentence in [
            "--metrics-port must be a whole number from 1 to 65535.", "KALENDS_PORT must be a whole number",
            "enableServiceLinks: false", "KALENDS_LOG_LEVEL must be one of trace,",
            "KALENDS_CORS_ORIGINS must be origins such as https://app.example, separated by commas.",
            "KALENDS_HOST must not be empty: leave it out.",
        ] {
            #expect(result.error.contains(sentence), "\(result.error)")
        }
    }

    @Test("A server takes its metrics' port, its log level and the demo from variables, and a secret from a file")
    func running() async throws {
        let port = try #require(
            Int(
                try await runProgram(
                    "/usr/bin/env",
                    [
                        "python3", "-c",
                        "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])",
                    ]
                ).output.trimmingCharacters(in: .newlines)))
        let secret = FileManager.default.temporaryDirectory.appending(path: "key-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: secret) }
        try Data((Data(repeating: 7, count: 32).base64EncodedString() + "\n").utf8).write(to: secret)
        let server = try await RunningServer(environment: [
            "KALENDS_METRICS_PORT": "\(port)", "KALENDS_LOG_LEVEL": "debug", "KALENDS_DEMO": "true",
            "KALENDS_SECRET_KEY_FILE": secret.path,
        ])
        defer { server.remove() }
        // The port of metrics is opened beside the server's own, on a busy machine some time after it.
        let metrics = try await runProgram(
            "/usr/bin/curl",
            ["-s", "--retry", "30", "--retry-delay", "1", "--retry-connrefused", "http://127.0.0.1:\(port)/metrics"])
        #expect(metrics.output.contains("kalends_"))
        #expect(server.log.contains(" debug "))
        #expect(!FileManager.default.fileExists(atPath: server.database + ".key"))
        #expect(await server.stop() == 0)
    }

    @Test("The table of settings in docs/settings.md is the program's; KALENDS_WRITE_DOCS=1 writes it")
    func documented() throws {
        var lines = ["| setting | flag | variable | default | what it is |", "| --- | --- | --- | --- | --- |"]
        // A page shows nothing of what it takes for a tag.
        let shown = { (text: String) in text.replacingOccurrences(of: "<", with: "\\<") }
        for setting in Setting.all {
            let flag = setting.hasFlag ? "`--\(setting.flag)`" : "none"
            lines.append(
                "| `\(setting.name)` | \(flag) | `\(setting.variable)` | \(shown(setting.standard)) | \(shown(setting.about)) |"
            )
        }
        try expectTable("settings", in: "docs/settings.md", lines)
    }
}
