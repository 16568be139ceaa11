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

extension DayRule {
    /// Nil for a rule with parts that a `DayRule` cannot hold.
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
        weekdays = (rule.daysOfTheWeek ?? []).map { day in
            Weekday(OfficeWeekday.allCases[(day.dayOfTheWeek.rawValue + 5) % 7], number: day.weekNumber)
        }
        monthDays = (rule.daysOfTheMonth ?? []).map(\.intValue)
        months = (rule.monthsOfTheYear ?? []).map(\.intValue)
        positions = (rule.setPositions ?? []).map(\.intValue)
        if let last = rule.recurrenceEnd?.endDate {
            let second = Int(last.timeIntervalSince1970.rounded(.down))
            end = .until(isAllDay ? .day(zones.wall(second, in: zones.device()).day) : .instant(second))
        } else if let count = rule.recurrenceEnd?.occurrenceCount, count > 0 {
            end = .count(count)
        }
    }

    func eventKit(_ zones: Zones) -> EKRecurrenceRule {
        let frequencies: [Frequency: EKRecurrenceFrequency] = [
            .daily: .daily, .weekly: .weekly, .monthly: .monthly, .yearly: .yearly,
        ]
        var last: EKRecurrenceEnd?
        switch end {
        case .count(let count)?: last = EKRecurrenceEnd(occurrenceCount: count)
        case .until(.instant(let second))?:
            last = EKRecurrenceEnd(end: Date(timeIntervalSince1970: Double(second)))
        case .until(.day(let day))?:
            let after = zones.instant(WallTime(day.adding(days: 1), second: 0), in: zones.device())
            last = EKRecurrenceEnd(end: Date(timeIntervalSince1970: Double(after - 1)))
        case nil: break
        }
        func numbers(_ list: [Int]) -> [NSNumber]? { list.isEmpty ? nil : list.map { NSNumber(value: $0) } }
        let days = weekdays.compactMap { weekday -> EKRecurrenceDayOfWeek? in
            guard let index = OfficeWeekday.allCases.firstIndex(of: weekday.day),
                let day = EKWeekday(rawValue: (index + 1) % 7 + 1)
            else { return nil }
            return EKRecurrenceDayOfWeek(day, weekNumber: weekday.number)
        }
        return EKRecurrenceRule(
            recurrenceWith: frequencies[frequency] ?? .daily, interval: interval,
            daysOfTheWeek: days.isEmpty ? nil : days, daysOfTheMonth: numbers(monthDays),
            monthsOfTheYear: numbers(months), weeksOfTheYear: nil, daysOfTheYear: nil,
            setPositions: numbers(positions), end: last)
    }
}
