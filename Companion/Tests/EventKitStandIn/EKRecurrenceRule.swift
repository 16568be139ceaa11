// SPDX-License-Identifier: Apache-2.0

public import Foundation

public enum EKRecurrenceFrequency: Int, Sendable { case daily, weekly, monthly, yearly }

public enum EKWeekday: Int, Sendable {
    case sunday = 1
    case monday, tuesday, wednesday, thursday, friday, saturday
}

public final class EKRecurrenceDayOfWeek: Sendable {
    public let dayOfTheWeek: EKWeekday
    public let weekNumber: Int

    public init(_ dayOfTheWeek: EKWeekday, weekNumber: Int = 0) {
        self.dayOfTheWeek = dayOfTheWeek
        self.weekNumber = weekNumber
    }
}

public final class EKRecurrenceEnd: Sendable {
    public let endDate: Date?
    public let occurrenceCount: Int

    public init(end endDate: Date) { (self.endDate, occurrenceCount) = (endDate, 0) }
    public init(occurrenceCount: Int) { (endDate, self.occurrenceCount) = (nil, occurrenceCount) }
}

public final class EKRecurrenceRule: @unchecked Sendable {
    public let frequency: EKRecurrenceFrequency
    public let interval: Int
    public let daysOfTheWeek: [EKRecurrenceDayOfWeek]?
    // Numbers are boxed as in the original; they never change, so the class may be shared.
    public let daysOfTheMonth: [NSNumber]?
    public let monthsOfTheYear: [NSNumber]?
    public let weeksOfTheYear: [NSNumber]?
    public let daysOfTheYear: [NSNumber]?
    public let setPositions: [NSNumber]?
    public let recurrenceEnd: EKRecurrenceEnd?

    public init(
        recurrenceWith type: EKRecurrenceFrequency, interval: Int, daysOfTheWeek: [EKRecurrenceDayOfWeek]?,
        daysOfTheMonth: [NSNumber]?, monthsOfTheYear: [NSNumber]?, weeksOfTheYear: [NSNumber]?,
        daysOfTheYear: [NSNumber]?, setPositions: [NSNumber]?, end: EKRecurrenceEnd?
    ) {
        frequency = type
        self.interval = interval
        self.daysOfTheWeek = daysOfTheWeek
        self.daysOfTheMonth = daysOfTheMonth
        self.monthsOfTheYear = monthsOfTheYear
        self.weeksOfTheYear = weeksOfTheYear
        self.daysOfTheYear = daysOfTheYear
        self.setPositions = setPositions
        recurrenceEnd = end
    }

    /// Returns the starts of occurrences before `end`, by Foundation's own interpretation of the rule.
    func starts(from first: Date, before end: Date, in zone: TimeZone) -> [Date] {
        var calendar = Foundation.Calendar(identifier: .iso8601)
        calendar.timeZone = zone
        let frequencies: [Foundation.Calendar.RecurrenceRule.Frequency] = [.daily, .weekly, .monthly, .yearly]
        var rule = Foundation.Calendar.RecurrenceRule(
            calendar: calendar, frequency: frequencies[frequency.rawValue], interval: interval)
        if let last = recurrenceEnd?.endDate {
            rule.end = .afterDate(last)
        } else if let count = recurrenceEnd?.occurrenceCount, count > 0 {
            rule.end = .afterOccurrences(count)
        }
        let weekdays: [Locale.Weekday] = [.sunday, .monday, .tuesday, .wednesday, .thursday, .friday, .saturday]
        rule.weekdays = (daysOfTheWeek ?? []).map { day in
            let weekday = weekdays[day.dayOfTheWeek.rawValue - 1]
            return day.weekNumber == 0 ? .every(weekday) : .nth(day.weekNumber, weekday)
        }
        rule.daysOfTheMonth = (daysOfTheMonth ?? []).map(\.intValue)
        rule.months = (monthsOfTheYear ?? []).map { Foundation.Calendar.RecurrenceRule.Month($0.intValue) }
        rule.setPositions = (setPositions ?? []).map(\.intValue)
        guard first < end else { return [] }
        return Array(rule.recurrences(of: first, in: first..<end))
    }
}
