// SPDX-License-Identifier: Apache-2.0

/// A complete and valid recurrence rule (RFC 5545 section 3.3.10).
public struct RecurrenceRule: Hashable, Sendable, Codable {
    public enum Frequency: String, Hashable, Sendable, Codable, CaseIterable {
        case secondly = "SECONDLY"
        case minutely = "MINUTELY"
        case hourly = "HOURLY"
        case daily = "DAILY"
        case weekly = "WEEKLY"
        case monthly = "MONTHLY"
        case yearly = "YEARLY"
    }

    public enum Weekday: String, Hashable, Sendable, Codable, CaseIterable {
        case sunday = "SU"
        case monday = "MO"
        case tuesday = "TU"
        case wednesday = "WE"
        case thursday = "TH"
        case friday = "FR"
        case saturday = "SA"

        /// The number of the weekday; Sunday is 0, as in `CivilDate.weekday`.
        public var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// A weekday (`MO`), or the second (`2MO`) or last (`-1MO`) such day of a month or year.
    public struct WeekdayNumber: Hashable, Sendable, Codable {
        public var ordinal: Int?
        public var weekday: Weekday

        public init(_ weekday: Weekday, ordinal: Int? = nil) {
            self.weekday = weekday
            self.ordinal = ordinal
        }
    }

    /// Where a rule ends, in the form in which the text gives it: a date, a wall-clock time or a UTC time.
    public enum Until: Hashable, Sendable, Codable {
        case date(CivilDate)
        case floating(CivilDateTime)
        case utc(Instant)
    }

    public var frequency: Frequency
    public var interval = 1
    public var count: Int?
    public var until: Until?
    public var bySecond: [Int] = []
    public var byMinute: [Int] = []
    public var byHour: [Int] = []
    public var byDay: [WeekdayNumber] = []
    public var byMonthDay: [Int] = []
    public var byYearDay: [Int] = []
    public var byWeekNumber: [Int] = []
    public var byMonth: [Int] = []
    public var bySetPosition: [Int] = []
    /// The first day of the week; nil means Monday.
    public var weekStart: Weekday?

    public init(_ frequency: Frequency) { self.frequency = frequency }
}

extension RecurrenceRule: CustomStringConvertible {
    /// The value of an RRULE property, with its parts in the RFC's order.
    public var description: String {
        var parts = ["FREQ=\(frequency.rawValue)"]
        switch until {
        case .date(let date): parts.append("UNTIL=\(date.basic)")
        case .floating(let wall): parts.append("UNTIL=\(wall.basic)")
        case .utc(let instant): parts.append("UNTIL=\(instant.basic)")
        case nil: break
        }
        if let count { parts.append("COUNT=\(count)") }
        if interval != 1 { parts.append("INTERVAL=\(interval)") }
        func list(_ name: String, _ values: [Int]) {
            if !values.isEmpty { parts.append(name + "=" + values.map(String.init).joined(separator: ",")) }
        }
        list("BYSECOND", bySecond)
        list("BYMINUTE", byMinute)
        list("BYHOUR", byHour)
        if !byDay.isEmpty {
            let days = byDay.map { ($0.ordinal.map(String.init) ?? "") + $0.weekday.rawValue }
            parts.append("BYDAY=" + days.joined(separator: ","))
        }
        list("BYMONTHDAY", byMonthDay)
        list("BYYEARDAY", byYearDay)
        list("BYWEEKNO", byWeekNumber)
        list("BYMONTH", byMonth)
        list("BYSETPOS", bySetPosition)
        if let weekStart { parts.append("WKST=\(weekStart.rawValue)") }
        return parts.joined(separator: ";")
    }
}
