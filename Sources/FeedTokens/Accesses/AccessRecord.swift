// SPDX-License-Identifier: Apache-2.0

internal import Storage

/// An access as it stands in the journal: four words, little-endian, so that none lies across two sectors.
///
///     sequence 64 | feed 32, status 16, client 8, kind of network 8 | time 48, network 16 | network 32, checksum 32
struct AccessRecord {
    static let size = 32

    var words: (UInt64, UInt64, UInt64, UInt64)

    /// - Parameter salt: the journal's own, so that a record of another journal is none here.
    init(_ one: SequencedAccess, salt: UInt64) {
        let (access, network) = (one.access, one.access.network.bits)
        let sequence = UInt64(truncatingIfNeeded: one.sequence)
        let what =
            UInt64(truncatingIfNeeded: access.feed) << 32 | UInt64(UInt16(truncatingIfNeeded: access.status)) << 16
            | UInt64(UInt8(truncatingIfNeeded: access.client)) << 8 | network >> 48
        // A clock before 1970 or after the year 10000 is as wrong one way as the other.
        let time = UInt64(min(max(access.at, 0), 1 << 48 - 1)) << 16 | network >> 32 & 0xFFFF
        let last = network & 0xFFFF_FFFF
        words = (sequence, what, time, last << 32 | Self.checksum(sequence, what, time, last, salt))
    }

    /// The access of words that were read, nil when they are not what was written there.
    static func access(_ words: (UInt64, UInt64, UInt64, UInt64), salt: UInt64) -> SequencedAccess? {
        let last = words.3 >> 32
        guard words.3 & 0xFFFF_FFFF == checksum(words.0, words.1, words.2, last, salt) else { return nil }
        let network = (words.1 & 0xFF) << 48 | (words.2 & 0xFFFF) << 32 | last
        return SequencedAccess(
            sequence: Int(truncatingIfNeeded: words.0),
            access: FeedAccess(
                feed: Int(words.1 >> 32), at: Int(words.2 >> 16), client: Int(words.1 >> 8 & 0xFF),
                status: Int(words.1 >> 16 & 0xFFFF), network: NetworkPrefix(bits: network)))
    }

    /// 32 bits in which each bit of the words and of the salt has its part.
    private static func checksum(_ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64, _ salt: UInt64) -> UInt64 {
        mixed(mixed(mixed(mixed(mixed(salt, a), b), c), d), 0x5EED) >> 32
    }

    /// The finisher of SplitMix64, one word after the other.
    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        var value = (state ^ word) &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
