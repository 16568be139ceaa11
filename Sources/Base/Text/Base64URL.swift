// SPDX-License-Identifier: Apache-2.0

/// Base64 with the URL alphabet and without padding (RFC 4648 section 5).
///
/// Written by hand, because every poll reads a token (`fourWords`), and Foundation's decoder costs more than the rest of
/// the look-up. `decode` is inlinable, so that the compiler specializes it for each caller's collection.
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
            var (bits, count, index) = (UInt32(0), 0, 0)
            for byte in bytes {
                bits = bits << 8 | UInt32(byte)
                count += 8
                while count >= 6 {
                    count -= 6
                    unsafe text[index] = alphabet[Int(bits >> UInt32(count)) & 63]
                    index += 1
                }
            }
            if count > 0 {
                unsafe text[index] = alphabet[Int(bits << UInt32(6 - count)) & 63]
                index += 1
            }
            return index
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

    /// The 256 bits of 43 characters, as the four words that hold the bytes in their order; nil for every other text, and
    /// for another spelling of the same bits.
    public static func fourWords(_ text: RawSpan) -> (UInt64, UInt64, UInt64, UInt64)? {
        guard text.byteCount == 43 else { return nil }
        let values = values
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var (word, bits, full) = (UInt64(0), 0, 0)
        for index in 0..<43 {
            // Any byte is a valid UInt8, and the index is below the count.
            let value = UInt64(values[Int(unsafe text.unsafeLoad(fromByteOffset: index, as: UInt8.self))])
            guard value < 64 else { return nil }
            let room = min(6, 64 - bits)
            word = word << UInt64(room) | value >> UInt64(6 - room)
            bits += room
            guard bits == 64 else { continue }
            switch full {
            case 0: words.0 = word.bigEndian
            case 1: words.1 = word.bigEndian
            case 2: words.2 = word.bigEndian
            default: words.3 = word.bigEndian
            }
            full += 1
            bits = 6 - room
            word = value & (1 << UInt64(bits) - 1)
        }
        // The last character has two bits too many, which are zero so that there is only one spelling.
        return word == 0 ? words : nil
    }
}
