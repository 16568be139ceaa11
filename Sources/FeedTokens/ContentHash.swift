// SPDX-License-Identifier: Apache-2.0

public import Crypto

/// A hash that identifies a feed's bytes: 144 bits, in 18 bytes of memory.
public struct ContentHash: Hashable, Sendable {
    private let high: UInt64
    private let middle: UInt64
    private let low: UInt16

    /// Takes the first 18 bytes of a digest.
    public init(of digest: SHA256.Digest) {
        var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
        var count = 0
        for byte in digest.prefix(18) {
            switch count / 8 {
            case 0: words.0 = words.0 << 8 | UInt64(byte)
            case 1: words.1 = words.1 << 8 | UInt64(byte)
            default: words.2 = words.2 << 8 | UInt64(byte)
            }
            count += 1
        }
        (high, middle, low) = (words.0, words.1, UInt16(truncatingIfNeeded: words.2))
    }

    /// The hash as 24 characters of base64url.
    public var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(18)
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: high >> shift)) }
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: middle >> shift)) }
        bytes.append(UInt8(truncatingIfNeeded: low >> 8))
        bytes.append(UInt8(truncatingIfNeeded: low))
        return Base64URL.encode(bytes)
    }
}
