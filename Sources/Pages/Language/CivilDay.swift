// SPDX-License-Identifier: Apache-2.0

/// A day of the Gregorian calendar, without a zone.
public struct CivilDay: Hashable, Sendable, Comparable {
    /// The number of days since 1970-01-01.
    public let number: Int

    public init(number: Int) { self.number = number }

    /// Days beyond the month's end continue into the next month.
    public init(year: Int, month: Int, day: Int) {
        // Howard Hinnant's days_from_civil.
        let years = month <= 2 ? year - 1 : year
        let era = years.floorDivided(by: 400)
        let ofEra = years - era * 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        number = era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    /// Reads `YYYY-MM-DD`; nil unless the day exists.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for byte in bytes[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        self.init(year: year, month: month, day: day)
        guard parts == (year, month, day) else { return nil }
    }

    public static func < (left: CivilDay, right: CivilDay) -> Bool { left.number < right.number }

    public var parts: (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let ofEra = shifted - era * 146_097
        let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9)
        return (year + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    /// The day of the week; Monday is 0.
    public var weekday: Int { ((number + 3) % 7 + 7) % 7 }

    public func adding(_ days: Int) -> CivilDay { CivilDay(number: number + days) }

    /// The first day of the month that is this many months after this day's, or before it if negative.
    public func firstOfMonth(adding months: Int = 0) -> CivilDay {
        let parts = parts
        let index = parts.year * 12 + parts.month - 1 + months
        return CivilDay(year: index.floorDivided(by: 12), month: (index % 12 + 12) % 12 + 1, day: 1)
    }

    /// The day as `YYYY-MM-DD`.
    public var iso: String {
        let parts = parts
        func padded(_ value: Int, _ width: Int) -> String {
            String(repeating: "0", count: max(0, width - String(value).count)) + String(value)
        }
        return "\(padded(parts.year, 4))-\(padded(parts.month, 2))-\(padded(parts.day, 2))"
    }
}
