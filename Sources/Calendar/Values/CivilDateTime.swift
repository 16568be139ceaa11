// SPDX-License-Identifier: Apache-2.0

/// A date and a time of day as a wall clock shows them, without a zone.
///
/// RFC 5545 section 3.3.5 (DATE-TIME, form 1). Whole seconds; a leap second (60) is read as 59.
public struct CivilDateTime: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00 on the same wall clock, without reference to a zone.
    public let wallSeconds: Int

    /// The wall-clock time that is `wallSeconds` seconds after 1970-01-01T00:00:00.
    public init(wallSeconds: Int) { self.wallSeconds = wallSeconds }

    /// Makes a time of day on a date; nil when the hour, minute or second is out of range.
    public init?(date: CivilDate, hour: Int, minute: Int, second: Int = 0) {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second) else { return nil }
        self.init(uncheckedDate: date, hour: hour, minute: minute, second: min(second, 59))
    }

    package init(uncheckedDate date: CivilDate, hour: Int, minute: Int, second: Int) {
        wallSeconds = date.daysSinceEpoch * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Midnight at the beginning of `date`.
    public init(startOf date: CivilDate) {
        self.init(uncheckedDate: date, hour: 0, minute: 0, second: 0)
    }

    /// Days since 1970-01-01; negative before it.
    private var daysSinceEpoch: Int { floorDivide(wallSeconds, by: 86_400) }
    private var secondOfDay: Int { wallSeconds - daysSinceEpoch * 86_400 }

    /// The date, and the seconds since its midnight.
    var parts: (date: CivilDate, second: Int) {
        let days = daysSinceEpoch
        return (CivilDate(daysSinceEpoch: days), wallSeconds - days * 86_400)
    }

    public var date: CivilDate {
        get { CivilDate(daysSinceEpoch: daysSinceEpoch) }
        set { self = CivilDateTime(wallSeconds: newValue.daysSinceEpoch * 86_400 + secondOfDay) }
    }

    public var hour: Int { secondOfDay / 3600 }
    public var minute: Int { secondOfDay % 3600 / 60 }
    public var second: Int { secondOfDay % 60 }

    /// The wall-clock time `seconds` later, or earlier when `seconds` is negative.
    public func adding(seconds: Int) -> CivilDateTime { CivilDateTime(wallSeconds: wallSeconds + seconds) }

    public static func < (a: CivilDateTime, b: CivilDateTime) -> Bool { a.wallSeconds < b.wallSeconds }
}

extension CivilDateTime: Codable {
    private enum CodingKeys: String, CodingKey { case date, hour, minute, second }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let time = CivilDateTime(
            date: try container.decode(CivilDate.self, forKey: .date),
            hour: try container.decode(Int.self, forKey: .hour),
            minute: try container.decode(Int.self, forKey: .minute),
            second: try container.decode(Int.self, forKey: .second))
        guard let time else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "This is not a time of day."))
        }
        self = time
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let (date, second) = (date, secondOfDay)
        try container.encode(date, forKey: .date)
        try container.encode(second / 3600, forKey: .hour)
        try container.encode(second % 3600 / 60, forKey: .minute)
        try container.encode(second % 60, forKey: .second)
    }
}

extension CivilDateTime: CustomStringConvertible {
    /// The time as `2026-01-21T09:00:00`.
    public var description: String {
        guard isOrdinary else { return "\(date)T\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))" }
        return StampText.text(19) { $0.extended(self) }
    }

    /// The time as `20260121T090000` (RFC 5545 section 3.3.5).
    public var basic: String {
        guard isOrdinary else { return date.basic + "T" + padded(hour, 2) + padded(minute, 2) + padded(second, 2) }
        return StampText.text(15) { $0.basic(self) }
    }

    /// Reads `YYYYMMDDTHHMMSS`; nil for anything else, and for a time that does not exist.
    public init?(basic text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 15, bytes[8] == UInt8(ascii: "T"),
            let year = digits(bytes[0..<4]), let month = digits(bytes[4..<6]), let day = digits(bytes[6..<8]),
            let hour = digits(bytes[9..<11]), let minute = digits(bytes[11..<13]),
            let second = digits(bytes[13..<15]),
            let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        self.init(date: date, hour: hour, minute: minute, second: second)
    }
}
