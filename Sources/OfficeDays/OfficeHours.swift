// SPDX-License-Identifier: Apache-2.0

import Calendar

/// The hours that timed events show, the same for every day. They end on the day on which they start.
public struct OfficeHours: Hashable, Sendable {
    /// The start in minutes after midnight, 0 to 1439.
    public let start: Int
    /// The end in minutes after midnight, later than `start`.
    public let end: Int

    /// Nine to five, the default.
    public static let usual = OfficeHours(uncheckedStart: 540, end: 1020)

    private init(uncheckedStart start: Int, end: Int) {
        self.start = start
        self.end = end
    }

    /// Makes hours from minutes after midnight; nil when a value is out of range, or the end is not later than the
    /// start.
    public init?(start: Int, end: Int) {
        guard (0..<1440).contains(start), (0..<1440).contains(end), start < end else { return nil }
        self.init(uncheckedStart: start, end: end)
    }

    /// Reads `HH:MM`, 00:00 to 23:59, as minutes after midnight; nil for anything else.
    public static func minutes(_ text: some StringProtocol) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
            bytes.enumerated().allSatisfy({ $0.offset == 2 || ($0.element >= 48 && $0.element <= 57) })
        else { return nil }
        let digits = bytes.map { Int($0) - 48 }
        let (hour, minute) = (digits[0] * 10 + digits[1], digits[3] * 10 + digits[4])
        return hour < 24 && minute < 60 ? hour * 60 + minute : nil
    }

    /// Formats minutes after midnight as `HH:MM`.
    public static func text(_ minutes: Int) -> String { "\(padded(minutes / 60, 2)):\(padded(minutes % 60, 2))" }

    /// The hours as `09:00-17:00`, the text that is hashed for a UID.
    public var spelled: String { "\(Self.text(start))-\(Self.text(end))" }

    /// The hours as `9:00 AM – 5:00 PM`, as notes show them.
    public var shown: String { "\(Self.face(start)) – \(Self.face(end))" }

    /// A time on a twelve-hour clock: midnight is 12:00 AM, noon is 12:00 PM.
    private static func face(_ minutes: Int) -> String {
        let hour = minutes / 60
        return "\((hour + 11) % 12 + 1):\(padded(minutes % 60, 2)) \(hour < 12 ? "AM" : "PM")"
    }
}

extension OfficeHours: Codable {
    private enum CodingKeys: String, CodingKey { case start, end }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let start = Self.minutes(try container.decode(String.self, forKey: .start)),
            let end = Self.minutes(try container.decode(String.self, forKey: .end)),
            let hours = OfficeHours(start: start, end: end)
        else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "These are not valid hours of a day."))
        }
        self = hours
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.text(start), forKey: .start)
        try container.encode(Self.text(end), forKey: .end)
    }
}
