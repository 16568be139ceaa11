// SPDX-License-Identifier: Apache-2.0

package import Storage

/// The addresses of calendar providers, and the credentials with which this server identifies itself to them.
package struct ConnectionSettings: Sendable {
    var googleClientID: String?
    var googleClientSecret: Concealed?
    var microsoftClientID: String?
    var microsoftClientSecret: Concealed?
    var microsoftTenant = Setting.microsoftTenant.standard
    /// These addresses have no slash at the end.
    package var googleAuthorizeURL = Setting.googleAuthorizeURL.standard
    var googleTokenURL = Setting.googleTokenURL.standard
    var googleRevokeURL = Setting.googleRevokeURL.standard
    var googleApiURL = Setting.googleApiURL.standard
    package var microsoftLoginURL = Setting.microsoftLoginURL.standard
    var microsoftGraphURL = Setting.microsoftGraphURL.standard
    /// The requests to Google in a day of UTC above which looks become rarer.
    var googleRequestsPerDay = 800_000
    /// Each entry is `host` or `host:port`, in lower case.
    var privateCaldavHosts: Set<ByteString> = []
    /// Each entry is `host` or `host:port`, in lower case.
    package var privatePushHosts: Set<ByteString> = []
    /// Each entry is scheme, host and port, as a browser writes them.
    var returnOrigins: Set<ByteString> = []

    init() {}

    init(_ values: inout SettingValues, _ faults: inout [String]) {
        googleClientID = values.filled(.googleClientID)
        googleClientSecret = values.filled(.googleClientSecret).map { Concealed($0) }
        microsoftClientID = values.filled(.microsoftClientID)
        microsoftClientSecret = values.filled(.microsoftClientSecret).map { Concealed($0) }
        microsoftTenant = values.filled(.microsoftTenant) ?? microsoftTenant
        for (setting, path) in Self.addresses {
            guard var text = values.filled(setting) else { continue }
            while text.hasSuffix("/") { text.removeLast() }
            self[keyPath: path] = text
            if !TokenSettings.isSafe(text) || text.contains(where: { "?#".contains($0) || $0.isWhitespace }) {
                faults.append(
                    "\(setting.name) must begin with https://, or http:// on this machine, in ASCII and with no query.")
            }
        }
        googleRequestsPerDay = values.number(.googleRequestsPerDay, googleRequestsPerDay)
        if !Self.isPlain(microsoftTenant) {
            faults.append("microsoftTenant must be a word, a domain or an id: letters, digits, dots and hyphens.")
        }
        privateCaldavHosts = Self.hosts(.privateCaldavHosts, "cal.lan or 10.0.0.7:5232", &values, &faults)
        privatePushHosts = Self.hosts(.privatePushHosts, "push.lan or 10.0.0.7:8080", &values, &faults)
        for text in Self.list(values.text(.returnOrigins)) {
            if let origin = WebOrigin(text) {
                returnOrigins.insert(ByteString(origin.text))
            } else {
                faults.append("returnOrigins must be origins such as https://app.example, separated by commas.")
            }
        }
    }

    private static let addresses: [(Setting, any WritableKeyPath<ConnectionSettings, String> & Sendable)] = [
        (.googleAuthorizeURL, \.googleAuthorizeURL), (.googleTokenURL, \.googleTokenURL),
        (.googleRevokeURL, \.googleRevokeURL), (.googleApiURL, \.googleApiURL),
        (.microsoftLoginURL, \.microsoftLoginURL), (.microsoftGraphURL, \.microsoftGraphURL),
    ]

    /// Returns the settings that are missing for a provider; empty if it can be used.
    package func missing(for provider: Connection.Provider) -> [Setting] {
        let needed: [(Setting, Bool)] =
            switch provider {
            case .google:
                [(.googleClientID, googleClientID != nil), (.googleClientSecret, googleClientSecret != nil)]
            case .outlook:
                [
                    (.microsoftClientID, microsoftClientID != nil),
                    (.microsoftClientSecret, microsoftClientSecret != nil),
                ]
            case .caldav, .apple: []
            }
        return needed.filter { !$0.1 }.map(\.0)
    }

    static func hosts(
        _ setting: Setting, _ example: String, _ values: inout SettingValues, _ faults: inout [String]
    ) -> Set<ByteString> {
        var hosts: Set<ByteString> = []
        for host in list(values.text(setting)) {
            if isHost(host) {
                hosts.insert(ByteString(host))
            } else {
                faults.append("\(setting.name) must be hosts such as \(example), with commas between.")
            }
        }
        return hosts
    }

    private static func list(_ text: String?) -> [String] {
        (text ?? "").lowercased().split(separator: ",").map { String($0.filter { !$0.isWhitespace }) }
            .filter { !$0.isEmpty }
    }

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            (byte | 0x20) >= 97 && (byte | 0x20) <= 122 || byte >= 48 && byte <= 57 || byte == 45 || byte == 46
        }
    }

    /// Whether the text is a host name or an IP address, optionally followed by a port.
    private static func isHost(_ text: String) -> Bool {
        var host = text[...]
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            guard let port = Int(text[text.index(after: colon)...]), (1...65_535).contains(port) else { return false }
            host = text[..<colon]
        }
        if host.hasPrefix("[") { return host.hasSuffix("]") && IPAddress(String(host.dropFirst().dropLast())) != nil }
        return !host.isEmpty && host.utf8.count <= 253 && isPlain(String(host))
    }
}
