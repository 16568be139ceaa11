// SPDX-License-Identifier: Apache-2.0

internal import Storage

/// An access as it is stored in the journal: four words, little-endian, so that no record crosses a sector boundary.
///
///     sequence 64 | feed 32, status 16, client 8, kind of network 8 | time 48, network 16 | network 32, checksum 32
///
/// The highest bits of the sequence, the status and the time hold the version that the answer showed: one bit says that there
/// is a version, then come its lowest 27 bits, 15 next to the sequence, 6 next to the status and 6 next to the time.
struct AccessRecord {
    static let size = 32

    private static let hasVersion: UInt64 = 1 << 63
    /// Enough until the year 2109; six bits above it stay free.
    private static let timeBits = 42

    var words: (UInt64, UInt64, UInt64, UInt64)

    /// - Parameter salt: the journal's own salt, so that a record of another journal is not valid here.
    init(_ one: SequencedAccess, salt: UInt64) {
        let (access, network) = (one.access, one.access.network.bits)
        let version = UInt64(truncatingIfNeeded: access.version & FeedAccess.versionMask)
        let isKnown = access.version > 0
        var sequence = UInt64(truncatingIfNeeded: one.sequence)
        var what =
            UInt64(truncatingIfNeeded: access.feed) << 32 | UInt64(UInt16(truncatingIfNeeded: access.status)) << 16
            | UInt64(UInt8(truncatingIfNeeded: access.client)) << 8 | network >> 48
        // A clock before 1970 and a clock after the year 10000 are equally wrong.
        var time = UInt64(min(max(access.at, 0), isKnown ? 1 << Self.timeBits - 1 : 1 << 48 - 1))
        if isKnown {
            sequence |= Self.hasVersion | (version & 0x7FFF) << 48
            what |= (version >> 15 & 0x3F) << 26
            time |= (version >> 21 & 0x3F) << UInt64(Self.timeBits)
        }
        time = time << 16 | network >> 32 & 0xFFFF
        let last = network & 0xFFFF_FFFF
        words = (sequence, what, time, last << 32 | Self.checksum(sequence, what, time, last, salt))
    }

    /// The access that the words hold; nil when they are not what was written.
    static func access(_ words: (UInt64, UInt64, UInt64, UInt64), salt: UInt64) -> SequencedAccess? {
        let last = words.3 >> 32
        guard words.3 & 0xFFFF_FFFF == checksum(words.0, words.1, words.2, last, salt) else { return nil }
        let network = (words.1 & 0xFF) << 48 | (words.2 & 0xFFFF) << 32 | last
        let isKnown = words.0 & hasVersion != 0
        let (status, time) = (words.1 >> 16 & 0xFFFF, words.2 >> 16)
        let version = words.0 >> 48 & 0x7FFF | (status >> 10) << 15 | (time >> UInt64(timeBits)) << 21
        return SequencedAccess(
            sequence: Int(truncatingIfNeeded: isKnown ? words.0 & (1 << 48 - 1) : words.0),
            access: FeedAccess(
                feed: Int(words.1 >> 32), at: Int(isKnown ? time & (1 << UInt64(timeBits) - 1) : time),
                client: Int(words.1 >> 8 & 0xFF), status: Int(isKnown ? status & 0x3FF : status),
                network: NetworkPrefix(bits: network), version: isKnown ? Int(version) : 0))
    }

    /// A 32-bit checksum to which each bit of the words and of the salt contributes.
    private static func checksum(_ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64, _ salt: UInt64) -> UInt64 {
        mixed(mixed(mixed(mixed(mixed(salt, a), b), c), d), 0x5EED) >> 32
    }

    /// The finalizer of SplitMix64, applied to one word after the other.
    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        var value = (state ^ word) &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
