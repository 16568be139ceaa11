// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension Span<UInt8> {
    /// Whether both hold the same bytes.
    func isSame(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBytes { mine in
            unsafe other.withUnsafeBytes { theirs in
                guard let mine = mine.baseAddress, let theirs = theirs.baseAddress else { return true }
                // Proof: both have `count` bytes.
                return unsafe memcmp(mine, theirs, count) == 0
            }
        }
    }

    /// Whether all bytes are ASCII.
    var isASCII: Bool {
        unsafe withUnsafeBytes { bytes in
            var (seen, index): (UInt64, Int) = (0, 0)
            // Proof: a word is read only where eight bytes are left.
            while index + 8 <= bytes.count {
                seen |= unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                index += 8
            }
            while index < bytes.count {
                seen |= UInt64(unsafe bytes[index])
                index += 1
            }
            return seen & 0x8080_8080_8080_8080 == 0
        }
    }

    /// Whether the bytes are UTF-8 (RFC 3629); ASCII is skipped in large steps.
    var isUTF8: Bool {
        unsafe withUnsafeBytes { bytes in
            var index = 0
            while true {
                // Proof: the words are read only where 32 bytes are left.
                while index + 32 <= bytes.count {
                    let words = unsafe (
                        bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                            | bytes.loadUnaligned(fromByteOffset: index + 8, as: UInt64.self),
                        bytes.loadUnaligned(fromByteOffset: index + 16, as: UInt64.self)
                            | bytes.loadUnaligned(fromByteOffset: index + 24, as: UInt64.self)
                    )
                    if (words.0 | words.1) & 0x8080_8080_8080_8080 != 0 { break }
                    index += 32
                }
                while index < bytes.count, unsafe bytes[index] < 0x80 { index += 1 }
                guard index < bytes.count else { return true }
                let length = unsafe Self.lengthOfCharacter(bytes, at: index)
                guard length > 0 else { return false }
                index += length
            }
        }
    }

    /// The length in bytes of a non-ASCII character; 0 when there is no valid one (RFC 3629 section 4).
    @inline(__always)
    private static func lengthOfCharacter(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int {
        // Proof: a following byte is read only where the comparison with the count shows that there is one.
        let first = unsafe bytes[index]
        func follows(_ position: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            index + position < bytes.count && range.contains(unsafe bytes[index + position])
        }
        switch first {
        case 0xC2...0xDF: return follows(1) ? 2 : 0
        case 0xE0: return follows(1, 0xA0...0xBF) && follows(2) ? 3 : 0
        case 0xE1...0xEC, 0xEE, 0xEF: return follows(1) && follows(2) ? 3 : 0
        case 0xED: return follows(1, 0x80...0x9F) && follows(2) ? 3 : 0
        case 0xF0: return follows(1, 0x90...0xBF) && follows(2) && follows(3) ? 4 : 0
        case 0xF1...0xF3: return follows(1) && follows(2) && follows(3) ? 4 : 0
        case 0xF4: return follows(1, 0x80...0x8F) && follows(2) && follows(3) ? 4 : 0
        default: return 0
        }
    }
}
