// SPDX-License-Identifier: Apache-2.0

public import Mustache

/// HTML escaping by Unicode scalars: a combining mark after a bracket must not hide the bracket, as it does from a
/// look-up by characters.
public struct EscapedHTML: MustacheContentType {
    static let name = "KALENDS_HTML"

    public init() {}

    public func escapeText(_ text: String) -> String {
        let clean = text.shown
        guard clean.utf8.contains(where: { Self.replacement(of: $0) != nil }) else { return clean }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(clean.utf8.count + 32)
        for byte in clean.utf8 {
            if let replacement = Self.replacement(of: byte) {
                bytes += replacement.utf8
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func replacement(of byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "'"): "&#39;"
        case UInt8(ascii: "`"): "&#96;"
        default: nil
        }
    }
}

extension String {
    /// The text as a page shows it: without control characters, without characters that change the direction of the
    /// text around them, and with a limited number of combining marks.
    var shown: String {
        var text = self
        if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 }) {
            var kept = String.UnicodeScalarView()
            for scalar in text.unicodeScalars where !scalar.isControl { kept.append(scalar) }
            text = String(kept)
        }
        return text.withoutHiddenCharacters.withBoundedMarks
    }

    /// A path on this server that begins with a slash, or an address that a browser may safely open; nil for any other
    /// text.
    var safeAddress: String? {
        let bytes = Array(utf8)
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }) else { return nil }
        if bytes.first == UInt8(ascii: "/") { return bytes.dropFirst().first == UInt8(ascii: "/") ? nil : self }
        if bytes.first == UInt8(ascii: "#") || bytes.first == UInt8(ascii: "?") { return self }
        let lower = lowercased()
        let schemes = [
            "https://", "http://", "webcal://", "webcals://", "webcal:https://",
            "webcal:http://", "mailto:", "otpauth://totp/",
        ]
        return schemes.contains { lower.hasPrefix($0) } ? self : nil
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is a control character other than a tab or a line break.
    fileprivate var isControl: Bool {
        (value < 0x20 && value != 0x09 && value != 0x0A && value != 0x0D) || (0x7F...0x9F).contains(value)
    }
}
