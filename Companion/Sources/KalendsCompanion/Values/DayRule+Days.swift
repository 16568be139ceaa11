// SPDX-License-Identifier: Apache-2.0

public import Calendar
internal import OfficeDays

extension DayRule {
    /// The most periods that are searched, so that the search ends for a rule that never matches.
    private static let mostPeriods = 20_000

    /// Returns the days on which occurrences start, from the first one to `last`.
    ///
    /// - Parameter moment: returns the start on a day, which is compared with UNTIL.
    public func days(from first: Day, through last: Day, moment: (Day) -> EventMoment) -> [Day] {
        var found: [Day] = []
        var period = 0
        while period < Self.mostPeriods {
            guard let candidates = candidates(of: period, from: first) else { break }
            guard candidates.start <= last else { break }
            for day in positioned(candidates.days) where day >= first {
                switch end {
                case .count(let count)? where found.count >= count: return found
                case .until(let until)? where isLater(moment(day), until, day): return found
                default: break
                }
                if day > last { return found }
                found.append(day)
            }
            period += 1
        }
        return found
    }

    private func isLater(_ moment: EventMoment, _ until: EventMoment, _ day: Day) -> Bool {
        switch (moment, until) {
        case (.instant(let start), .instant(let end)): start > end
        case (_, .day(let end)): day > end
        case (.day(let start), .instant(let end)): start.daysSinceEpoch * 86_400 > end
        }
    }

    private func positioned(_ days: [Day]) -> [Day] {
        guard !positions.isEmpty else { return days }
        let indexes = Set(positions.map { $0 > 0 ? $0 - 1 : days.count + $0 })
        return days.indices.filter { indexes.contains($0) }.map { days[$0] }
    }

    /// Returns the days of a period that match the rule, in order, and the first day of the period.
    private func candidates(of period: Int, from first: Day) -> (start: Day, days: [Day])? {
        let (year, month, dayOfMonth) = (first.year, first.month, first.day)
        switch frequency {
        case .daily:
            let day = first.adding(days: period * interval)
            return (day, fits(day, inMonth: true) ? [day] : [])
        case .weekly:
            let index = OfficeWeekday.allCases.firstIndex(of: first.dayOfWeek) ?? 0
            let monday = first.adding(days: -index + 7 * period * interval)
            let wanted = weekdays.isEmpty ? [first.dayOfWeek] : weekdays.map(\.day)
            let days = (0..<7).map { monday.adding(days: $0) }.filter {
                wanted.contains($0.dayOfWeek) && isInMonths($0)
            }
            return (monday, days)
        case .monthly:
            let number = year * 12 + month - 1 + period * interval
            guard let start = Day(year: number / 12, month: number % 12 + 1, day: 1) else { return nil }
            return (start, isInMonths(start) ? days(ofMonth: start, else: dayOfMonth) : [])
        case .yearly:
            guard let start = Day(year: year + period * interval, month: 1, day: 1) else { return nil }
            return (start, days(ofYear: start, month: month, day: dayOfMonth))
        }
    }

    private func days(ofMonth start: Day, else day: Int) -> [Day] {
        let all = Array(start...start.endOfMonth)
        if monthDays.isEmpty, weekdays.isEmpty { return day <= all.count ? [all[day - 1]] : [] }
        return all.filter { fits($0, inMonth: true, of: all) }
    }

    private func days(ofYear start: Day, month: Int, day: Int) -> [Day] {
        let year = start.year
        if months.isEmpty, monthDays.isEmpty, weekdays.isEmpty {
            return Day(year: year, month: month, day: day).map { [$0] } ?? []
        }
        if months.isEmpty, monthDays.isEmpty {
            guard let end = Day(year: year, month: 12, day: 31) else { return [] }
            let all = Array(start...end)
            return all.filter { fits($0, inMonth: false, of: all) }
        }
        let wanted = months.isEmpty ? Array(1...12) : months.sorted()
        return wanted.flatMap { month in
            Day(year: year, month: month, day: 1).map { days(ofMonth: $0, else: day) } ?? []
        }
    }

    private func isInMonths(_ day: Day) -> Bool { months.isEmpty || months.contains(day.month) }

    /// Whether a day matches the rule's months, days of the month and weekdays.
    ///
    /// - Parameter all: the days within which weekdays are numbered, in order; empty when they are not numbered.
    private func fits(_ day: Day, inMonth: Bool, of all: [Day] = []) -> Bool {
        guard isInMonths(day) else { return false }
        if !monthDays.isEmpty {
            let number = day.day
            let length = day.endOfMonth.day
            guard monthDays.contains(where: { $0 == number || length + 1 + $0 == number }) else { return false }
        }
        guard !weekdays.isEmpty else { return true }
        return weekdays.contains { weekday in
            guard weekday.day == day.dayOfWeek else { return false }
            guard weekday.number != 0, let first = all.first, let last = all.last else { return true }
            let fromStart = (day.daysSinceEpoch - first.daysSinceEpoch) / 7 + 1
            let fromEnd = -((last.daysSinceEpoch - day.daysSinceEpoch) / 7 + 1)
            return weekday.number == fromStart || weekday.number == fromEnd
        }
    }
}
