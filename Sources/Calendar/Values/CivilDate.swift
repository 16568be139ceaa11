// SPDX-License-Identifier: Apache-2.0

/// A date in the proleptic Gregorian calendar, without a time or a zone.
///
/// RFC 5545 section 3.3.4 (DATE). Years run from 1 to 9999; text with any other year is refused.
public struct CivilDate: Hashable, Comparable, Sendable {
    // Takes eight bytes: every time of every event of a file holds one.
    private var yearNumber: Int32
    private var monthNumber: Int8
    private var dayNumber: Int8

    public var year: Int {
        get { Int(yearNumber) }
        set { yearNumber = Int32(clamping: newValue) }
    }

    public var month: Int {
        get { Int(monthNumber) }
        set { monthNumber = Int8(clamping: newValue) }
    }

    public var day: Int {
        get { Int(dayNumber) }
        set { dayNumber = Int8(clamping: newValue) }
    }

    /// Makes a date from its parts; nil when there is no such date.
    public init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month),
            day >= 1, day <= Self.daysInMonth(month, year: year)
        else { return nil }
        self.init(uncheckedYear: year, month: month, day: day)
    }

    package init(uncheckedYear year: Int, month: Int, day: Int) {
        yearNumber = Int32(clamping: year)
        monthNumber = Int8(clamping: month)
        dayNumber = Int8(clamping: day)
    }

    /// Days since 1970-01-01; negative before it.
    public var daysSinceEpoch: Int {
        // Howard Hinnant's days_from_civil: eras of 400 years that begin on 1 March.
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The date that is `daysSinceEpoch` days after 1970-01-01.
    public init(daysSinceEpoch days: Int) {
        let z = days + 719_468
        let era = (z >= 0 ? z : z - 146_096) / 146_097
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let mp = (5 * dayOfYear + 2) / 153
        let month = mp + (mp < 10 ? 3 : -9)
        self.init(
            uncheckedYear: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
            month: month,
            day: dayOfYear - (153 * mp + 2) / 5 + 1
        )
    }

    /// The day of the week; Sunday is 0.
    public var weekday: Int { (((daysSinceEpoch + 4) % 7) + 7) % 7 }

    /// The day of the week; Monday is 0.
    public var mondayBasedWeekday: Int { (weekday + 6) % 7 }

    /// The first day of this month.
    public var startOfMonth: CivilDate { adding(days: 1 - day) }

    /// The last day of this month.
    public var endOfMonth: CivilDate { adding(days: Self.daysInMonth(month, year: year) - day) }

    /// The first day of the month that is this many months after this day's, or before it if negative.
    public func firstOfMonth(adding months: Int) -> CivilDate {
        let index = year * 12 + month - 1 + months
        let year = index.floorDivided(by: 12)
        return CivilDate(uncheckedYear: year, month: index - year * 12 + 1, day: 1)
    }

    /// The date `days` later, or earlier when `days` is negative.
    public func adding(days: Int) -> CivilDate { CivilDate(daysSinceEpoch: daysSinceEpoch + days) }

    public static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    public static func daysInMonth(_ month: Int, year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    public static func < (a: CivilDate, b: CivilDate) -> Bool {
        (a.year, a.month, a.day) < (b.year, b.month, b.day)
    }
}

extension CivilDate: Strideable {
    public func distance(to other: CivilDate) -> Int { other.daysSinceEpoch - daysSinceEpoch }
    public func advanced(by days: Int) -> CivilDate { adding(days: days) }
}

/// Encoded as `2026-01-21`, also as a dictionary key.
extension CivilDate: CodedAsText {
    public init?(coded text: String) { self.init(iso: text) }
    public var coded: String { description }
}

extension CivilDate: CustomStringConvertible {
    /// The date as `2026-01-21`, RFC 3339's full-date.
    public var description: String {
        guard isOrdinary else { return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))" }
        return StampText.text(10) { $0.extended(self) }
    }

    /// The date as `20260121` (RFC 5545 section 3.3.4).
    public var basic: String {
        guard isOrdinary else { return padded(year, 4) + padded(month, 2) + padded(day, 2) }
        return StampText.text(8) { $0.basic(self) }
    }

    /// Reads `YYYY-MM-DD`; nil for anything else, and for a day that does not exist.
    public init?(iso text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            let year = digits(bytes[0..<4]), let month = digits(bytes[5..<7]), let day = digits(bytes[8..<10])
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// Reads `YYYYMMDD`; nil for anything else, and for a day that does not exist.
    public init?(basic text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 8, let year = digits(bytes[0..<4]), let month = digits(bytes[4..<6]),
            let day = digits(bytes[6..<8])
        else { return nil }
        self.init(year: year, month: month, day: day)
    }
}

/// The number that ASCII digits spell; nil when one of the bytes is not a digit.
package func digits(_ bytes: ArraySlice<UInt8>) -> Int? {
    var value = 0
    for byte in bytes {
        guard byte >= 48, byte <= 57 else { return nil }
        value = value * 10 + Int(byte - 48)
    }
    return value
}

/// A number padded with leading zeros to a width.
package func padded(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return text.utf8.count >= width ? text : String(repeating: "0", count: width - text.utf8.count) + text
}
