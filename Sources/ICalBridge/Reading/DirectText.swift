// SPDX-License-Identifier: Apache-2.0

/// Values read straight from the bytes of a text; nil for whatever is not written in the plain form of the RFC.
enum DirectText {
    static func string(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
        unsafe bytes.extracting(range).withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// The text of a value with the RFC's escapes (section 3.3.11) and without spaces around it.
    static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String? {
        guard let first = range.first, let last = range.last, bytes[first] > 32, bytes[last] > 32 else { return nil }
        if ByteSearch.first(92, in: bytes, range) == nil { return string(bytes, range) }
        var escaped = false
        let text = unsafe String(unsafeUninitializedCapacity: range.count) { out in
            var count = 0
            for index in range {
                let byte = bytes[index]
                if escaped {
                    escaped = false
                    switch byte {
                    case 110, 78:
                        unsafe out[count] = 10
                    case 92, 44, 59, 34, 58:
                        unsafe out[count] = byte
                    default: return 0
                    }
                } else if byte == 92 {
                    escaped = true
                    continue
                } else {
                    unsafe out[count] = byte
                }
                // Proof: each byte of the range writes at most one, and there is room for all of them.
                count += 1
            }
            return escaped ? 0 : count
        }
        return text.isEmpty ? nil : text
    }

    /// A word of ASCII in upper case, without spaces around it.
    static func word(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String? {
        guard range.count <= 64 else { return nil }
        for index in range where bytes[index] <= 32 || bytes[index] >= 127 { return nil }
        return unsafe String(unsafeUninitializedCapacity: range.count) { out in
            // Proof: the room asked for is the length of the range.
            for (place, index) in range.enumerated() {
                let byte = bytes[index]
                unsafe out[place] = byte >= 97 && byte <= 122 ? byte - 32 : byte
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

    /// `YYYYMMDD`, in the years that every library knows.
    static func date(_ bytes: Span<UInt8>, at start: Int) -> CivilDate? {
        guard let year = number(bytes, start..<start + 4), let month = number(bytes, start + 4..<start + 6),
            let day = number(bytes, start + 6..<start + 8), year >= 1601, year <= 2500
        else { return nil }
        return CivilDate(year: year, month: month, day: day)
    }

    /// `YYYYMMDDTHHMMSS`.
    static func time(_ bytes: Span<UInt8>, at start: Int) -> CivilDateTime? {
        guard bytes[start + 8] == 84, let date = date(bytes, at: start),
            let hour = number(bytes, start + 9..<start + 11), let minute = number(bytes, start + 11..<start + 13),
            let second = number(bytes, start + 13..<start + 15)
        else { return nil }
        return CivilDateTime(date: date, hour: hour, minute: minute, second: second)
    }

    /// `YYYYMMDDTHHMMSSZ`.
    static func instant(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Instant? {
        guard range.count == 16, bytes[range.lowerBound + 15] == 90 else { return nil }
        return time(bytes, at: range.lowerBound).map { Instant(utc: $0) }
    }
}
