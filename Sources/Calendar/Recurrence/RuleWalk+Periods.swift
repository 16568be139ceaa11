// SPDX-License-Identifier: Apache-2.0

extension RuleWalk {
    // The cost of computing the days of such a period, in candidates.
    private static let stepsOfYear = 8
    private static let stepsOfWeekYear = 24

    /// YEARLY without BYWEEKNO: the period is the calendar year.
    mutating func years(from low: Int, through end: Int, steps: inout Int, _ body: (Int) -> Bool) -> Outcome {
        let origin = CivilDate(daysSinceEpoch: startDay).year
        let last = CivilDate(daysSinceEpoch: floorDivide(end, by: 86_400)).year
        var year = align(CivilDate(daysSinceEpoch: floorDivide(low, by: 86_400)).year, from: origin, by: interval)
        while year <= last {
            steps -= Self.stepsOfYear
            guard steps >= 0 else { return .outOfSteps }
            let shape = YearShape(year)
            if !emit(filter.days(of: shape), from: shape.firstDay, steps: &steps, body) {
                return steps < 0 ? .outOfSteps : .stopped
            }
            year += interval
        }
        return .finished
    }

    /// YEARLY with BYWEEKNO: the period is the week-numbering year, whose ends differ from the calendar's by days.
    mutating func weekYears(from low: Int, through end: Int, steps: inout Int, _ body: (Int) -> Bool) -> Outcome {
        let origin = originOfWeekYears()
        let last = CivilDate(daysSinceEpoch: floorDivide(end, by: 86_400)).year + 1
        let lowYear = CivilDate(daysSinceEpoch: floorDivide(low, by: 86_400)).year
        var year = align(lowYear - 1, from: origin, by: interval)
        while year <= last {
            steps -= Self.stepsOfWeekYear
            guard steps >= 0 else { return .outOfSteps }
            let (days, firstDay) = daysOfWeekYear(year)
            if !emit(days, from: firstDay, steps: &steps, body) { return steps < 0 ? .outOfSteps : .stopped }
            year += interval
        }
        return .finished
    }

    /// The year from which INTERVAL is counted.
    ///
    /// It is the week-numbering year of DTSTART, unless that year has no occurrence from DTSTART on: then it is the
    /// calendar year. The RFC does not define this; libical and ical.net agree on it.
    private mutating func originOfWeekYears() -> Int {
        let calendarYear = CivilDate(daysSinceEpoch: startDay).year
        var year = calendarYear
        if startDay >= YearShape(year + 1).firstWeekStart(weekStart: weekStart) {
            year += 1
        } else if startDay < YearShape(year).firstWeekStart(weekStart: weekStart) {
            year -= 1
        }
        guard interval > 1, year != calendarYear else { return year }
        let (days, firstDay) = daysOfWeekYear(year)
        var hasAny = false
        _ = days.visit { day in
            hasAny = hasAny || firstDay + day >= startDay
            return !hasAny
        }
        return hasAny ? year : calendarYear
    }

    private mutating func daysOfWeekYear(_ year: Int) -> (DaySet, firstDay: Int) {
        let shape = YearShape(year)
        let previous = YearShape(year - 1)
        let next = YearShape(year + 1)
        let firstDay = shape.firstWeekStart(weekStart: weekStart)
        let count = (next.firstWeekStart(weekStart: weekStart) - firstDay) / 7
        let (before, within, after) = (filter.days(of: previous), filter.days(of: shape), filter.days(of: next))
        var days = DaySet()
        for number in rule.byWeekNumber {
            let week = number > 0 ? number : count + 1 + number
            guard number != 0, week >= 1, week <= count else { continue }
            for day in (week - 1) * 7..<week * 7 {
                let dayOfYear = firstDay + day - shape.firstDay
                let fits =
                    if dayOfYear < 0 {
                        before.contains(dayOfYear + previous.length)
                    } else if dayOfYear >= shape.length {
                        after.contains(dayOfYear - shape.length)
                    } else {
                        within.contains(dayOfYear)
                    }
                if fits { days.insert(day) }
            }
        }
        return (days, firstDay)
    }

