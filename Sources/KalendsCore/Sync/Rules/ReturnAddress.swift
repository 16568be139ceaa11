// SPDX-License-Identifier: Apache-2.0

package import FeedTokens

/// Where a browser goes after a sign-in at a provider: one of this server's pages, or a page of an origin that the
/// operator named.
package struct ReturnAddress: Hashable, Sendable {
    /// How a sign-in ended; a pending one ends when its beginner redeems its code.
    package enum Result: String, Hashable, Sendable, CaseIterable { case connected, pending, denied, failed }

    /// The address as it was given.
    let text: String

    /// The path that this server's own pages are below.
    static let pages = "/app/"
    /// The page that shows how a sign-in ended, and its code, to anybody.
    package static let codePage = "/app/connected"
    static let rule = "This must be a path below /app/, or an address of an origin in KALENDS_RETURN_ORIGINS."
    private static let longest = 2000

    /// Reads an address; returns nil if browsers may not be sent there.
    package init?(_ text: String, _ origins: Set<ByteString>) {
        // Only visible ASCII characters are allowed, and none that browsers drop or read as a slash.
        guard text.utf8.count <= Self.longest,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { return nil }
        if text.hasPrefix("/") {
            guard text.hasPrefix(Self.pages), !Self.climbs(text) else { return nil }
        } else {
            guard let origin = WebOrigin(ofAddress: text), origins.contains(origin.text) else { return nil }
        }
        self.text = text
    }

    /// Returns the address with the result of the sign-in inserted before any fragment.
    ///
    /// - Parameters:
    ///   - code: what ends a pending sign-in.
    ///   - base: the path that the server's own pages are below, for a server that is not at the root.
    package func with(_ result: Result, code: Secret? = nil, connection: String, base: String) -> String {
        let fragment = text.firstIndex(of: "#").map { text[$0...] } ?? ""
        let address = text.prefix(text.count - fragment.count)
        let separator = address.contains("?") ? "&" : "?"
        let root = text.hasPrefix("/") ? base : ""
        let ending = code.map { "&code=\($0.reveal())" } ?? ""
        return "\(root)\(address)\(separator)connection=\(connection)&result=\(result.rawValue)\(ending)\(fragment)"
    }

    /// Whether a path contains a dot segment, plain or percent-encoded.
    private static func climbs(_ text: String) -> Bool {
        text.prefix { !"?#".contains($0) }.pieces(separatedBy: "/").contains { segment in
            let plain = segment.asciiLowercased.replacing("%2e", with: ".")
            return plain == "." || plain == ".."
        }
    }
}
