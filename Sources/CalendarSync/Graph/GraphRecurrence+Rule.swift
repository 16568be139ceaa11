// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

extension GraphRecurrence {
    /// Returns the rule of RFC 5545 that yields the same days.
    ///
    /// Where a month does not have a day, Outlook uses its last day, but the RFC leaves the month out: the 31st of each
    /// month is `BYMONTHDAY=-1`.
    ///
    /// - Parameters:
    ///   - first: the first occurrence in the local time of the series.
    ///   - clock: the zone of the series.
    func rule(first: CivilDateTime, clock: any TimeZoneRules) throws(NotExpressible) -> RecurrenceRule {
        var rule: RecurrenceRule
        switch kind {
        case .daily: rule = RecurrenceRule(.daily)
        case .weekly:
            rule = RecurrenceRule(.weekly)
            rule.byDay = days.map { .init($0) }
            // The start of a week matters only for several days a week, at an interval of more than one week.
            if interval > 1, days.count > 1, let weekStart, weekStart != .monday { rule.weekStart = weekStart }
        case .absoluteMonthly:
            rule = RecurrenceRule(.monthly)
            switch dayOfMonth ?? 1 {
            case 31: rule.byMonthDay = [-1]
            case let day where day > 28:
                rule.byMonthDay = Array(28...day)
                rule.bySetPosition = [-1]
            case let day: rule.byMonthDay = [day]
            }
        case .absoluteYearly:
            rule = RecurrenceRule(.yearly)
            let month = month ?? 1
            rule.byMonth = [month]
            let day = dayOfMonth ?? 1
            rule.byMonthDay = month == 2 && day > 28 ? [-1] : [min(day, CivilDate.daysInMonth(month, year: 2001))]
        case .relativeMonthly, .relativeYearly:
            rule = RecurrenceRule(kind == .relativeMonthly ? .monthly : .yearly)
            if kind == .relativeYearly, let month { rule.byMonth = [month] }
            let position = (index ?? .first).position
            if days.count == 1 {
                rule.byDay = [.init(days[0], ordinal: position)]
            } else {
                // For a set of days without a name in Outlook, only the first and the last of the month are certain.
                guard days.isKindOfDay || index == .first || index == .last else {
                    throw NotExpressible("Outlook has no name for the set of days that the recurrence counts.")
                }
                rule.byDay = days.map { .init($0) }
                rule.bySetPosition = [position]
            }
        }
        rule.interval = interval
        switch end {
        case .never: break
        case .after(let count): rule.count = count
        case .on(let date):
            let last = CivilDateTime(date: date, hour: first.hour, minute: first.minute, second: first.second)
            rule.until = .utc(clock.instant(of: last ?? CivilDateTime(startOf: date)))
        }
        return rule
    }

    /// The maximum number of occurrences that Outlook counts; a longer series ends on its last day instead.
    static let mostCounted = 999

    /// Makes the pattern that yields the same days as a rule.
    ///
    /// - Parameters:
    ///   - first: DTSTART in the local time of the series, which the rule must yield.
    ///   - clock: the zone of the series.
    init(
        _ rule: RecurrenceRule, first: CivilDateTime, clock: any TimeZoneRules
    ) throws(NotExpressible) {
        guard rule.byHour.isEmpty || rule.byHour == [first.hour],
            rule.byMinute.isEmpty || rule.byMinute == [first.minute],
            rule.bySecond.isEmpty || rule.bySecond == [first.second]
        else { throw NotExpressible("Outlook repeats an event at only one time of day.") }
        guard rule.byWeekNumber.isEmpty, rule.byYearDay.isEmpty else {
            throw NotExpressible("Outlook does not count weeks or days of the year.")
        }
        switch rule.frequency {
        case .secondly, .minutely, .hourly:
            throw NotExpressible("Outlook does not repeat an event more than once a day.")
        case .daily: self = try Self.daily(rule, first.date)
        case .weekly: self = try Self.weekly(rule, first.date)
        case .monthly: self = try Self.monthly(rule, first.date)
        case .yearly: self = try Self.yearly(rule, first.date)
        }
        guard interval <= (kind == .daily ? 999 : 99) else {
            throw NotExpressible("Outlook does not repeat an event at intervals this long.")
        }
        var endless = rule
        endless.count = nil
        endless.until = nil
        let given = endless.times(
            startingAt: .floating(first), from: first, through: first, startConvention: .ifItMatches,
            limits: ExpansionLimits(maximumOccurrences: 1, maximumSteps: 100_000))
        guard given.walls == [first] else {
            throw NotExpressible(
                "Outlook begins a series only on a day of its rule, and the first event is on another day.")
        }
        end = try Self.end(of: rule, first: first, clock: clock)
    }

    private static func end(
        of rule: RecurrenceRule, first: CivilDateTime, clock: any TimeZoneRules
    ) throws(NotExpressible) -> End {
        if let count = rule.count {
            guard count > mostCounted else { return .after(count) }
            var budget = RecurrenceBudget(steps: 1_000_000)
            guard let last = rule.last(startingAt: .floating(first), budget: &budget) else {
                throw NotExpressible("Outlook does not repeat an event this often.")
            }
            return .on(last.date)
        }
        let last: CivilDate
        switch rule.until {
        case nil: return .never
        case .date(let date): last = date
        case .floating(let wall): last = lastDay(wall, first)
        case .utc(let instant): last = lastDay(clock.civil(at: instant), first)
        }
        // DTSTART takes place whatever UNTIL says.
        return last < first.date ? .after(1) : .on(last)
    }

