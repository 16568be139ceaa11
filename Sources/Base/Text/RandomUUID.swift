// SPDX-License-Identifier: Apache-2.0

/// Random UUIDs (RFC 9562 section 5.4).
///
/// Foundation's `UUID()` opens /dev/urandom each time on Linux, which took longer than storing the item that gets it.
public enum RandomUUID {
    /// Returns the lower-case text of a new UUID of version 4.
    public static func text() -> String {
        var random = SystemRandomNumberGenerator()
        let high = random.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = random.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        // 32 digits with four hyphens between them.
        return unsafe String(unsafeUninitializedCapacity: 36) { text in
            var index = 0
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    unsafe text[index] = UInt8(ascii: "-")
                    index += 1
                }
                let value = UInt8(truncatingIfNeeded: (digit < 16 ? high : low) >> UInt64(60 - digit % 16 * 4)) & 15
                unsafe text[index] = value < 10 ? 48 + value : 87 + value
                index += 1
            }
            return index
        }
    }
}
