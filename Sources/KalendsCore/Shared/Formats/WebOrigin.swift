// SPDX-License-Identifier: Apache-2.0

/// The origin of a page: scheme, host and port, as a browser writes them (RFC 6454 section 6.2).
package struct WebOrigin: Hashable, Sendable {
    /// The origin in lower case, without the scheme's default port.
    package let text: String
    /// The host in lower case; an IPv6 address has its brackets.
    let host: String
    let port: Int

    /// Reads an origin, optionally followed by a slash; returns nil for anything else.
    init?(_ text: String) {
        guard let (origin, rest) = Self.split(text), rest.isEmpty || rest == "/" else { return nil }
        self = origin
    }

    /// Reads the origin of an address, so strictly that every browser reads it the same way; returns nil for any other
    /// text.
    package init?(ofAddress text: String) {
        guard let (origin, _) = Self.split(text) else { return nil }
        self = origin
    }

    private init(text: String, host: String, port: Int) { (self.text, self.host, self.port) = (text, host, port) }

    private static func split(_ text: String) -> (WebOrigin, rest: Substring)? {
        let lower = text.asciiLowercased
        guard let scheme = ["https://", "http://"].first(where: lower.hasPrefix) else { return nil }
        let behind = text.dropFirst(scheme.count)
        let authority = behind.prefix { !"/?#".contains($0) }
        // Anything that browsers might read differently is refused: user names, backslashes, percent signs.
        let allowed = authority.utf8.allSatisfy { byte in
            (byte | 0x20) >= 97 && (byte | 0x20) <= 122 || byte >= 48 && byte <= 57
                || [45, 46, 58, 91, 93].contains(byte)
        }
        guard allowed, !authority.isEmpty else { return nil }
        var (host, port) = (authority[...], Substring())
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            (host, port) = (authority[..<colon], authority[authority.index(after: colon)...])
            guard let number = Int(port), (1...65_535).contains(number), String(number) == port else { return nil }
        }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]") && IPAddress(host) != nil
        guard !host.isEmpty, isBracketed || !host.contains(where: { "[]:".contains($0) }) else { return nil }
        let standard = scheme == "https://" ? "443" : "80"
        let end = port.isEmpty || port == standard ? "" : ":\(port)"
        let (name, number) = (host.lowercased(), Int(port.isEmpty ? Substring(standard) : port) ?? 0)
        let origin = WebOrigin(text: scheme + name + end, host: name, port: number)
        return (origin, behind.dropFirst(authority.count))
    }
}
