// SPDX-License-Identifier: Apache-2.0

import Crypto

/// A code that replaces the authenticator app once: 120 random bits.
///
/// With this many bits a plain hash is enough (ASVS 6.5.2); fewer would need a slow one, ten times for each try.
struct RecoveryCode: Sendable {
    private let base32: Concealed
    /// SHA-256 of the bits, in hex: the form in which it is stored.
    let hash: String

    static let length = 15
    /// The number of characters, without hyphens.
    static let letters = 24
    /// How many a user gets at a time.
    static let count = 10

    /// Creates a code with the system's generator.
    static func make() -> RecoveryCode { RecoveryCode(.random(length)) }

    /// Reads a code's characters without hyphens; nil for anything that is not one.
    init?(letters: [UInt8]) {
        guard letters.count == Self.letters, let bytes = Base32.decode(letters) else { return nil }
        self.init(bytes)
    }

    private init(_ bytes: [UInt8]) {
        base32 = Concealed(Base32.encode(bytes))
        hash = Hexadecimal.text(SHA256.hash(data: bytes))
    }

    /// The code as it is shown, in groups of four.
    var shown: Concealed {
        let letters = base32.bytes
        let groups = stride(from: 0, to: letters.count, by: 4).map { letters[$0..<min($0 + 4, letters.count)] }
        return Concealed(String(decoding: Array(groups.joined(separator: [UInt8(ascii: "-")])), as: UTF8.self))
    }
}
