// SPDX-License-Identifier: Apache-2.0

/// Reads values directly from the bytes of a text; returns nil for anything that is not in the RFC's plain form.
enum DirectText {
    /// A part of a file's text, which has already been converted to UTF-8; the bytes next to its ends are ASCII.
    static func string(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
        let part = bytes.extracting(range)
        // Proof: the whole text was checked or made UTF-8, and an ASCII byte is never inside a character.
        return unsafe String(copying: UTF8Span(unchecked: part, isKnownASCII: part.isASCII)).fromOutside
    }

    /// Decodes a value with the RFC's escapes (section 3.3.11); returns nil when spaces surround it.
    static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String? {
        guard let first = range.first, let last = range.last, bytes[first] > 32, bytes[last] > 32 else { return nil }
        guard let escape = ByteSearch.first(92, in: bytes, range) else { return string(bytes, range) }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: range.count) { out in
            guard let count = unsafe unescaped(bytes, range, from: escape, into: out), count > 0 else { return nil }
            // Proof: `count` bytes were just written. They are UTF-8: each escape is ASCII and becomes ASCII.
            let text = unsafe out.extracting(..<count).span
            return unsafe String(copying: UTF8Span(unchecked: text, isKnownASCII: text.isASCII)).fromOutside
        }
    }

    /// Writes a value without its escapes; the first one is at `escape`; nil when one is not an escape of the RFC.
    private static func unescaped(
        _ bytes: Span<UInt8>, _ range: Range<Int>, from escape: Int, into out: UnsafeMutableBufferPointer<UInt8>
    ) -> Int? {
        var (start, next, count) = (range.lowerBound, escape, 0)
        while true {
            // Proof: no more bytes are written than were read from the range, and there is room for the whole range.
            for index in start..<next {
                unsafe out[count] = bytes[index]
                count += 1
            }
            guard next < range.upperBound else { return count }
            guard next + 1 < range.upperBound else { return nil }
            switch bytes[next + 1] {
            case 110, 78: unsafe out[count] = 10
            case 92, 44, 59, 34, 58: unsafe out[count] = bytes[next + 1]
            default: return nil
            }
            count += 1
            start = next + 2
            next = ByteSearch.first(92, in: bytes, start..<range.upperBound) ?? range.upperBound
        }
    }

    /// Reads an ASCII word and returns it in upper case; nil when it contains spaces.
    static func word(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String? {
        guard range.count <= 64 else { return nil }
        for index in range where bytes[index] <= 32 || bytes[index] >= 127 { return nil }
        return unsafe String(unsafeUninitializedCapacity: range.count) { out in
            // Proof: the requested capacity is the length of the range.
            for (position, index) in range.enumerated() {
                let byte = bytes[index]
                unsafe out[position] = byte >= 97 && byte <= 122 ? byte - 32 : byte
            }
            return range.count
        }
    }

    static func number(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        guard range.count >= 1, range.count <= 9 else { return nil }
        var value = 0
        for index in range {
            let digit = bytes[index] &- 48
            guard digit <= 9 else { return nil }
            value = value * 10 + Int(digit)
        }
        return value
    }

    /// Reads `YYYYMMDD`, in the years that every library supports.
    static func date(_ bytes: Span<UInt8>, at start: Int) -> CivilDate? {
        guard let digits = eightDigits(bytes, at: start), digits >= 1601_0000, digits < 2501_0000 else { return nil }
        return CivilDate(year: digits / 10_000, month: digits / 100 % 100, day: digits % 100)
    }

    /// Reads `YYYYMMDDTHHMMSS`.
    static func time(_ bytes: Span<UInt8>, at start: Int) -> CivilDateTime? {
        guard bytes[start + 8] == 84, let date = date(bytes, at: start),
            // The hour is read together with the two bytes before it, so that one read covers all eight.
            let clock = eightDigits(bytes, at: start + 7, first: 48 | 48 << 8)
        else { return nil }
        return CivilDateTime(date: date, hour: clock / 10_000, minute: clock / 100 % 100, second: clock % 100)
    }

    /// The number that eight digits spell, the first two of which may be supplied; nil when one of them is not a digit.
    @inline(__always)
    private static func eightDigits(_ bytes: Span<UInt8>, at start: Int, first: UInt64 = 0) -> Int? {
        let word = unsafe bytes.extracting(start..<start + 8).withUnsafeBytes { bytes in
            // Proof: the bytes are exactly the requested eight.
            unsafe UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
        }
        let text = first == 0 ? word : word & ~0xFFFF | first
        // A digit's high half is 3, and it still is after adding six.
        let (highs, threes): (UInt64, UInt64) = (0xF0F0_F0F0_F0F0_F0F0, 0x3030_3030_3030_3030)
        guard text & highs == threes, (text &+ 0x0606_0606_0606_0606) & highs == threes else { return nil }
        // Combines pairs, then fours, then all eight: the first byte is the lowest and the most significant digit.
        let pairs = (text & ~highs &* 2561) >> 8
        let fours = (pairs & 0x00FF_00FF_00FF_00FF &* 6_553_601) >> 16
        return Int((fours & 0x0000_FFFF_0000_FFFF &* 42_949_672_960_001) >> 32)
    }

    /// Reads `YYYYMMDDTHHMMSSZ`.
    static func instant(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Instant? {
        guard range.count == 16, bytes[range.lowerBound + 15] == 90 else { return nil }
        return time(bytes, at: range.lowerBound).map { Instant(utc: $0) }
    }
}
