// SPDX-License-Identifier: Apache-2.0

/// The page that a sign-in leads to: a path below `/app/`, possibly with a query, and never another address.
package struct PagePath: Hashable, Sendable {
    let text: String

    /// The list of circles.
    package static let home = PagePath(known: "/app")
    /// The operator's page.
    static let admin = PagePath(known: "/app/admin")
    package static let longest = 2000
    package static let rule =
        "This must be a path below /app/ with plain characters: no address, no // and no encoded dots, slashes or "
        + "percent signs."

    private static let start = "/app/"
    /// The characters that may appear unencoded in a path or query (RFC 3986 sections 3.3 and 3.4), except for the
    /// percent sign.
    private static let plain = Set("-._~!$&'()*+,;=:@/?".utf8)
    /// Characters that would change the meaning of the path once decoded; nobody needs to encode them.
    private static let separators = Set("/\\.%".utf8)

    /// Reads a path that somebody gave; returns nil if browsers may not be sent there.
    package init?(_ text: String) {
        let parts = text.pieces(separatedBy: "?", maxSplits: 1)
        guard text.utf8.count <= Self.longest, text.hasPrefix(Self.start), Self.isClean(text.utf8),
            parts[0].dropFirst(Self.start.count).pieces(separatedBy: "/").allSatisfy({ $0 != "." && $0 != ".." }),
            !parts[0].contains("//")
        else { return nil }
        self.text = text
    }

    private init(known text: String) { self.text = text }

    /// Whether all characters are plain, or are encoded and neither control characters nor marks.
    private static func isClean(_ bytes: String.UTF8View) -> Bool {
        var rest = Array(bytes)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.count >= 2, let pair = String(validating: rest.prefix(2), as: UTF8.self),
                    pair.allSatisfy(\.isHexDigit), let value = UInt8(pair, radix: 16)
                else { return false }
                rest = rest.dropFirst(2)
                if value < 0x20 || value == 0x7F || separators.contains(value) { return false }
            } else {
                let isLetter =
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                guard isLetter || plain.contains(byte) else { return false }
            }
        }
        return true
    }
}
