// SPDX-License-Identifier: Apache-2.0

extension RuleWalk {
    /// DAILY, HOURLY, MINUTELY and SECONDLY: steps of a fixed length, of which parts let some through.
    ///
    /// A step that fails a part jumps to the next month, day, hour, minute or second that passes it, so that a rule
    /// that seldom applies costs no more than one that often does.
    mutating func units(from low: Int, through end: Int, steps: inout Int, _ body: (Int) -> Bool) -> Outcome {
        guard isReachable else { return .finished }
        let unitsPerDay = 86_400 / unit
        let origin = floorDivide(start, by: unit)
        let last = floorDivide(end, by: unit)
        let limitsTime = hours != .max || minutes != .max || seconds != .max
        var index = align(floorDivide(low, by: unit), from: origin, by: interval)
        // The month whose mask is at hand.
        var monthStart = 0
        var monthEnd = 0
        var mask: UInt32 = 0
        while index <= last {
            steps -= 1
            guard steps >= 0 else { return .outOfSteps }
            let day = unit == 86_400 ? index : floorDivide(index, by: unitsPerDay)
            if filter.isSelective {
                if day < monthStart || day >= monthEnd {
                    let date = CivilDate(daysSinceEpoch: day)
                    let shape = YearShape(date.year)
                    mask = filter.month(date.month, of: shape)
                    monthStart = day - date.day + 1
                    monthEnd = monthStart + shape.length(ofMonth: date.month)
                }
                let rest = mask >> UInt32(day - monthStart)
                if rest & 1 == 0 {
                    let next = rest == 0 ? monthEnd : day + rest.trailingZeroBitCount
                    index = align(next * unitsPerDay, from: index, by: interval)
                    continue
                }
            }
            if limitsTime, let wait = secondsToWait(at: index * unit - day * 86_400) {
                index = align(floorDivide(index * unit + wait, by: unit), from: index, by: interval)
                continue
            }
            for offset in offsets where !body(index * unit + offset) { return .stopped }
            steps -= offsets.count - 1
            index += interval
        }
        return .finished
    }

    /// The seconds from a time of day to the next that BYHOUR, BYMINUTE and BYSECOND might let pass; nil if it passes.
    private func secondsToWait(at time: Int) -> Int? {
        let hour = time / 3600
        let laterHours = hours >> UInt64(hour)
        if laterHours & 1 == 0 {
            let next = hour + laterHours.trailingZeroBitCount
            return (next < 24 ? next : 24) * 3600 - time
        }
        let minute = time % 3600 / 60
        let laterMinutes = minutes >> UInt64(minute)
        if laterMinutes & 1 == 0 {
            let next = minute + laterMinutes.trailingZeroBitCount
            return hour * 3600 + (next < 60 ? next : 60) * 60 - time
        }
        let second = time % 60
        let laterSeconds = seconds >> UInt64(second)
        if laterSeconds & 1 == 0 {
            let next = second + laterSeconds.trailingZeroBitCount
            return (next < 60 ? next : 60) - second
        }
        return nil
    }

    /// False when the steps from DTSTART meet no time of day that the parts let pass, on any day.
    ///
    /// Steps of n seconds visit all times of day that are congruent to the first modulo gcd(n, a day).
    private var isReachable: Bool {
        guard hours != .max || minutes != .max || seconds != .max else { return true }
        var (divisor, rest) = (interval * unit, 86_400)
        while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
        guard divisor > unit else { return hours != 0 && minutes != 0 && seconds != 0 }
        let phase = (start - startDay * 86_400) / unit * unit % divisor
        for time in stride(from: phase, to: 86_400, by: divisor) where secondsToWait(at: time) == nil { return true }
        return false
    }
}
