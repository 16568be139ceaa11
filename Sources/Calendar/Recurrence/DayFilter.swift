// SPDX-License-Identifier: Apache-2.0

/// The days of a month or year that a rule's BY parts select.
///
/// The Gregorian calendar has 14 kinds of year: seven weekdays for 1 January, leap year or not. What a rule selects
/// depends only on the kind, so each kind is worked out once, when it is first needed (RFC 5545 section 3.3.10).
struct DayFilter {
    private let rule: RecurrenceRule
    private let start: CivilDate
    /// Whether missing day parts are taken from DTSTART (MONTHLY, YEARLY); otherwise all days are selected.
    private let fillsFromStart: Bool
    /// Whether a YEARLY rule that names no month stays in the month of DTSTART; BYMONTHDAY does not change that.
    private let keepsMonthOfStart: Bool
    private var known: UInt16 = 0
    private var months = [UInt32](repeating: 0, count: 14 * 12)

    /// False when no part of the rule can exclude a day.
    let isSelective: Bool

    init(_ rule: RecurrenceRule, start: CivilDate) {
        var rule = rule
        // BYWEEKNO without other parts keeps the weekday of DTSTART; the periods take care of the weeks themselves.
        if !rule.byWeekNumber.isEmpty, rule.frequency == .yearly {
            if rule.byDay.isEmpty, rule.byMonthDay.isEmpty, rule.byYearDay.isEmpty {
                rule.byDay = [.init(.allCases[start.weekday])]
            } else {
                // The RFC forbids a number here; the first or last such weekday of a week is that weekday itself.
                rule.byDay = rule.byDay.compactMap { entry in
                    switch entry.ordinal {
                    case nil, 1, -1: .init(entry.weekday)
                    default: nil
                    }
                }
                if rule.byDay.isEmpty, rule.byMonthDay.isEmpty, rule.byYearDay.isEmpty { rule.byMonth = [0] }
            }
        }
        // A list may name a day a hundred times.
        if rule.byDay.count > 7 { rule.byDay = Array(Set(rule.byDay)) }
        if rule.byMonthDay.count > 31 { rule.byMonthDay = Array(Set(rule.byMonthDay)) }
        if rule.byYearDay.count > 31 { rule.byYearDay = Array(Set(rule.byYearDay)) }
        self.rule = rule
        self.start = start
        let nothingNamed = rule.byDay.isEmpty && rule.byMonthDay.isEmpty && rule.byYearDay.isEmpty
        fillsFromStart = nothingNamed && (rule.frequency == .monthly || rule.frequency == .yearly)
        keepsMonthOfStart =
            rule.frequency == .yearly && rule.byMonth.isEmpty && rule.byYearDay.isEmpty && rule.byWeekNumber.isEmpty
            && (nothingNamed || !rule.byMonthDay.isEmpty)
        isSelective = !nothingNamed || !rule.byMonth.isEmpty || fillsFromStart
    }

    /// The days of a month as bits: bit 0 is the first.
    mutating func month(_ month: Int, of year: YearShape) -> UInt32 {
        if known >> UInt16(year.kind) & 1 == 0 { learn(year) }
        return months[year.kind * 12 + month - 1]
    }

    /// The days of a year as bits: bit 0 is 1 January.
    mutating func days(of year: YearShape) -> DaySet {
        var days = DaySet()
        for month in 1...12 { days.insert(self.month(month, of: year), at: year.dayOfYear(month: month) - 1) }
        return days
    }

    private mutating func learn(_ year: YearShape) {
        known |= 1 << UInt16(year.kind)
        let named = namedOfYear(year)
        for month in 1...12 { months[year.kind * 12 + month - 1] = mask(month, of: year, named) }
    }

    /// The days that BYYEARDAY names, and the days that BYDAY names by a number within the year.
    private func namedOfYear(_ year: YearShape) -> (yearDays: DaySet, weekdays: DaySet) {
        var (yearDays, weekdays) = (DaySet(), DaySet())
        for day in rule.byYearDay where (-366...366).contains(day) {
            let index = day > 0 ? day : year.length + 1 + day
            if index >= 1, index <= year.length { yearDays.insert(index - 1) }
        }
        guard countsWeekdays, !countsInMonth else { return (yearDays, weekdays) }
        for entry in rule.byDay {
            if let day = day(entry, from: year.firstWeekday, within: year.length) { weekdays.insert(day - 1) }
        }
        return (yearDays, weekdays)
    }

