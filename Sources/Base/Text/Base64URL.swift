// SPDX-License-Identifier: Apache-2.0

/// Base64 with the URL alphabet and without padding (RFC 4648 section 5).
///
/// Written by hand, because every poll decodes a token, and Foundation's decoder costs more than the rest of the
/// look-up. Inlinable for the same reason: the compiler specializes it for each caller's collection.
public enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The value of each byte as a digit; 255 for a byte that is not a digit.
    @usableFromInline static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    public static func encode(_ bytes: [UInt8]) -> String {
        let (alphabet, length) = (alphabet, (bytes.count * 4 + 2) / 3)
        // Six bits of every byte give at most `length` characters, each written once.
        return unsafe String(unsafeUninitializedCapacity: length) { text in
            var (bits, count, place) = (UInt32(0), 0, 0)
            for byte in bytes {
                bits = bits << 8 | UInt32(byte)
                count += 8
                while count >= 6 {
                    count -= 6
                    unsafe text[place] = alphabet[Int(bits >> UInt32(count)) & 63]
                    place += 1
                }
            }
            if count > 0 {
                unsafe text[place] = alphabet[Int(bits << UInt32(6 - count)) & 63]
                place += 1
            }
            return place
        }
    }

    /// Returns the bytes, or nil when a character is not in the alphabet or one is left over.
    @inlinable
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for character in text {
            let value = values[Int(character)]
            guard value < 64 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    /// Reports whether a text's last character carries no bits beyond whole bytes, so that each byte string has only
    /// one spelling.
    @inlinable
    public static func hasNoSpareBits(_ text: some Collection<UInt8>) -> Bool {
        guard let last = text.suffix(1).first, values[Int(last)] < 64 else { return text.isEmpty }
        return values[Int(last)] & [0, 63, 15, 3][text.count % 4] == 0
    }
}
