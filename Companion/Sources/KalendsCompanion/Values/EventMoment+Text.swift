// SPDX-License-Identifier: Apache-2.0

import Calendar
import OfficeDays

extension EventMoment {
    /// Reads RFC 3339 with an offset, or YYYY-MM-DD; nil for anything else. Fractions of a second are dropped.
    public init?(_ text: String) {
        if let day = Day(iso: text) {
            self = .day(day)
        } else if let instant = Instant(rfc3339: text) {
            self = .instant(instant.seconds)
        } else {
            return nil
        }
    }

    /// RFC 3339 in UTC, or YYYY-MM-DD.
    public var text: String {
        switch self {
        case .day(let day): day.description
        case .instant(let seconds): Instant(seconds: seconds).description
        }
    }
}

extension EventMoment: Comparable {
    public static func < (a: EventMoment, b: EventMoment) -> Bool { a.order < b.order }

    private var order: (Int, Int) {
        switch self {
        case .day(let day): (day.daysSinceEpoch * 86_400, 0)
        case .instant(let instant): (instant, 1)
        }
    }
}

extension WallTime {
    /// Reads HH:MM or HH:MM:SS as seconds after midnight; nil for anything else.
    static func seconds(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.count == 5 || (bytes.count == 8 && bytes[5] == UInt8(ascii: ":")),
            let minutes = OfficeHours.minutes(String(decoding: bytes[..<5], as: UTF8.self))
        else { return nil }
        guard bytes.count == 8 else { return minutes * 60 }
        guard bytes[6...].allSatisfy({ (48...57).contains($0) }) else { return nil }
        let second = Int(bytes[6] - 48) * 10 + Int(bytes[7] - 48)
        return second < 60 ? minutes * 60 + second : nil
    }

    /// Returns HH:MM, or HH:MM:SS when there are seconds.
    static func text(_ second: Int) -> String {
        let minutes = OfficeHours.text(second / 60)
        let rest = second % 60
        return rest == 0 ? minutes : "\(minutes):\(rest < 10 ? "0" : "")\(rest)"
    }
}
