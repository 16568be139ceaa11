// SPDX-License-Identifier: Apache-2.0

import Calendar
public import OfficeDays

/// A recurrence rule that repeats on days, as phones' calendars support it (RFC 5545 section 3.3.10, without BYHOUR and
/// similar parts, BYWEEKNO and BYYEARDAY).
public struct DayRule: Hashable, Sendable {
    public enum Frequency: String, Hashable, Sendable, CaseIterable {
        case daily = "DAILY"
        case weekly = "WEEKLY"
        case monthly = "MONTHLY"
        case yearly = "YEARLY"
    }

    public struct Weekday: Hashable, Sendable {
        public var day: OfficeWeekday
        /// The weekday's number within its month or year: 1 is the first, -1 the last, 0 each.
        public var number: Int

        public init(_ day: OfficeWeekday, number: Int = 0) {
            self.day = day
            self.number = number
        }
    }

    public enum End: Hashable, Sendable {
        case count(Int)
        /// The last start, an instant or a day.
        case until(EventMoment)
    }

    public var frequency: Frequency
    public var interval = 1
    public var weekdays: [Weekday] = []
    public var monthDays: [Int] = []
    public var months: [Int] = []
    public var positions: [Int] = []
    public var end: End?

    public init(_ frequency: Frequency) { self.frequency = frequency }

    /// Reads the value of RRULE; nil for a rule that a phone's calendar does not support. Weeks begin on Mondays.
    public init?(_ text: String) {
        var rule: DayRule?
        var parts: [(name: String, value: String)] = []
        for part in text.split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { return nil }
            parts.append((pair[0].uppercased(), pair[1].uppercased()))
            if parts.last?.name == "FREQ" { rule = Frequency(text: pair[1].uppercased()).map { DayRule($0) } }
        }
        guard var rule else { return nil }
        for (name, value) in parts where name != "FREQ" {
            guard rule.take(name, value) else { return nil }
        }
        // Implementations disagree on which months such a rule means.
        if rule.frequency == .yearly, rule.months.isEmpty, !rule.monthDays.isEmpty { return nil }
        self = rule
    }

    private mutating func take(_ name: String, _ value: String) -> Bool {
        func numbers(_ range: ClosedRange<Int>) -> [Int]? {
            let numbers = value.split(separator: ",").map { Int($0) }
            return numbers.allSatisfy { $0.map { range.contains($0) && $0 != 0 } ?? false }
                ? numbers.compactMap(\.self) : nil
        }
        switch name {
        case "INTERVAL":
            guard let number = Int(value), (1...1000).contains(number) else { return false }
            interval = number
        case "COUNT":
            guard end == nil, let count = Int(value), count > 0 else { return false }
            end = .count(count)
        case "UNTIL":
            guard end == nil, let moment = Self.moment(value) else { return false }
            end = .until(moment)
        case "WKST":
            guard value == "MO" || frequency != .weekly || interval == 1 else { return false }
        case "BYDAY":
            let days = value.split(separator: ",").map { Weekday(String($0)) }
            guard days.allSatisfy({ $0 != nil }) else { return false }
            weekdays = days.compactMap(\.self)
        case "BYMONTHDAY":
            guard let days = numbers(-31...31) else { return false }
            monthDays = days
        case "BYMONTH":
            guard let found = numbers(1...12) else { return false }
            months = found
        case "BYSETPOS":
            guard let found = numbers(-366...366) else { return false }
            positions = found
        default: return false
        }
        return true
    }

    /// Reads 20260301 and 20260301T090000Z; a local time counts as UTC.
    private static func moment(_ text: String) -> EventMoment? {
        let bytes = Array(text.utf8)
        guard bytes.count == 8 || bytes.count == 15 || bytes.count == 16 else { return nil }
        func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        guard let day = Day(iso: "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))") else { return nil }
        if bytes.count == 8 { return .day(day) }
        guard let second = WallTime.seconds("\(part(9..<11)):\(part(11..<13)):\(part(13..<15))") else { return nil }
        return .instant(day.daysSinceEpoch * 86_400 + second)
    }

    /// The value of RRULE.
    public var text: String {
        var text = "FREQ=\(frequency.rawValue)"
        if interval > 1 { text += ";INTERVAL=\(interval)" }
        switch end {
        case .count(let count)?: text += ";COUNT=\(count)"
        case .until(.day(let day))?: text += ";UNTIL=\(day.description.filter { !$0.is("-") })"
        case .until(.instant(let instant))?:
            let wall = WallTime(total: instant)
            text += ";UNTIL=\(wall.day.description.filter { !$0.is("-") })T"
            text += WallTime.text(wall.second, withSeconds: true).filter { !$0.is(":") } + "Z"
        case nil: break
        }
        func list(_ name: String, _ numbers: [Int]) -> String {
            numbers.isEmpty ? "" : ";\(name)=" + numbers.map { String($0) }.joined(separator: ",")
        }
        text += list("BYMONTH", months) + list("BYMONTHDAY", monthDays)
        if !weekdays.isEmpty { text += ";BYDAY=" + weekdays.map(\.text).joined(separator: ",") }
        return text + list("BYSETPOS", positions)
    }
}

extension DayRule.Weekday {
    private static let names = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

    init?(_ text: String) {
        guard let index = Self.names.firstIndex(of: String(text.suffix(2))) else { return nil }
        let number = text.dropLast(2)
        guard number.isEmpty || Int(number).map({ (-53...53).contains($0) && $0 != 0 }) == true else { return nil }
        self.init(OfficeWeekday.allCases[index], number: Int(number) ?? 0)
    }

    var text: String {
        let index = OfficeWeekday.allCases.firstIndex(of: day) ?? 0
        return (number == 0 ? "" : String(number)) + Self.names[index]
    }
}
