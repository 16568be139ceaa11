// SPDX-License-Identifier: Apache-2.0

/// A date in the proleptic Gregorian calendar, without a time or a zone. Years run from 1 to 9999.
public struct OfficeDate: Hashable, Comparable, Sendable {
    /// Days since 1970-01-01; negative before it.
    public let dayNumber: Int

    public init(dayNumber: Int) { self.dayNumber = dayNumber }

    /// Makes a date from its parts; nil when there is no such date.
    public init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
        // Eras of 400 years that begin on 1 March, so that the leap day is the last day of its year.
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.floorDivided(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        dayNumber =
            era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        guard parts == (year, month, day) else { return nil }
    }

    /// Reads `YYYY-MM-DD` (RFC 3339, full-date); nil for anything else, and for a day that does not exist.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return nil }
        var numbers: [Int] = []
        for range in [0..<4, 5..<7, 8..<10] {
            var number = 0
            for byte in bytes[range] {
                guard byte >= 48, byte <= 57 else { return nil }
                number = number * 10 + Int(byte - 48)
            }
            numbers.append(number)
        }
        self.init(year: numbers[0], month: numbers[1], day: numbers[2])
    }

    /// The year, the month and the day of the month.
    public var parts: (year: Int, month: Int, day: Int) {
        let shifted = dayNumber + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let index = (5 * dayOfYear + 2) / 153
        let month = index + (index < 10 ? 3 : -9)
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * index + 2) / 5 + 1)
    }

    public var weekday: OfficeWeekday {
        // 1970-01-01 was a Thursday.
        let index = dayNumber + 3
        return OfficeWeekday.allCases[index - index.floorDivided(by: 7) * 7]
    }

    /// The first day of this month.
    public var startOfMonth: OfficeDate { OfficeDate(dayNumber: dayNumber - parts.day + 1) }

    /// The last day of this month.
    public var endOfMonth: OfficeDate { startOfMonth.adding(days: 31).startOfMonth.adding(days: -1) }

    /// The date `days` later, or earlier when `days` is negative.
    public func adding(days: Int) -> OfficeDate { OfficeDate(dayNumber: dayNumber + days) }

    public static func < (a: OfficeDate, b: OfficeDate) -> Bool { a.dayNumber < b.dayNumber }
}

extension OfficeDate: Strideable {
    public func distance(to other: OfficeDate) -> Int { other.dayNumber - dayNumber }
    public func advanced(by days: Int) -> OfficeDate { adding(days: days) }
}

extension OfficeDate: CustomStringConvertible {
    /// The date as `2026-01-21`.
    public var description: String {
        let (year, month, day) = parts
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }
}

/// Encoded as `2026-01-21`, also as a dictionary key.
extension OfficeDate: CodedAsText {
    public init?(coded text: String) { self.init(text) }
    public var coded: String { description }
}

/// A day of the week, named as in the settings.
public enum OfficeWeekday: String, Hashable, Sendable, Codable, CaseIterable {
    case mon, tue, wed, thu, fri, sat, sun
}

/// A number padded with leading zeros to a width.
func padded(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
}
