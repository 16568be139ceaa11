// SPDX-License-Identifier: Apache-2.0

extension RuleWalk {
    /// DAILY, HOURLY, MINUTELY and SECONDLY: steps of a fixed length, filtered by the rule's parts.
    ///
    /// A step that a part excludes jumps to the next month, day, hour, minute or second that the part allows, so that a
    /// rule that seldom applies costs no more than one that often does.
    mutating func units(from low: Int, through end: Int, steps: inout Int, _ body: (Int) -> Bool) -> Outcome {
        guard isReachable(steps: &steps) else { return steps < 0 ? .outOfSteps : .finished }
        let unitsPerDay = 86_400 / unit
        let origin = floorDivide(start, by: unit)
        let last = floorDivide(end, by: unit)
        let limitsTime = hours != .max || minutes != .max || seconds != .max
        let isDaily = unit == 86_400 && interval == 1
        let times = times
        var index = align(floorDivide(low, by: unit), from: origin, by: interval)
        // The month for which `mask` is computed.
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
                if countdown != nil, isDaily, index * unit >= floor {
                    // The rest of a month is counted at once.
                    let days = UInt64(rest)
                    guard count(days, from: day) else { return .stopped }
                    index = monthEnd
                    continue
                }
            }
            if limitsTime, let wait = secondsToWait(at: index * unit - day * 86_400) {
                index = align(floorDivide(index * unit + wait, by: unit), from: index, by: interval)
                continue
            }
            var time = times.index(notBefore: floor - index * unit)
            if countdown != nil {
                let (base, first) = (index * unit, time)
                guard count(times.count - first, { base + times[first + $0] }) else { return .stopped }
            } else {
                while time < times.count {
                    if time > 0 { steps -= 1 }
                    guard steps >= 0 else { return .outOfSteps }
                    guard body(index * unit + times[time]) else { return .stopped }
                    time += 1
                }
            }
            index += interval
        }
        return .finished
    }

    /// The seconds from a time of day to the next one that BYHOUR, BYMINUTE and BYSECOND may allow; nil if they allow
    /// this one.
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

    /// Whether the steps from DTSTART ever reach a time of day, on a weekday, that the parts allow.
    private mutating func isReachable(steps: inout Int) -> Bool {
        if let knownReachable { return knownReachable }
        let step = interval * unit
        let limitsTime = hours != .max || minutes != .max || seconds != .max
        var isReachable = hours != 0 && minutes != 0 && seconds != 0
        // The finest part comes first: most rules that never match are recognized without checking a whole day.
        if isReachable, seconds != .max {
            let divisor = greatestCommonDivisor(step, 60)
            let phase = (start - startDay * 86_400) % divisor
            isReachable = stride(from: phase, to: 60, by: divisor).contains { seconds >> UInt64($0) & 1 == 1 }
        }
        if isReachable, limitsTime, greatestCommonDivisor(step, 86_400) > unit {
            isReachable = meets(within: 86_400, on: nil, steps: &steps)
        }
        if isReachable, !rule.byDay.isEmpty, greatestCommonDivisor(step, 604_800) % 7 == 0 {
            let days = rule.byDay.reduce(0 as UInt8) { $0 | 1 << UInt8($1.weekday.index) }
            isReachable = meets(within: 604_800, on: days, steps: &steps)
        }
        guard steps >= 0 else { return false }
        knownReachable = isReachable
        return isReachable
    }

    /// Whether the steps reach an allowed time in a day or a week, on one of some weekdays (bit 0 is Sunday).
    ///
    /// Steps of n seconds visit all times of a week that are congruent to the first modulo gcd(n, a week).
    private func meets(within span: Int, on days: UInt8?, steps: inout Int) -> Bool {
        let divisor = greatestCommonDivisor(interval * unit, span)
        // 1 January 1970 was a Thursday.
        let origin = floorDivide(start, by: unit) * unit + 4 * 86_400
        let phase = origin - floorDivide(origin, by: divisor) * divisor
        var time = phase
        while time < span {
            steps -= 1
            guard steps >= 0 else { return false }
            let day = time / 86_400
            if let days, days >> UInt8(day) & 1 == 0 {
                time = align((day + 1) * 86_400, from: phase, by: divisor)
            } else if let wait = secondsToWait(at: time - day * 86_400) {
                time = align(time + wait, from: phase, by: divisor)
            } else {
                return true
            }
        }
        return false
    }
}

func greatestCommonDivisor(_ one: Int, _ other: Int) -> Int {
    var (divisor, rest) = (one, other)
    while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
    return divisor
}
