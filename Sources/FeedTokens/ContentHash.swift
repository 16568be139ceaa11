// SPDX-License-Identifier: Apache-2.0

public import Crypto

/// A hash that identifies a feed's bytes: 144 bits, in 18 bytes of memory.
public struct ContentHash: Hashable, Sendable {
    private let high: UInt64
    private let middle: UInt64
    private let low: UInt16

    /// Takes the first 18 bytes of a digest.
    public init(of digest: SHA256.Digest) {
        // All three numbers lie within the digest's 32 bytes.
        (high, middle, low) = unsafe digest.withUnsafeBytes { bytes in
            unsafe (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt16.self))
            )
        }
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
