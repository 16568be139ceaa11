// SPDX-License-Identifier: Apache-2.0

package import Base
package import FeedTokens
import FoundationEssentials
import Outbound
import Storage

/// How a server runs (contract, section 0): flags first, then `KALENDS_*` variables, then the file of `--config`.
package struct ServerSettings: Sendable {
    package var host = "127.0.0.1"
    package var port = 8080
    /// The SQLite file; of a server's database what the paths of the local files begin with.
    package var database = "./kalends-data/kalends.sqlite"
    /// The address of a server's database, which may hold a password; nil where the database is a file.
    package var server: String?
    /// Whether other servers may have the database too.
    package var servers = ServerSharing.one
    package var isShared: Bool { servers == .several }
    /// What the engine opens.
    package var place: String { server ?? database }
    /// The place of the database as people may read it, without a password.
    package var shownDatabase: String { DatabasePlace.shown(place) }
    /// What the addresses handed out begin with, without a slash at the end.
    package var publicURL = "http://localhost:8080"
    /// Whether it was configured; it follows the host and port otherwise.
    private var isPublicURLGiven = false
    /// Whose X-Forwarded-For counts.
    package var trustedProxies: [AddressRange] = []
    package var titlePrefix = "CK"
    /// Where the host application shows an item: an address with `{circle}`, `{collection}` and `{id}` in it.
    package var linkTemplate: String?
    package var maxImportBytes = 64 << 20
    /// Whether calendars are fetched over `http://` too, which anybody on the way can read and change.
    var allowHTTPImports = false
    /// How calendars are fetched; no setting, but what tests put in place.
    var fetching = DestinationRules()
    /// How large the journal of accesses is, which is reserved at the first start. What it holds is half a million
    /// reads: as many as a million feeds that are polled once an hour get in half an hour of a full disk.
    package var accessJournalBytes = 16 << 20
    package var accessDurability = AccessDurability.power
    /// Bytes of feeds that are remembered: a third as they are sent, the rest as the texts of events they are made of.
    package var cacheBytes = 64 << 20
    /// What users and circles may have.
    package var quotas = Quotas()
    /// What connections may take; the numbers of them are settings.
    package var limits = ConnectionLimits()
    /// How many imported events there may be; no setting, but what tests make smaller.
    var eventLimits = EventLimits()
    /// The kinds of items that circles have; no setting, but what a server is assembled with.
    package var kinds = ItemKinds.all
    /// The program that is started to read a stranger's file: this very one.
    var readWorker = "/proc/self/exe"
    /// PEM files; both or none.
    package var tlsCertificate: String?
    package var tlsKey: String?
    /// In place of the key file: 32 bytes in base64, and where they came from.
    package var secretKey: String?
    package private(set) var secretKeySource = Setting.secretKey.variable
    /// The address at which Prometheus reads metrics over TCP; nil when they are not offered there.
    package var metricsPort: Int?
    /// The lowest level that the server logs, as swift-log names it.
    package var logLevel = "info"
    package var logFormat = LogForm.text
    /// Whether the demo is loaded into a database without circles.
    package var demo = false
    /// How users' tokens are checked.
    package var tokens = TokenSettings()
    /// The providers of people's calendars.
    package var connections = ConnectionSettings()
    /// What the pages show of the host application.
    package var brand = BrandSettings()
    /// What a phone's companion may send planned events with; nil when there is no such token.
    package var companion: CompanionToken?
    /// The binary logarithm of Scrypt's N for new passwords.
    package var passwordCost = 15

    /// Whether readers come over https.
    package var isSecure: Bool { publicURL.hasPrefix("https://") }
    /// The path of `publicURL`, without a slash at the end: what a proxy puts before ours.
    package var basePath: String {
        let path = URL(string: publicURL)?.path() ?? ""
        return path == "/" ? "" : path
    }

    package var keyFile: String { database + ".key" }
    package var accessesFile: String { database + ".accesses" }
    package var lockFile: String { database + ".lock" }
    package var socketFile: String { database + ".sock" }

    package init() {}

    /// Why the configuration cannot be used: one sentence for each fault, none with a value that may be a secret.
    package struct Invalid: Error, CustomStringConvertible {
        package var faults: [String]

        package init(faults: [String]) { self.faults = faults }
        package var description: String { faults.joined(separator: "\n") }
    }

    /// - Parameter flags: what was given on the command line, by the names of the settings.
    init(
        flags: [String: String], configFile: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws {
        var values = SettingValues(flags: flags, configFile: configFile, environment: environment)
        try self.init(&values)
    }

    package init(_ values: inout SettingValues) throws {
        host = values.filled(.host) ?? host
        port = values.number(.port, port)
        var given = values.filled(.database) ?? database
        if DatabasePlace.isServer(given) {
            server = given
            given = values.filled(.files) ?? Setting.files.standard
        }
        database = FileIdentity.resolvingLinks(given)
        servers = values.choice(.servers).flatMap(ServerSharing.init) ?? servers
        maxImportBytes = values.number(.maxImportBytes, maxImportBytes)
        allowHTTPImports = values.bool(.allowHTTPImports)
        accessJournalBytes = values.number(.accessJournalBytes, accessJournalBytes)
        accessDurability = values.choice(.accessDurability).flatMap(AccessDurability.init) ?? accessDurability
        cacheBytes = values.number(.cacheBytes, cacheBytes)
        limits.connections = values.number(.maxConnections, limits.connections)
        limits.connectionsPerNetwork = values.number(.maxConnectionsPerNetwork, limits.connectionsPerNetwork)
        for quota in Quotas.settings {
            quotas[keyPath: quota.path] = values.number(quota.setting, quotas[keyPath: quota.path])
        }
        titlePrefix = values.text(.titlePrefix) ?? titlePrefix
        linkTemplate = values.filled(.linkTemplate)
        tlsCertificate = values.filled(.tlsCertificate)
        tlsKey = values.filled(.tlsKey)
        metricsPort = values.number(.metricsPort)
        logLevel = values.choice(.logLevel) ?? logLevel
        logFormat = values.choice(.logFormat).flatMap(LogForm.init) ?? logFormat
        demo = values.bool(.demo)
        companion = CompanionToken(&values)
        brand = BrandSettings(&values)
        secretKey = values.text(.secretKey)
        if let text = values.secret(inFileOf: .secretKeyFile, beside: .secretKey) {
            (secretKey, secretKeySource) = (text, values.text(.secretKeyFile) ?? "")
        }
        publicURL = values.filled(.publicURL) ?? ""
        isPublicURLGiven = !publicURL.isEmpty
        listen(on: port)
        while publicURL.hasSuffix("/") { publicURL.removeLast() }
        let jwtSecret = values.secret(inFileOf: .jwtSecretFile, beside: .jwtSecret) ?? values.text(.jwtSecret)
        var faults: [String] = []
        let manager = FileManager.default
        if database != given, manager.fileExists(atPath: given + ".key"), !manager.fileExists(atPath: keyFile) {
            faults.append("\(given) is a link, and its key belongs beside the file: move \(given).key to \(keyFile).")
        }
        readProxies(values.text(.trustedProxies) ?? "", &faults)
        check(&faults)
        tokens = TokenSettings(secret: jwtSecret, { values.text($0) }, &faults)
        connections = ConnectionSettings(&values, &faults)
        faults = values.faults + faults
        if !faults.isEmpty { throw Invalid(faults: faults) }
    }

    private mutating func readProxies(_ text: String, _ faults: inout [String]) {
        for proxy in text.split(separator: ",") {
            if let range = AddressRange(String(proxy.filter { !$0.isWhitespace })) {
                trustedProxies.append(range)
            } else {
                faults.append("trustedProxies must be addresses or ranges such as 10.0.0.0/8, with commas between.")
            }
        }
    }

    private func check(_ faults: inout [String]) {
        if isShared, server == nil {
            faults.append(
                "servers=several needs a PostgreSQL database: a SQLite file belongs to one server. "
                    + "Give postgres://… as database."
            )
        }
        if !["http://", "https://"].contains(where: publicURL.hasPrefix) {
            faults.append("publicURL must begin with http:// or https://.")
        } else if publicURL.contains(where: { "?# ".contains($0) }) {
            faults.append("publicURL must have no query, fragment or space: paths are appended to it.")
        }
        if (1...20).contains(titlePrefix.count) == false || titlePrefix.contains(where: \.isNewline) {
            faults.append("titlePrefix must have 1 to 20 characters on one line.")
        }
        if let linkTemplate, !["http://", "https://"].contains(where: linkTemplate.hasPrefix) {
            faults.append("linkTemplate must begin with http:// or https://.")
        }
        if (tlsCertificate == nil) != (tlsKey == nil) {
            faults.append("tlsCertificate and tlsKey must be given together or not at all.")
        }
    }

    /// Takes a port, once it is known, into the addresses handed out.
    package mutating func listen(on port: Int) {
        self.port = port
        guard !isPublicURLGiven else { return }
        let shownHost = ["0.0.0.0", "::", "127.0.0.1", "::1"].contains(host) ? "localhost" : host
        publicURL = "\(tlsCertificate == nil ? "http" : "https")://\(shownHost):\(port)"
    }
}