    mutating func months(from low: Int, through end: Int, steps: inout Int, _ body: (Int) -> Bool) -> Outcome {
        func index(_ day: Int) -> Int {
            let date = CivilDate(daysSinceEpoch: day)
            return date.year * 12 + date.month - 1
        }
        let last = index(floorDivide(end, by: 86_400))
        var month = align(index(floorDivide(low, by: 86_400)), from: index(startDay), by: interval)
        var shape = YearShape(month / 12)
        while month <= last {
            steps -= 1
            guard steps >= 0 else { return .outOfSteps }
            if month / 12 != shape.year { shape = YearShape(month / 12) }
            let number = month % 12 + 1
            let mask = filter.month(number, of: shape)
            if mask != 0 {
                let firstDay = shape.firstDay + shape.dayOfYear(month: number) - 1
                if !emit(UInt64(mask), from: firstDay, steps: &steps, body) {
                    return steps < 0 ? .outOfSteps : .stopped
                }
            }
            month += interval
        }
        return .finished
    }

    mutating func weeks(from low: Int, through end: Int, steps: inout Int, _ body: (Int) -> Bool) -> Outcome {
        func weekOf(_ day: Int) -> Int { day - ((day + 4 - weekStart) % 7 + 7) % 7 }
        var pattern: UInt64 = 0
        if rule.byDay.isEmpty { pattern = 1 << UInt64(startDay - weekOf(startDay)) }
        for entry in rule.byDay { pattern |= 1 << UInt64((entry.weekday.index - weekStart + 7) % 7) }
        let limit = rule.byMonth.reduce(0 as UInt16) { (1...12).contains($1) ? $0 | 1 << UInt16($1) : $0 }
        func isIn(_ day: Int) -> Bool { limit >> UInt16(CivilDate(daysSinceEpoch: day).month) & 1 == 1 }
        let last = floorDivide(end, by: 86_400)
        let step = 7 * interval
        var week = align(weekOf(floorDivide(low, by: 86_400)), from: weekOf(startDay), by: step)
        while week <= last {
            steps -= 1
            guard steps >= 0 else { return .outOfSteps }
            var mask = pattern
            if !rule.byMonth.isEmpty {
                let (head, tail) = (isIn(week), isIn(week + 6))
                if !head && !tail {
                    mask = 0
                } else if !head || !tail {
                    for day in 0..<7 where !isIn(week + day) { mask &= ~(1 << UInt64(day)) }
                }
            }
            if mask != 0, !emit(mask, from: week, steps: &steps, body) { return steps < 0 ? .outOfSteps : .stopped }
            week += step
        }
        return .finished
    }

    /// Passes on the times of one period, except those before the floor.
    private mutating func emit(
        _ days: some DayMask, from firstDay: Int, steps: inout Int, _ body: (Int) -> Bool
    ) -> Bool {
        if let positions { steps -= positions.count / 4 }
        if countdown != nil { return count(days, from: firstDay) }
        let times = times
        if let positions {
            // The set is days × times, so a position is found without storing the set.
            let picked = positions.indices(among: days.count * times.count)
            for index in picked[picked.firstFitting { $0 >= indexOfFloor(days, from: firstDay) }...] {
                steps -= 1
                let (day, time) = index.quotientAndRemainder(dividingBy: times.count)
                guard steps >= 0, body((firstDay + days.day(at: day)) * 86_400 + times[time]) else { return false }
            }
            return true
        }
        if times.count == 1 {
            let base = firstDay * 86_400 + times[0]
            return days.visit { body(base + $0 * 86_400) }
        }
        let floor = floor
        return days.visit(from: (floor - firstDay * 86_400) / 86_400) { day in
            let midnight = (firstDay + day) * 86_400
            var index = times.index(notBefore: floor - midnight)
            while index < times.count {
                steps -= 1
                guard steps >= 0, body(midnight + times[index]) else { return false }
                index += 1
            }
            return true
        }
    }
}
