// SPDX-License-Identifier: Apache-2.0

/// A 128-bit FNV-1a hash: the same for the same bytes on every machine and in every version.
///
/// It identifies things that have no name of their own; it does not protect against deliberate collisions.
struct StableHash {
    private var state: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D

    mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            state ^= UInt128(byte)
            state &*= 0x0000_0000_0100_0000_0000_0000_0000_013B
        }
    }

    /// The hash as 32 hexadecimal digits.
    var hex: String {
        let text = String(state, radix: 16)
        return String(repeating: "0", count: 32 - text.count) + text
    }
}
