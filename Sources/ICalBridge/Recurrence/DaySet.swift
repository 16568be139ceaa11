// SPDX-License-Identifier: Apache-2.0

/// Some days of a period of up to 384 days, as bits: bit 0 is the period's first day.
///
/// A year and the 53 weeks of a week-numbering year both fit, so that no period needs memory of its own.
struct DaySet {
    var words = InlineArray<6, UInt64>(repeating: 0)

    static let capacity = 384

    var isEmpty: Bool {
        var union: UInt64 = 0
        for index in words.indices { union |= words[index] }
        return union == 0
    }

    var count: Int {
        var sum = 0
        for index in words.indices { sum += words[index].nonzeroBitCount }
        return sum
    }

    func contains(_ day: Int) -> Bool {
        guard day >= 0, day < Self.capacity else { return false }
        return words[day >> 6] >> UInt64(day & 63) & 1 == 1
    }

    mutating func insert(_ day: Int) {
        guard day >= 0, day < Self.capacity else { return }
        words[day >> 6] |= 1 << UInt64(day & 63)
    }

    /// Adds the days of a month's mask, whose first day is `offset`.
    mutating func insert(_ mask: UInt32, at offset: Int) {
        let word = offset >> 6
        let shift = UInt64(offset & 63)
        words[word] |= UInt64(mask) << shift
        if shift > 32, word + 1 < words.count { words[word + 1] |= UInt64(mask) >> (64 - shift) }
    }

    /// Calls `body` with each day in order until it says false; false when it did.
    @inline(__always)
    func visit(_ body: (Int) -> Bool) -> Bool {
        for index in words.indices {
            var bits = words[index]
            while bits != 0 {
                guard body(index << 6 + bits.trailingZeroBitCount) else { return false }
                bits &= bits - 1
            }
        }
        return true
    }
}

/// The quotient rounded down, for times before 1970 too.
@inline(__always)
func floorDivide(_ value: Int, by divisor: Int) -> Int {
    let quotient = value / divisor
    return quotient * divisor > value ? quotient - 1 : quotient
}

/// The smallest value of `origin + k * step` (k ≥ 0) that is not below `minimum`.
@inline(__always)
func align(_ minimum: Int, from origin: Int, by step: Int) -> Int {
    minimum <= origin ? origin : origin + (minimum - origin + step - 1) / step * step
}
