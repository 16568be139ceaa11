// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials

/// 100 random bits in a form that a person types: the text of an app password.
///
/// Only `reveal()` returns the text.
public struct AppSecret: Hashable, Redacted {
    /// Base32 without the letters and digits that are taken for each other: l and 1, o and 0.
    private static let letters = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)
    private static let groups = 4
    private static let group = 5

    /// Places in `letters`.
    private let digits: [UInt8]

    private init(digits: [UInt8]) { self.digits = digits }

    /// Creates a secret with the system's generator.
    public static func make() -> AppSecret {
        AppSecret(digits: [UInt8].random(groups * group).map { $0 & 31 })
    }

    /// Reads a secret as a person types it: hyphens and spaces do not count, nor whether letters are small; nil for
    /// anything else.
    public init?(text: String) {
        guard text.utf8.count <= 64 else { return nil }
        var digits: [UInt8] = []
        for byte in text.utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
            let small = (65...90).contains(byte) ? byte | 0x20 : byte
            guard let digit = Self.letters.firstIndex(of: small) else { return nil }
            digits.append(UInt8(digit))
        }
        guard digits.count == Self.groups * Self.group else { return nil }
        self.digits = digits
    }

    /// The secret in plain text: four groups of five characters, with hyphens between them.
    public func reveal() -> String {
        stride(from: 0, to: digits.count, by: Self.group).map { start in
            String(decoding: digits[start..<start + Self.group].map { Self.letters[Int($0)] }, as: UTF8.self)
        }.joined(separator: "-")
    }

    /// HMAC-SHA-256 of the text without hyphens, in hex (RFC 2104): the form in which it is stored in the database.
    ///
    /// It takes microseconds, because each request of an app needs it; 100 bits need no slow hash, and the key keeps
    /// whoever has a copy of the database from comparing.
    func hash(under key: SymmetricKey) -> String {
        Hexadecimal.text(
            HMAC<SHA256>.authenticationCode(for: digits.map { Self.letters[Int($0)] }, using: key))
    }
}
