// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// The address of a calendar that a user entered (RFC 3986), read so strictly that every program reads it alike.
///
/// Addresses of calendars hold secrets in their path and query: printing one shows `[redacted]`.
package struct PublicURL: Hashable, Sendable {
    package let isSecure: Bool
    package let host: InternetHost
    package let port: Int
    /// Path and query, in characters that need no further encoding.
    private let target: String

    private static let longest = 8192

    /// - Parameters:
    ///   - text: `https://…`, or `webcal://…` for the same; `http://…` where that is allowed. A fragment is dropped.
    package init(_ text: String, allowsHTTP: Bool) throws(OutboundFailure) {
        guard text.utf8.count <= Self.longest else { throw .address("An address has at most \(Self.longest) bytes.") }
        let bare = text.drop { $0.is(" ") || $0.is("\n") || $0.is("\t") || $0.is("\r\n") }
        guard let schemeEnd = bare.utf8.firstIndex(of: 58), bare[schemeEnd...].hasPrefix("://") else {
            throw .address("This must be an address that begins with https:// or webcal://.")
        }
        switch bare[..<schemeEnd].lowercased() {
        case "https", "webcal", "webcals": isSecure = true
        case "http" where allowsHTTP: isSecure = false
        case "http": throw .address("Calendars are fetched here only over https://.")
        default: throw .address("This must be an address that begins with https:// or webcal://.")
        }
        var rest = bare[bare.index(schemeEnd, offsetBy: 3)...]
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        guard rest.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 && $0 != "\\" }) else {
            throw .address("An address has no line breaks or backslashes.")
        }
        // Blanks in a path or query are encoded, as browsers do.
        let authority = rest.prefix { !"/?#".contains($0) }
        guard !authority.contains(" ") else { throw .address("The name of a host has no blanks.") }
        guard !authority.contains("@") else {
            throw .address("An address with a user name or password is not accepted.")
        }
        (host, port) = try Self.hostAndPort(authority, standard: isSecure ? 443 : 80)
        var target = Self.encoded(rest.dropFirst(authority.count).prefix { !$0.is("#") })
        if !target.hasPrefix("/") { target = "/" + target }
        self.target = target
    }

    /// Returns the address in plain text.
    package func reveal() -> String { origin + target }

    /// Returns the address to which an answer's Location field redirects (RFC 9110 section 10.2.2), never from https to
    /// http.
    package func following(_ location: String, allowsHTTP: Bool) throws(OutboundFailure) -> PublicURL {
        let reference = location.prefix { !$0.is("#") }
        let scheme = reference.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+.-".contains($0)) }
        let text: String
        if !scheme.isEmpty, reference.dropFirst(scheme.count).first?.is(":") == true {
            text = String(reference)
        } else if reference.hasPrefix("//") {
            text = (isSecure ? "https:" : "http:") + reference
        } else if reference.hasPrefix("/") {
            text = origin + reference
        } else if reference.hasPrefix("?") {
            text = origin + path + reference
        } else if reference.isEmpty {
            text = reveal()
        } else {
            let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
            text = origin + folder + reference
        }
        let next = try PublicURL(text, allowsHTTP: allowsHTTP)
        guard next.isSecure || !isSecure else { throw .address("The address leads from https:// to http://.") }
        return next
    }

    /// A hash of the address, to recognize the same address later without storing it.
    package var digest: String { Base64URL.encode(Array(SHA256.hash(data: Array(reveal().utf8)).prefix(16))) }

    /// A text that distinguishes addresses of one host without revealing them.
    package var hint: String { "\(isSecure ? "https" : "http")://\(host.text)/…\(digest.prefix(4))" }

    /// Scheme, host, and port unless it is the scheme's own.
    package var origin: String {
        let scheme = isSecure ? "https" : "http"
        return port == (isSecure ? 443 : 80) ? "\(scheme)://\(host.text)" : "\(scheme)://\(host.text):\(port)"
    }

    private var path: Substring { target.prefix { !$0.is("?") } }

    private static func hostAndPort(
        _ authority: Substring, standard: Int
    ) throws(OutboundFailure) -> (InternetHost, Int) {
        var (hostText, portText) = (authority, Substring())
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            (hostText, portText) = (authority[..<colon], authority[authority.index(after: colon)...])
        }
        let host = try InternetHost(hostText)
        if portText.isEmpty { return (host, standard) }
        guard portText.utf8.count <= 5, portText.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let port = Int(portText),
            // Lower ports belong to services of other protocols: mail, names, remote shells.
            port == 443 || port == 80 || (1024...65_535).contains(port)
        else { throw .address("The port must be 443, 80, or from 1024 to 65535.") }
        return (host, port)
    }

    /// Percent-encodes what RFC 3986 does not allow in a path or query; existing escapes are kept.
    private static func encoded(_ text: Substring) -> String {
        let bytes = Array(text.utf8)
        let digits = Array("0123456789ABCDEF".utf8)
        var output: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == 37 && index + 2 < bytes.count
                && bytes[(index + 1)...(index + 2)].allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
            if isEscape || isPlain(byte) {
                output.append(byte)
            } else {
                output += [37, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (byte | 0x20) >= 97 && (byte | 0x20) <= 122 || byte >= 48 && byte <= 57 || plain.contains(byte)
    }

    private static let plain = Set("-._~!$&'()*+,;=:@/?".utf8)
}

extension PublicURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "[redacted]" }
    package var debugDescription: String { "[redacted]" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
