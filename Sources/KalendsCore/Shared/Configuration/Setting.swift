// SPDX-License-Identifier: Apache-2.0

import FeedTokens

/// One setting, from which its flag, its environment variable, its help text and its row in every table are derived.
package struct Setting: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case text
        case number(ClosedRange<Int>)
        case choice([String])
        case bool
        /// Several texts, separated by commas when they are given as one text.
        case list
    }

    /// The name in a settings file, in camel case.
    package let name: String
    package let kind: Kind
    /// The default, in words for a table.
    package let standard: String
    /// A description in one sentence, for help and tables.
    package let about: String
    /// Whether its value is never shown.
    package var isSecret = false
    /// Whether it has a flag; every program on a machine can read the arguments of the others.
    package var hasFlag = true

    /// The flag's name: `public-url` for `publicURL`.
    package let flag: String
    /// The environment variable's name: `KALENDS_PUBLIC_URL` for `publicURL`.
    package let variable: String

    init(_ name: String, _ kind: Kind, standard: String, _ about: String) {
        (self.name, self.kind, self.standard, self.about) = (name, kind, standard, about)
        let words = Self.words(of: name)
        flag = words.joined(separator: "-")
        variable = Self.variablePrefix + words.joined(separator: "_").uppercased()
    }

    static let variablePrefix = "KALENDS_"
    /// The variable that names the settings file; it is the only variable that is not a setting.
    package static let fileVariable = "KALENDS_CONFIG"
    /// Other variable names for settings, which phones' companions use.
    static let otherVariables = ["COMPANION_SYNC_TOKEN": companionSyncToken]

    /// The words of a name: `public` and `url` for `publicURL`; a run of capitals is one word.
    private static func words(of name: String) -> [String] {
        var words: [String] = []
        let letters = Array(name)
        for (index, letter) in letters.enumerated() {
            let beginsWord =
                letter.isUppercase && index > 0
                && (letters[index - 1].isLowercase
                    || letters.indices.contains(index + 1) && letters[index + 1].isLowercase)
            if beginsWord || words.isEmpty { words.append("") }
            words[words.count - 1] += letter.lowercased()
        }
        return words
    }

    /// Returns a copy that can be given only as a variable or in a file, and whose value is never shown.
    func withoutFlag() -> Setting {
        var copy = self
        (copy.isSecret, copy.hasFlag) = (true, false)
        return copy
    }

    /// Returns a copy that has a flag but whose value is never shown.
    fileprivate func secret() -> Setting {
        var copy = self
        copy.isSecret = true
        return copy
    }

    package static let host = Setting(
        "host", .text, standard: "127.0.0.1", "The address to listen on; 0.0.0.0 for all.")
    package static let port = Setting(
        "port", .number(0...65_535), standard: "8080", "The port to listen on; 0 for any free one.")
    package static let database = Setting(
        "database", .text, standard: "./kalends-data/kalends.sqlite",
        "The SQLite file, with its other files next to it; or the address of a PostgreSQL database, postgres://…")
    package static let files = Setting(
        "files", .text, standard: "./kalends-data/kalends",
        "For a PostgreSQL database: the start of the paths of all local files, such as the key's, <files>.key.")
    package static let servers = Setting(
        "servers", .choice(ServerSharing.allCases.map(\.rawValue)), standard: "one",
        "How many servers share a PostgreSQL database: one, or several, which must all be set to this.")
    package static let publicURL = Setting(
        "publicURL", .text, standard: "from host and port", "The start of all addresses that the server hands out.")
    package static let trustedProxies = Setting(
        "trustedProxies", .list, standard: "nobody",
        "The proxies whose X-Forwarded-For is trusted: addresses or ranges, separated by commas.")
    package static let tlsCertificate = Setting(
        "tlsCertificate", .text, standard: "no TLS", "A certificate chain in PEM, for https without a proxy.")
    package static let tlsKey = Setting("tlsKey", .text, standard: "no TLS", "The certificate's private key in PEM.")
    package static let strict = Setting(
        "strict", .bool, standard: "false",
        "Whether to refuse everything that OWASP's ASVS does not allow at level 2: docs/operations.md, Strict operation."
    )
    package static let requireSecondFactor = Setting(
        "requireSecondFactor", .bool, standard: "false",
        "Whether a sign-in with a password needs a second factor: docs/rights.md, Second factor; strict needs it too.")
    package static let tmrSessionCookie = Setting(
        "tmrSessionCookie", .bool, standard: "false",
        "Whether the cookie tmr_session counts over https too, where a neighbouring host could set it.")
    package static let titlePrefix = Setting(
        "titlePrefix", .text, standard: "CK", "The text that titles in calendars begin with, 1 to 20 characters.")
    package static let linkTemplate = Setting(
        "linkTemplate", .text, standard: "no link",
        "Where the host application shows an item: https://app.example/{circle}/{collection}/{id}.")
    package static let corsOrigins = Setting(
        "corsOrigins", .list, standard: "none",
        "Origins whose pages may call the API from a browser, with a token and never with cookies: https://app.example."
    )
    package static let maxImportBytes = Setting(
        "maxImportBytes", .number(1...1 << 30), standard: "67108864", "The largest file that an import takes, in bytes."
    )
    package static let allowHTTPImports = Setting(
        "allowHTTPImports", .bool, standard: "false",
        "Whether calendars are also fetched over http://, which anybody on the way can read and change.")
    package static let maxConnections = Setting(
        "maxConnections", .number(16...1_000_000), standard: "10000", "The maximum number of simultaneous connections.")
    package static let maxConnectionsPerNetwork = Setting(
        "maxConnectionsPerNetwork", .number(1...1_000_000), standard: "1000",
        "The maximum number of simultaneous connections from one network (/24, /48), except from trusted proxies.")
    package static let accessJournalBytes = Setting(
        "accessJournalBytes", .number(1 << 16...1 << 36), standard: "16777216",
        "The size of the journal of accesses, in bytes.")
    package static let accessDurability = Setting(
        "accessDurability", .choice(AccessDurability.allCases.map(\.rawValue)), standard: "power",
        "What the count of a read survives: a power cut, or with process, which is faster, only the server's end.")
    package static let cacheBytes = Setting(
        "cacheBytes", .number(1 << 20...1 << 40), standard: "50331648",
        "Bytes of memory for caching feeds, so that they are not made again for each reader.")
    package static let secretKey = Setting(
        "secretKey", .text, standard: "the file <database>.key", "The sealing key itself, 32 bytes in base64."
    ).withoutFlag()
    package static let secretKeyFile = Setting(
        "secretKeyFile", .text, standard: "<database>.key, made at the first start",
        "A file with the sealing key, 32 bytes in base64.")
    package static let jwtSecret = Setting(
        "jwtSecret", .text, standard: "no tokens", "The secret of users' tokens (HS256), 32 bytes of UTF-8 or more."
    ).withoutFlag()
    package static let jwtSecretFile = Setting(
        "jwtSecretFile", .text, standard: "no tokens",
        "A file with the secret of users' tokens (HS256); a line break at its end does not count.")
    package static let jwtJwksFile = Setting(
        "jwtJwksFile", .text, standard: "no tokens",
        "A file with the public keys (JWKS) that users' tokens are checked with (RS256, PS256, ES256).")
    package static let jwtJwksURL = Setting(
        "jwtJwksURL", .text, standard: "no tokens",
        "An address that serves these public keys: https, or http on this machine."
    ).secret()
    package static let jwtIssuer = Setting(
        "jwtIssuer", .text, standard: "anything", "The value that users' tokens must have as iss.")
    package static let jwtAudience = Setting(
        "jwtAudience", .text, standard: "anything",
        "The value that users' tokens must have as aud, or among its values.")
    package static let companionSyncToken = Setting(
        "companionSyncToken", .text, standard: "no token",
        "A token with which a phone's companion sends planned events; also taken from COMPANION_SYNC_TOKEN."
    ).withoutFlag()
    package static let companionSyncUser = Setting(
        "companionSyncUser", .text, standard: "no token", "The user for whom a phone's companion acts.")
    package static let metricsPort = Setting(
        "metricsPort", .number(1...65_535), standard: "no port", "A port that offers Prometheus metrics.")
    package static let logLevel = Setting(
        "logLevel", .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]), standard: "info",
        "The lowest level that the server logs: trace, debug, info, notice, warning, error or critical.")
    package static let logFormat = Setting(
        "logFormat", .choice(LogForm.allCases.map(\.rawValue)), standard: "text",
        "The format of log lines: text for people, or json for programs, one object per line.")
    package static let demo = Setting(
        "demo", .bool, standard: "false", "Whether the demo circle is loaded first into a database without circles.")

    /// The settings of the server itself.
    package static let server: [Setting] = [
        host, port, database, files, servers, publicURL, trustedProxies, tlsCertificate, tlsKey, strict,
        requireSecondFactor, tmrSessionCookie, titlePrefix, linkTemplate, corsOrigins, maxImportBytes,
        allowHTTPImports, maxConnections,
        maxConnectionsPerNetwork, accessJournalBytes, accessDurability, cacheBytes, secretKey,
        secretKeyFile, jwtSecret, jwtSecretFile, jwtJwksFile, jwtJwksURL, jwtIssuer, jwtAudience,
        companionSyncToken,
        companionSyncUser, metricsPort, logLevel, logFormat, demo,
    ]

    /// Every setting, in groups and in the order in which tables and help list them.
    package static let groups: [(title: String, settings: [Setting])] = [
        ("The server", server), ("Sign-in at a provider", openID), ("Calendars in step", connections), ("Pages", brand),
        ("Quotas", Quotas.settings.map(\.setting)), ("What is kept", Retention.settings.map(\.setting)),
    ]
    package static let all: [Setting] = groups.flatMap(\.settings)
}
