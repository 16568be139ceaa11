// SPDX-License-Identifier: Apache-2.0

package import ICalBridge

extension Instant {
    /// An HTTP date (RFC 9110 section 5.6.7).
    package var httpDate: String {
        let wall = utc
        // Every poll's answer has one, and interpolation takes many times as long.
        var text: [UInt8] = []
        text.reserveCapacity(29)
        func addTwo(_ number: Int) { text += [48 + UInt8(number / 10), 48 + UInt8(number % 10)] }
        text += Self.days[wall.date.weekday].utf8
        text += ", ".utf8
        addTwo(wall.date.day)
        text.append(32)
        text += Self.months[wall.date.month - 1].utf8
        text.append(32)
        text += String(wall.date.year).utf8
        for (separator, number) in [(UInt8(32), wall.hour), (58, wall.minute), (58, wall.second)] {
            text.append(separator)
            addTwo(number)
        }
        text += " GMT".utf8
        return String(decoding: text, as: UTF8.self)
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    /// Reads an HTTP date in any of its three forms; returns nil for anything else, which a server has to ignore.
    package init?(httpDate text: String) {
        let words = text.split(whereSeparator: { $0.is(" ") || $0.is(",") || $0.is("-") }).map(String.init)
        let parts: (day: String, month: String, year: String, time: String)
        if words.count == 6, words[5] == "GMT" {
            parts = (words[1], words[2], words[3], words[4])
        } else if words.count == 5 {
            parts = (words[2], words[1], words[4], words[3])
        } else {
            return nil
        }
        let time = parts.time.split(separator: ":").compactMap { Int($0) }
        guard let month = Self.months.firstIndex(of: parts.month), let day = Int(parts.day), var year = Int(parts.year),
            time.count == 3
        else { return nil }
        // Two digits belong to the obsolete form, in which a year far in the future means one in the past.
        if parts.year.count == 2 { year += year < 70 ? 2000 : 1900 }
        guard let date = CivilDate(year: year, month: month + 1, day: day),
            let wall = CivilDateTime(date: date, hour: time[0], minute: time[1], second: time[2])
        else { return nil }
        self.init(utc: wall)
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

/// Returns milliseconds since 1970 as an RFC 3339 time in UTC.
func rfc3339(milliseconds: Int) -> String { Instant(milliseconds: milliseconds).description }

extension JSONValue {
    /// Creates an RFC 3339 time in UTC from milliseconds since 1970, or null from nil.
    package init(milliseconds: Int?) { self = milliseconds.map { .string(rfc3339(milliseconds: $0)) } ?? .null }
}
