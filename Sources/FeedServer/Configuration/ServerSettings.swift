// SPDX-License-Identifier: Apache-2.0

import Configuration
import FoundationEssentials

/// How a server runs (contract, section 0): flags first, then `KALENDS_*` variables, then the file of `--config`.
struct ServerSettings: Sendable {
    var host = "127.0.0.1"
    var port = 8080
    var database = "./kalends-data/kalends.sqlite"
    /// What the addresses handed out begin with, without a slash at the end.
    var publicURL = "http://localhost:8080"
    /// Whether it was configured; it follows the host and port otherwise.
    private var isPublicURLGiven = false
    /// Whose X-Forwarded-For counts.
    var trustedProxies: [AddressRange] = []
    var titlePrefix = "CK"
    /// Where the host application shows an item: an address with `{circle}`, `{collection}` and `{id}` in it.
    var linkTemplate: String?
    var maxImportBytes = 64 << 20
    /// Whether calendars are fetched over `http://` too, which anybody on the way can read and change.
    var allowHTTPImports = false
    /// How calendars are fetched; no setting, but what tests put in place.
    var fetching = FetchRules()
    /// How large the journal of accesses is, which is reserved at the first start. What it holds is half a million
    /// reads: as many as a million feeds that are polled once an hour get in half an hour of a full disk.
    var accessJournalBytes = 16 << 20
    /// What connections may take; the numbers of them are settings.
    var limits = ConnectionLimits()
    /// The program that is started to read a stranger's file: this very one.
    var readWorker = "/proc/self/exe"
    /// PEM files; both or none.
    var tlsCertificate: String?
    var tlsKey: String?
    /// In place of the key file: 32 bytes in base64.
    var secretKey: String?
    /// How users' tokens are checked.
    var tokens = TokenSettings()
    /// The binary logarithm of Scrypt's N for new passwords.
    var passwordCost = 15

    var keyFile: String { database + ".key" }
    var accessesFile: String { database + ".accesses" }
    var lockFile: String { database + ".lock" }
    var socketFile: String { database + ".sock" }

    init() {}

    /// Why the configuration cannot be used: one sentence for each fault, none with a value that may be a secret.
    struct Invalid: Error, CustomStringConvertible {
        var faults: [String]
        var description: String { faults.joined(separator: "\n") }
    }

