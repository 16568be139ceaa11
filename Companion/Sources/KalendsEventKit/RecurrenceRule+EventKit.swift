// SPDX-License-Identifier: Apache-2.0

internal import Calendar
import Foundation
import KalendsCompanion
import OfficeDays

#if canImport(EventKit)
internal import EventKit
#else
internal import EventKitStandIn
#endif

extension RecurrenceRule {
    /// Nil for a rule that phones' calendars do not read alike.
    init?(_ rule: EKRecurrenceRule, isAllDay: Bool, _ zones: Zones) {
        guard rule.weeksOfTheYear?.isEmpty ?? true, rule.daysOfTheYear?.isEmpty ?? true else { return nil }
        switch rule.frequency {
        case .daily: self.init(.daily)
        case .weekly: self.init(.weekly)
        case .monthly: self.init(.monthly)
        case .yearly: self.init(.yearly)
        @unknown default: return nil
        }
        interval = max(1, rule.interval)
        // EventKit numbers weekdays from 1 for Sunday.
        byDay = (rule.daysOfTheWeek ?? []).map { day in
            WeekdayNumber(
                Weekday.allCases[day.dayOfTheWeek.rawValue - 1], ordinal: day.weekNumber == 0 ? nil : day.weekNumber)
        }
        byMonthDay = (rule.daysOfTheMonth ?? []).map(\.intValue)
        byMonth = (rule.monthsOfTheYear ?? []).map(\.intValue)
        bySetPosition = (rule.setPositions ?? []).map(\.intValue)
        if let last = rule.recurrenceEnd?.endDate {
            let second = Int(last.timeIntervalSince1970.rounded(.down))
            until = isAllDay ? .date(zones.wall(second, in: zones.device()).day) : .utc(Instant(seconds: second))
        } else if let most = rule.recurrenceEnd?.occurrenceCount, most > 0 {
            count = most
        }
    }

    /// A rule that was read with `init(ofPhone:)` as EventKit says it.
    func eventKit(_ zones: Zones) -> EKRecurrenceRule {
        let frequencies: [Frequency: EKRecurrenceFrequency] = [
            .daily: .daily, .weekly: .weekly, .monthly: .monthly, .yearly: .yearly,
        ]
        var last = count.map { EKRecurrenceEnd(occurrenceCount: $0) }
        switch until {
        case .utc(let instant)?: last = EKRecurrenceEnd(end: Date(instant))
        case .date(let day)?:
            let after = zones.instant(WallTime(day.adding(days: 1), second: 0), in: zones.device())
            last = EKRecurrenceEnd(end: Date(Instant(seconds: after - 1)))
        case .floating?, nil: break
        }
        func numbers(_ list: [Int]) -> [NSNumber]? { list.isEmpty ? nil : list.map { NSNumber(value: $0) } }
        let days = byDay.compactMap { day in
            EKWeekday(rawValue: day.weekday.index + 1).map {
                EKRecurrenceDayOfWeek($0, weekNumber: day.ordinal ?? 0)
            }
        }
        return EKRecurrenceRule(
            recurrenceWith: frequencies[frequency] ?? .daily, interval: interval,
            daysOfTheWeek: days.isEmpty ? nil : days, daysOfTheMonth: numbers(byMonthDay),
            monthsOfTheYear: numbers(byMonth), weeksOfTheYear: nil, daysOfTheYear: nil,
            setPositions: numbers(bySetPosition), end: last)
    }
}
