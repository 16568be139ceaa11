// SPDX-License-Identifier: Apache-2.0

/// Some days of a period of up to 384 days, as bits: bit 0 is the period's first day.
///
/// A year and the 53 weeks of a week-numbering year both fit, so no period needs memory of its own.
struct DaySet: DayMask {
    var words = InlineArray<6, UInt64>(repeating: 0)

    static let capacity = 384

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

    /// Adds the days of a month's mask; the month begins at day `offset`.
    mutating func insert(_ mask: UInt32, at offset: Int) {
        let word = offset >> 6
        let shift = UInt64(offset & 63)
        words[word] |= UInt64(mask) << shift
        if shift > 32, word + 1 < words.count { words[word + 1] |= UInt64(mask) >> (64 - shift) }
    }

    /// The 32 days from `day` on.
    func bits(from day: Int) -> UInt32 {
        let (word, shift) = (day >> 6, UInt64(day & 63))
        var bits = words[word] >> shift
        if shift > 32, word + 1 < words.count { bits |= words[word + 1] << (64 - shift) }
        return UInt32(truncatingIfNeeded: bits)
    }

    func count(before day: Int) -> Int {
        guard day > 0 else { return 0 }
        var sum = 0
        for index in words.indices { sum += words[index].count(before: day - index << 6) }
        return sum
    }

    func day(at index: Int) -> Int {
        var left = index
        for word in words.indices {
            let count = words[word].nonzeroBitCount
            if left < count { return word << 6 + words[word].day(at: left) }
            left -= count
        }
        return Self.capacity
    }

    @inline(__always)
    func visit(from first: Int, _ body: (Int) -> Bool) -> Bool {
        for index in max(first, 0) >> 6..<max(words.count, max(first, 0) >> 6) {
            var bits = words[index]
            if first > index << 6 { bits &= .max << UInt64(first - index << 6) }
            while bits != 0 {
                guard body(index << 6 + bits.trailingZeroBitCount) else { return false }
                bits &= bits - 1
            }
        }
        return true
    }
}

/// The days of a period that a rule selects, by their position in it, from 0.
protocol DayMask {
    var count: Int { get }
    func contains(_ day: Int) -> Bool
    /// The number of selected days before a day.
    func count(before day: Int) -> Int
    /// The selected day with this index, which must be below `count`.
    func day(at index: Int) -> Int
    /// Calls `body` with each selected day from `first` on, in order, until it returns false; then returns false
    /// itself.
    func visit(from first: Int, _ body: (Int) -> Bool) -> Bool
}

extension DayMask {
    @inline(__always)
    func visit(_ body: (Int) -> Bool) -> Bool { visit(from: 0, body) }
}

/// A set of days for periods of at most 64 days.
extension UInt64: DayMask {
    var count: Int { nonzeroBitCount }

    func contains(_ day: Int) -> Bool { (0..<64).contains(day) && self >> UInt64(day) & 1 == 1 }

    func count(before day: Int) -> Int {
        day <= 0 ? 0 : day >= 64 ? nonzeroBitCount : (self & ~(.max << UInt64(day))).nonzeroBitCount
    }

    func day(at index: Int) -> Int {
        var bits = self
        for _ in 0..<index { bits &= bits &- 1 }
        return bits.trailingZeroBitCount
    }

    @inline(__always)
    func visit(from first: Int, _ body: (Int) -> Bool) -> Bool {
        var bits = first <= 0 ? self : first >= 64 ? 0 : self & .max << UInt64(first)
        while bits != 0 {
            guard body(bits.trailingZeroBitCount) else { return false }
            bits &= bits - 1
        }
        return true
    }
}

/// The quotient rounded down, which also works for times before 1970.
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
