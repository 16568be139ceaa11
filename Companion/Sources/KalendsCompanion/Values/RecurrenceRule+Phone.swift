// SPDX-License-Identifier: Apache-2.0

public import Calendar

extension RecurrenceRule {
    /// Reads the value of RRULE; nil for a rule that a phone's calendar does not support: without BYHOUR and similar
    /// parts, BYWEEKNO and BYYEARDAY. Weeks begin on Mondays, and a local time of UNTIL counts as UTC.
    public init?(ofPhone text: String) {
        guard var rule = try? RecurrenceRule(text) else { return nil }
        let days: [Frequency] = [.daily, .weekly, .monthly, .yearly]
        let others = [rule.bySecond, rule.byMinute, rule.byHour, rule.byYearDay, rule.byWeekNumber]
        guard days.contains(rule.frequency), rule.interval <= 1000, others.allSatisfy(\.isEmpty),
            rule.weekStart ?? .monday == .monday || rule.frequency != .weekly || rule.interval == 1
        else { return nil }
        // Implementations disagree on which months such a rule means.
        if rule.frequency == .yearly, rule.byMonth.isEmpty, !rule.byMonthDay.isEmpty { return nil }
        rule.weekStart = nil
        if case .floating(let wall) = rule.until { rule.until = .utc(Instant(utc: wall)) }
        self = rule
    }

    /// Returns the starts, within a window, of a series whose first occurrence is at `span`.
    public func moments(of span: EventSpan, in window: TimeRange, _ zones: Zones) -> [EventMoment] {
        var rule = self
        let start: EventTime
        let length: Int
        let moved: (CivilDateTime) -> EventSpan
        switch span {
        case .allDay(let first, let last):
            let days = last.daysSinceEpoch - first.daysSinceEpoch
            (start, length) = (.date(first), (days + 1) * 86_400)
            moved = { .allDay(first: $0.date, last: $0.date.adding(days: days)) }
        case .timed(let first, let last, let zone):
            let seconds = last.total - first.total
            (start, length) = (.floating(CivilDateTime(wallSeconds: first.total)), seconds)
            moved = { wall in
                let from = WallTime(total: wall.wallSeconds)
                return .timed(start: from, end: WallTime(total: from.total + seconds), zone: zone)
            }
            if case .utc(let last) = until {
                rule.until = .floating(CivilDateTime(wallSeconds: zones.wall(last.seconds, in: zone).total))
            }
        }
        let slack = 2 * 86_400
        return rule.times(
            startingAt: start, from: CivilDateTime(wallSeconds: window.from.seconds - length - slack),
            through: CivilDateTime(wallSeconds: window.to.seconds + slack), startConvention: .ifItMatches
        ).walls.map(moved).filter { window.overlaps(zones.window(of: $0)) }.map { zones.moment(of: $0) }
    }
}