    /// BYDAY numbers count within the month for MONTHLY and with BYMONTH (RFC erratum 1913), otherwise within the year.
    private var countsWeekdays: Bool { rule.frequency == .monthly || rule.frequency == .yearly }
    private var countsInMonth: Bool { rule.frequency == .monthly || !rule.byMonth.isEmpty }

    /// The day, from 1, of a numbered weekday in a month or year; nil when it does not exist.
    private func day(_ entry: RecurrenceRule.WeekdayNumber, from firstWeekday: Int, within span: Int) -> Int? {
        guard let ordinal = entry.ordinal, ordinal != 0, (-53...53).contains(ordinal) else { return nil }
        let first = (entry.weekday.index - firstWeekday + 7) % 7 + 1
        let last = first + (span - first) / 7 * 7
        let day = ordinal > 0 ? first + (ordinal - 1) * 7 : last + (ordinal + 1) * 7
        return day >= 1 && day <= span ? day : nil
    }

    private func mask(
        _ month: Int, of year: YearShape, _ named: (yearDays: DaySet, weekdays: DaySet)
    ) -> UInt32 {
        guard rule.byMonth.isEmpty || rule.byMonth.contains(month) else { return 0 }
        let length = year.length(ofMonth: month)
        let all = UInt32.max >> UInt32(32 - length)
        if keepsMonthOfStart, month != start.month { return 0 }
        if fillsFromStart { return all & 1 << UInt32(start.day - 1) }
        var mask = all
        let offset = year.dayOfYear(month: month) - 1
        if !rule.byYearDay.isEmpty {
            mask &= named.yearDays.bits(from: offset)
        }
        if !rule.byMonthDay.isEmpty {
            mask &= bits(rule.byMonthDay.map { $0 > 0 ? $0 : length + 1 + $0 }, within: length)
        }
        if !rule.byDay.isEmpty {
            mask &= weekdays(offset: offset, length: length, of: year) | named.weekdays.bits(from: offset)
        }
        return mask
    }

    /// The days of a month that BYDAY names without a number, or by a number within the month.
    private func weekdays(offset: Int, length: Int, of year: YearShape) -> UInt32 {
        let firstWeekday = (year.firstWeekday + offset) % 7
        var mask: UInt32 = 0
        for entry in rule.byDay {
            if entry.ordinal == nil || !countsWeekdays {
                // Sets every seventh bit; the caller removes the bits beyond the month.
                mask |= 0x1020_4081 << UInt32((entry.weekday.index - firstWeekday + 7) % 7)
            } else if countsInMonth, let day = day(entry, from: firstWeekday, within: length) {
                mask |= 1 << UInt32(day - 1)
            }
        }
        return mask
    }

    private func bits(_ days: [Int], within length: Int) -> UInt32 {
        days.reduce(0) { (1...length).contains($1) ? $0 | 1 << UInt32($1 - 1) : $0 }
    }
}

/// The length of a year and the weekday on which it begins.
struct YearShape {
    let year: Int
    /// 1 January in days since 1970-01-01.
    let firstDay: Int
    /// The weekday of 1 January; Sunday is 0.
    let firstWeekday: Int
    let isLeap: Bool

    init(_ year: Int) {
        self.year = year
        firstDay = CivilDate(uncheckedYear: year, month: 1, day: 1).daysSinceEpoch
        firstWeekday = ((firstDay + 4) % 7 + 7) % 7
        isLeap = CivilDate.isLeap(year)
    }

    /// One of the 14 kinds of year, 0 to 13.
    var kind: Int { firstWeekday * 2 + (isLeap ? 1 : 0) }
    var length: Int { isLeap ? 366 : 365 }

    func length(ofMonth month: Int) -> Int {
        month == 2 ? (isLeap ? 29 : 28) : 30 + (month + month >> 3) & 1
    }

    /// The day of the year, from 1, on which a month begins.
    func dayOfYear(month: Int) -> Int {
        month <= 2 ? (month - 1) * 31 + 1 : (153 * (month - 3) + 2) / 5 + (isLeap ? 61 : 60)
    }

    /// The first day of week 1 in days since 1970-01-01: the first week with at least four days in the year.
    func firstWeekStart(weekStart: Int) -> Int {
        let before = (firstWeekday - weekStart + 7) % 7
        return firstDay - before + (before > 3 ? 7 : 0)
    }
}
