// SPDX-License-Identifier: Apache-2.0

/// Base32 without padding (RFC 4648 section 6), as authenticator apps exchange secrets.
public enum Base32 {
    public static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    /// The extended hexadecimal alphabet in lower case (section 7).
    public static let extendedHex = Array("0123456789abcdefghijklmnopqrstuv".utf8)

    public static func encode(_ bytes: [UInt8], with alphabet: [UInt8] = letters) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 8 + 4) / 5)
        var (bits, count) = (UInt32(0), 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[Int(bits >> UInt32(count)) & 31])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(5 - count)) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of a text in capital or small letters; nil for any other character, for a length that no bytes
    /// have, and for bits beyond whole bytes that are not zero.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard ![1, 3, 6].contains(text.count % 8) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 5 / 8)
        var (bits, count) = (UInt32(0), 0)
        for character in text {
            guard let value = value(character) else { return nil }
            bits = bits << 5 | value
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        // The rest is zero, so that each byte string has only one spelling.
        return bits & ((1 << UInt32(count)) - 1) == 0 ? bytes : nil
    }

    private static func value(_ character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a"))
        case UInt8(ascii: "2")...UInt8(ascii: "7"): UInt32(character - UInt8(ascii: "2")) + 26
        default: nil
        }
    }
}