    /// Returns the last day on which an occurrence at the time of `first` is not after `limit`.
    private static func lastDay(_ limit: CivilDateTime, _ first: CivilDateTime) -> CivilDate {
        let onTheDay = CivilDateTime(
            date: limit.date, hour: first.hour, minute: first.minute, second: first.second)
        return onTheDay.map { $0 <= limit } ?? true ? limit.date : limit.date.adding(days: -1)
    }

    private static func daily(_ rule: RecurrenceRule, _ first: CivilDate) throws(NotExpressible) -> Self {
        guard rule.byMonth.isEmpty, rule.byMonthDay.isEmpty, rule.bySetPosition.isEmpty else { throw beyond }
        if rule.byDay.isEmpty { return Self(kind: .daily, interval: rule.interval, start: first) }
        guard rule.interval == 1 else { throw beyond }
        return Self(kind: .weekly, interval: 1, days: rule.byDay.map(\.weekday).inOrder, start: first)
    }

    private static func weekly(_ rule: RecurrenceRule, _ first: CivilDate) throws(NotExpressible) -> Self {
        guard rule.byMonth.isEmpty, rule.bySetPosition.isEmpty else { throw beyond }
        let days = rule.byDay.isEmpty ? [RecurrenceRule.Weekday.allCases[first.weekday]] : rule.byDay.map(\.weekday)
        return Self(
            kind: .weekly, interval: rule.interval, days: days.inOrder, weekStart: rule.weekStart ?? .monday,
            start: first)
    }

    private static func monthly(_ rule: RecurrenceRule, _ first: CivilDate) throws(NotExpressible) -> Self {
        guard rule.byMonth.isEmpty else { throw beyond }
        if rule.byDay.isEmpty {
            let day: Int
            switch (Set(rule.byMonthDay), rule.bySetPosition) {
            case ([28, 29], [-1]): day = 29
            case ([28, 29, 30], [-1]): day = 30
            case ([28, 29, 30, 31], [-1]), ([-1], []): day = 31
            case ([], []): day = first.day
            case (let days, []) where days.count == 1: day = days.first ?? 0
            default: throw beyond
            }
            let isLast = rule.byMonthDay == [-1] || !rule.bySetPosition.isEmpty
            guard day >= 1 else { throw beyond }
            guard day <= 28 || isLast else {
                throw NotExpressible(
                    "Outlook moves day \(day) to the last day of a shorter month, and this rule leaves the month out.")
            }
            return Self(kind: .absoluteMonthly, interval: rule.interval, dayOfMonth: day, start: first)
        }
        // Every Monday of every month is every Monday.
        if rule.interval == 1, rule.byMonthDay.isEmpty, rule.bySetPosition.isEmpty,
            rule.byDay.allSatisfy({ $0.ordinal == nil })
        {
            return Self(
                kind: .weekly, interval: 1, days: rule.byDay.map(\.weekday).inOrder, weekStart: .monday, start: first)
        }
        let (days, index) = try counted(rule)
        return Self(kind: .relativeMonthly, interval: rule.interval, days: days, index: index, start: first)
    }

    private static func yearly(_ rule: RecurrenceRule, _ first: CivilDate) throws(NotExpressible) -> Self {
        guard rule.byMonth.count <= 1 else { throw beyond }
        if rule.byDay.isEmpty {
            guard rule.bySetPosition.isEmpty, rule.byMonthDay.count <= 1 else { throw beyond }
            // A day of the month without a month means that day of every month.
            guard !rule.byMonth.isEmpty || rule.byMonthDay.isEmpty else { throw beyond }
            let month = rule.byMonth.first ?? first.month
            let wanted = rule.byMonthDay.first ?? first.day
            let length = CivilDate.daysInMonth(month, year: 2001)
            let day = wanted == -1 ? (month == 2 ? 29 : length) : wanted
            guard day >= 1 else { throw beyond }
            guard day <= length || wanted == -1 else {
                throw NotExpressible(
                    "Outlook moves day \(day) to the last day of a shorter month, and this rule leaves the year out.")
            }
            return Self(kind: .absoluteYearly, interval: rule.interval, month: month, dayOfMonth: day, start: first)
        }
        guard let month = rule.byMonth.first else { throw beyond }
        let (days, index) = try counted(rule)
        return Self(
            kind: .relativeYearly, interval: rule.interval, month: month, days: days, index: index, start: first)
    }

    /// Reads `2MO`, or `MO,TU,WE,TH,FR` with BYSETPOS.
    private static func counted(
        _ rule: RecurrenceRule
    ) throws(NotExpressible) -> (days: [RecurrenceRule.Weekday], index: Index) {
        guard rule.byMonthDay.isEmpty else { throw beyond }
        let days = rule.byDay.map(\.weekday).inOrder
        let ordinals = rule.byDay.map(\.ordinal)
        let position: Int
        if rule.byDay.count == 1, let ordinal = ordinals[0] {
            guard rule.bySetPosition.isEmpty else { throw beyond }
            position = ordinal
        } else {
            guard ordinals.allSatisfy({ $0 == nil }), rule.bySetPosition.count == 1 else { throw beyond }
            position = rule.bySetPosition[0]
        }
        guard let index = Index(position: position) else {
            throw NotExpressible("Outlook counts only the first four days of a kind in a month, and the last.")
        }
        guard days.isKindOfDay || index == .first || index == .last else { throw beyond }
        return (days, index)
    }

    private static var beyond: NotExpressible { NotExpressible("Outlook has no recurrence like this one.") }
}
