// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
import FoundationEssentials
import Outbound
import Storage

/// The settings of a server: flags come first, then `KALENDS_*` variables, then the file named by
/// `--config`.
package struct ServerSettings: Sendable {
    package var host = "127.0.0.1"
    package var port = 8080
    /// The path of the SQLite file; with a database server, the start of the paths of all local files.
    package var database = "./kalends-data/kalends.sqlite"
    /// The address of the database server, which may contain a password; nil if the database is a file.
    package var server: String?
    /// Whether other servers may use the database too.
    package var servers = ServerSharing.one
    package var isShared: Bool { servers == .several }
    /// The path or address that the database engine opens.
    package var place: String { server ?? database }
    /// The path or address of the database for people to read, without a password.
    package var shownDatabase: String { DatabasePlace.shown(place) }
    /// The start of all addresses that the server hands out, without a slash at the end.
    package var publicURL = "http://localhost:8080"
    /// Whether `publicURL` was configured; otherwise it follows from the host and port.
    private var isPublicURLGiven = false
    /// The proxies whose X-Forwarded-For is trusted.
    package var trustedProxies: [AddressRange] = []
    /// Whether what the API allows and ASVS level 2 does not is refused (`StrictRules.swift`).
    package var isStrict = false
    /// Whether a sign-in with a password needs a second factor; a strict server needs it in any case.
    package var requireSecondFactor = false
    /// Whether the cookie `tmr_session` counts over https too; on plain http it always does.
    package var tmrSessionCookie = false
    package var titlePrefix = "CK"
    /// The address at which the host application shows an item, with `{circle}`, `{collection}` and `{id}` in it.
    package var linkTemplate: String?
    /// The origins whose pages may call the API from a browser.
    package var corsOrigins: Set<ByteString> = []
    package var maxImportBytes = 64 << 20
    /// Whether calendars are also fetched over `http://`, which anybody on the way can read and change.
    var allowHTTPImports = false
    /// How calendars are fetched; not a setting, but tests replace it.
    var fetching = DestinationRules()
    /// The size of the access journal in bytes, which is reserved at the first start. It holds half a million reads: as
    /// many as a million feeds that are polled once an hour receive during half an hour of a full disk.
    package var accessJournalBytes = 16 << 20
    package var accessDurability = AccessDurability.power
    /// The size of the feed cache in bytes: a third holds feeds as they are sent, the rest holds the event texts from
    /// which they are made.
    package var cacheBytes = 48 << 20
    /// How much users and circles may have.
    package var quotas = Quotas()
    /// The limits of client connections; only the limits on their number are settings.
    package var limits = ConnectionLimits()
    /// How many imported events there may be; not a setting, but tests make it smaller.
    var eventLimits = EventLimits()
    /// The kinds of items that circles have; not a setting, but a server can be assembled with others.
    package var kinds = ItemKinds.all
    /// The program that is started to read an untrusted file: this program itself.
    var readWorker = "/proc/self/exe"
    /// PEM files; either both are given or neither is.
    package var tlsCertificate: String?
    package var tlsKey: String?
    /// Used instead of the key file: 32 bytes in base64, and the variable or file that they came from.
    package var secretKey: Concealed?
    package private(set) var secretKeySource = Setting.secretKey.variable
    /// The port at which Prometheus reads metrics over TCP; nil if they are not offered over TCP.
    package var metricsPort: Int?
    /// The lowest log level that is written, as swift-log names it.
    package var logLevel = "info"
    package var logFormat = LogForm.text
    /// How long records are kept.
    package var retention = Retention()
    /// Whether the demo is loaded into a database without circles.
    package var demo = false
    /// How users' tokens are checked.
    package var tokens = TokenSettings()
    /// The provider at which people sign in; nil for a server without one.
    package var openID: OpenIDSettings?
    /// The providers of people's calendars.
    package var connections = ConnectionSettings()
    /// The host application's name and look on the pages.
    package var brand = BrandSettings()
    /// The token with which a phone's companion may send planned events, or nil.
    package var companion: CompanionToken?
    /// The binary logarithm of Scrypt's N for new passwords.
    package var passwordCost = 15

    /// Whether the server's public address uses https.
    package var isSecure: Bool { publicURL.hasPrefix("https://") }
    /// The path of `publicURL`, without a slash at the end: the prefix that a proxy adds to this server's paths.
    package var basePath: String {
        let path = URL(string: publicURL)?.path() ?? ""
        return path == "/" ? "" : path
    }

    /// The scheme, the host and the port of `publicURL`.
    package var origin: String { WebOrigin(ofAddress: publicURL)?.text ?? "" }

    package var keyFile: String { database + ".key" }
    package var accessesFile: String { database + ".accesses" }
    package var lockFile: String { database + ".lock" }
    package var socketFile: String { database + ".sock" }

    package init() {}

    /// The reasons why the configuration cannot be used: one sentence for each fault, without values, which may be
    /// secret.
    package struct Invalid: Error, CustomStringConvertible {
        package var faults: [String]

        package init(faults: [String]) { self.faults = faults }
        package var description: String { faults.joined(separator: "\n") }
    }

    /// - Parameter flags: what was given on the command line, by setting name.
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
        corsOrigins = Set(values.origins(.corsOrigins).map { ByteString($0) })
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
        for kept in Retention.settings {
            retention[keyPath: kept.path] = values.number(kept.setting, retention[keyPath: kept.path])
        }
        titlePrefix = values.text(.titlePrefix) ?? titlePrefix
        linkTemplate = values.filled(.linkTemplate)
        tlsCertificate = values.filled(.tlsCertificate)
        tlsKey = values.filled(.tlsKey)
        metricsPort = values.number(.metricsPort)
        isStrict = values.bool(.strict)
        requireSecondFactor = values.bool(.requireSecondFactor)
        tmrSessionCookie = values.bool(.tmrSessionCookie)
        logLevel = values.choice(.logLevel) ?? logLevel
        logFormat = values.choice(.logFormat).flatMap(LogForm.init) ?? logFormat
        demo = values.bool(.demo)
        companion = CompanionToken(&values)
        brand = BrandSettings(&values)
        secretKey = values.text(.secretKey).map(Concealed.init)
        if secretKey != nil { secretKeySource = values.name(of: .secretKey) }
        if let text = values.secret(inFileOf: .secretKeyFile, beside: .secretKey) {
            (secretKey, secretKeySource) = (Concealed(text), values.text(.secretKeyFile) ?? "")
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
        if isStrict { checkStrictly(&faults) }
        tokens = TokenSettings(secret: jwtSecret, isStrict: isStrict, { values.text($0) }, &faults)
        openID = OpenIDSettings(&values)
        if let openID { tokens.check(beside: openID, &faults) }
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
                "servers=several needs a PostgreSQL database: an SQLite file belongs to one server. "
                    + "Give postgres://… as database."
            )
        }
        if !["http://", "https://"].contains(where: publicURL.hasPrefix) {
            faults.append("publicURL must begin with http:// or https://.")
        } else if publicURL.contains(where: { "?# ".contains($0) }) {
            faults.append("publicURL must have no query, fragment or space: paths are appended to it.")
        } else if publicURL.split(separator: "/").dropFirst().first?.utf8.allSatisfy({ $0 < 128 }) == false {
            faults.append("publicURL must have a host in ASCII: write a name with other letters as xn--….")
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

    /// Uses a port, once it is known, in the addresses that the server hands out.
    package mutating func listen(on port: Int) {
        self.port = port
        guard !isPublicURLGiven else { return }
        let shownHost = ["0.0.0.0", "::", "127.0.0.1", "::1"].contains(host) ? "localhost" : host
        publicURL = "\(tlsCertificate == nil ? "http" : "https")://\(shownHost):\(port)"
    }
}
