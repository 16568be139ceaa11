// SPDX-License-Identifier: Apache-2.0

/// Questions about the bytes of a text, answered eight bytes at a time.
enum ByteWords {
    /// The number of bytes that equal `byte`.
    static func count(of byte: UInt8, in bytes: Span<UInt8>) -> Int {
        var count = 0
        forEachWord(of: bytes, equalTo: byte) {
            count &+= $0.nonzeroBitCount
            return true
        }
        return count
    }

    /// Whether two bytes in a row equal `byte`.
    static func containsPair(of byte: UInt8, in bytes: Span<UInt8>) -> Bool {
        var isFound = false
        var before: UInt64 = 0
        forEachWord(of: bytes, equalTo: byte) { word in
            isFound = word & (word << 8 | before >> 56) != 0
            before = word
            return !isFound
        }
        return isFound
    }

    /// Calls `body` for each eight bytes with a word in which the highest bit of each byte that equals `byte` is set, the
    /// first byte being the lowest, until it returns false. The last word may have fewer bytes.
    @inline(__always)
    private static func forEachWord(of bytes: Span<UInt8>, equalTo byte: UInt8, _ body: (UInt64) -> Bool) {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let lows: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
        let wanted = UInt64(byte) &* ones
        unsafe bytes.withUnsafeBytes { bytes in
            var index = 0
            while index < bytes.count {
                var word: UInt64
                // Proof: eight bytes are loaded only where there are eight, and single ones at indices below the count.
                if index &+ 8 <= bytes.count {
                    word = unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                } else {
                    word = ~wanted
                    for position in index..<bytes.count {
                        let shift = UInt64(8 &* (position &- index))
                        word = unsafe word & ~(0xFF << shift) | UInt64(bytes[position]) << shift
                    }
                }
                let rest = word ^ wanted
                // Only a byte that is 0 stays without its highest bit; no sum carries into the next byte.
                guard body(~((rest & lows) &+ lows | rest | lows)) else { return }
                index &+= 8
            }
        }
    }
}
