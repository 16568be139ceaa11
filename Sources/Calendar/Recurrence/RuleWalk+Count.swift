// SPDX-License-Identifier: Apache-2.0

/// Finding where COUNT ends a rule: whole periods are counted, without a look at the occurrences in them.
extension RuleWalk {
    /// The result of a count that began at one time.
    struct CountedEnd {
        var first: Int
        /// The last occurrence; nil when it is later than `through`.
        var last: Int?
        var through: Int
    }

    /// The wall time of the occurrence number `count` from `first` on, or a time later than `end` if it is beyond
    /// `end`.
    ///
    /// Returns nil when the steps were not enough.
    mutating func lastCounted(_ count: Int, from first: Int, through end: Int, steps: inout Int) -> Int? {
        if let known = knownEnd, known.first == first {
            if let last = known.last { return last }
            if end <= known.through { return Int.max }
        }
        if isUniform {
            // Every candidate is an occurrence.
            let step = interval * unit
            let (length, isBeyond) = step.multipliedReportingOverflow(by: count - 1)
            guard !isBeyond, length < 1 << 60 else { return Int.max }
            return align(first, from: floorDivide(start, by: unit) * unit + times[0], by: step) + length
        }
        (floor, countdown, counted) = (first, count, Int.max)
        defer { countdown = nil }
        let outcome = candidates(from: first, through: end, steps: &steps) { _ in true }
        guard outcome != .outOfSteps else { return nil }
        knownEnd = CountedEnd(first: first, last: counted <= end ? counted : nil, through: end)
        return counted
    }

    /// Counts a period's occurrences; false when the one that is looked for was among them.
    mutating func count(_ days: some DayMask, from firstDay: Int) -> Bool {
        let (skipped, times) = (indexOfFloor(days, from: firstDay), self.times)
        guard let positions else {
            return count(days.count * times.count - skipped) { index in
                let (day, time) = (skipped + index).quotientAndRemainder(dividingBy: times.count)
                return (firstDay + days.day(at: day)) * 86_400 + times[time]
            }
        }
        let picked = positions.indices(among: days.count * times.count)
        let begin = picked.firstFitting { $0 >= skipped }
        return count(picked.count - begin) { index in
            let (day, time) = picked[begin + index].quotientAndRemainder(dividingBy: times.count)
            return (firstDay + days.day(at: day)) * 86_400 + times[time]
        }
    }

    /// Counts `number` occurrences; `wall` returns the wall time of each by its index.
    mutating func count(_ number: Int, _ wall: (Int) -> Int) -> Bool {
        guard let left = countdown else { return true }
        guard number >= left else {
            countdown = left - max(number, 0)
            return true
        }
        counted = wall(left - 1)
        return false
    }

    /// The number of a period's occurrences (days by times) that are before the floor.
    func indexOfFloor(_ days: some DayMask, from firstDay: Int) -> Int {
        let seconds = floor - firstDay * 86_400
        guard seconds > 0 else { return 0 }
        let day = seconds / 86_400
        let before = days.count(before: day) * times.count
        return days.contains(day) ? before + times.index(notBefore: seconds - day * 86_400) : before
    }
}
