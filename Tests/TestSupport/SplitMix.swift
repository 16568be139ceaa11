// SPDX-License-Identifier: Apache-2.0

/// Numbers that follow from a seed and are the same in each run (SplitMix64 by Steele, Lea and Flood).
public struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// Returns a number from 0 to one less than the limit.
    public mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