    /// - Parameter flags: what was given on the command line, by the names of the contract.
    init(
        flags: [String: String], configFile: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws {
        var providers: [any ConfigProvider] = [
            Self.provider(flags), EnvironmentVariablesProvider(environmentVariables: environment),
        ]
        if let configFile { providers.append(try Self.file(configFile)) }
        let reader = ConfigReader(providers: providers)
        var faults: [String] = []
        func text(_ name: String) -> String? { reader.string(forKey: ConfigKey(["kalends", name])) }
        func number(_ name: String, _ range: ClosedRange<Int>, _ value: Int) -> Int {
            guard reader.int(forKey: ConfigKey(["kalends", name])) != nil || text(name) != nil else { return value }
            if let number = reader.int(forKey: ConfigKey(["kalends", name])) ?? text(name).flatMap({ Int($0) }),
                range.contains(number)
            {
                return number
            }
            faults.append("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
            return value
        }
        host = text("host") ?? host
        port = number("port", 0...65_535, port)
        database = text("database") ?? database
        maxImportBytes = number("maxImportBytes", 1...1 << 30, maxImportBytes)
        // The second is how KALENDS_ALLOW_HTTP_IMPORTS is read, in which nobody sees where words of capitals end.
        switch (text("allowHTTPImports") ?? text("allowHttpImports"))?.lowercased() {
        case nil, "false", "0", "no": allowHTTPImports = false
        case "true", "1", "yes": allowHTTPImports = true
        default: faults.append("allowHTTPImports must be true or false.")
        }
        accessJournalBytes = number("accessJournalBytes", 1 << 16...1 << 36, accessJournalBytes)
        limits.connections = number("maxConnections", 16...1_000_000, limits.connections)
        limits.connectionsPerNetwork = number(
            "maxConnectionsPerNetwork", 1...1_000_000, limits.connectionsPerNetwork)
        titlePrefix = text("titlePrefix") ?? titlePrefix
        linkTemplate = text("linkTemplate")
        tlsCertificate = text("tlsCertificate")
        tlsKey = text("tlsKey")
        secretKey = text("secretKey")
        publicURL = text("publicURL") ?? ""
        isPublicURLGiven = !publicURL.isEmpty
        listen(on: port)
        while publicURL.hasSuffix("/") { publicURL.removeLast() }
        for proxy in (text("trustedProxies") ?? "").split(separator: ",") {
            if let range = AddressRange(String(proxy.filter { !$0.isWhitespace })) {
                trustedProxies.append(range)
            } else {
                faults.append("trustedProxies must be addresses or ranges such as 10.0.0.0/8, with commas between.")
            }
        }
        if !["http://", "https://"].contains(where: publicURL.hasPrefix) {
            faults.append("publicURL must begin with http:// or https://.")
        } else if publicURL.contains(where: { "?# ".contains($0) }) {
            faults.append("publicURL must have no query, fragment or space: paths are put behind it.")
        }
        if database.isEmpty {
            faults.append("database must name a file.")
        }
        if (1...20).contains(titlePrefix.count) == false || titlePrefix.contains(where: \.isNewline) {
            faults.append("titlePrefix must have 1 to 20 characters on one line.")
        }
        if let linkTemplate, !["http://", "https://"].contains(where: linkTemplate.hasPrefix) {
            faults.append("linkTemplate must begin with http:// or https://.")
        }
        tokens = TokenSettings(text, &faults)
        if (tlsCertificate == nil) != (tlsKey == nil) {
            faults.append("tlsCertificate and tlsKey are given together or not at all.")
        }
        if !faults.isEmpty { throw Invalid(faults: faults) }
    }

    /// The settings of a file, each of its type; throws every fault at once.
    private static func file(_ path: String) throws -> InMemoryProvider {
        guard let data = FileManager.default.contents(atPath: path), let document = try? JSONValue(parsing: data) else {
            throw Invalid(faults: ["\(path) cannot be read as a JSON object with settings."])
        }
        var fields = FieldReader(document)
        var values: [String: String] = [:]
        let texts = [
            "host", "database", "publicURL", "titlePrefix", "linkTemplate", "tlsCertificate", "tlsKey", "secretKey",
        ]
        for name in texts + TokenSettings.names {
            values[name] = fields.text(name)
        }
        values["port"] = fields.integer("port", in: 0...65_535).map(String.init)
        for name in ["maxConnections", "maxConnectionsPerNetwork"] {
            values[name] = fields.integer(name, in: 1...1_000_000).map(String.init)
        }
        values["maxImportBytes"] = fields.integer("maxImportBytes", in: 1...1 << 30).map(String.init)
        values["accessJournalBytes"] = fields.integer("accessJournalBytes", in: 1 << 16...1 << 36).map(String.init)
        values["allowHTTPImports"] = fields.bool("allowHTTPImports").map { $0 ? "true" : "false" }
        if case .array(let proxies)? = fields.value("trustedProxies") {
            values["trustedProxies"] = proxies.map { $0.string ?? "?" }.joined(separator: ",")
        } else {
            values["trustedProxies"] = fields.text("trustedProxies")
        }
        fields.finish()
        guard fields.faults.isEmpty else {
            throw Invalid(faults: fields.faults.map { "\(path): \($0.pointer.dropFirst()): \($0.message)" })
        }
        return provider(values)
    }

    private static let secrets: Set = ["secretKey", "jwtSecret", "jwtJwksURL"]

    private static func provider(_ values: [String: String]) -> InMemoryProvider {
        InMemoryProvider(
            values: Dictionary(
                uniqueKeysWithValues: values.map {
                    (
                        AbsoluteConfigKey(["kalends", $0.key]),
                        ConfigValue(.string($0.value), isSecret: secrets.contains($0.key))
                    )
                }))
    }

    /// Takes a port, once it is known, into the addresses handed out.
    mutating func listen(on port: Int) {
        self.port = port
        guard !isPublicURLGiven else { return }
        let shownHost = ["0.0.0.0", "::", "127.0.0.1", "::1"].contains(host) ? "localhost" : host
        publicURL = "\(tlsCertificate == nil ? "http" : "https")://\(shownHost):\(port)"
    }
}
