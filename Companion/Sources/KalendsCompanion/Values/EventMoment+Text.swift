// SPDX-License-Identifier: Apache-2.0

import Calendar
import OfficeDays

extension EventMoment {
    /// Reads RFC 3339 with an offset, or YYYY-MM-DD; nil for anything else. Fractions of a second are dropped.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 10, let day = Day(iso: String(decoding: bytes[..<10], as: UTF8.self)) else { return nil }
        if bytes.count == 10 {
            self = .day(day)
            return
        }
        guard bytes.count >= 20, bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: "t"),
            let second = WallTime.seconds(String(decoding: bytes[11..<19], as: UTF8.self))
        else { return nil }
        var rest = bytes[19...]
        if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst().drop { (48...57).contains($0) } }
        guard let offset = Self.offset(Array(rest)) else { return nil }
        self = .instant(day.daysSinceEpoch * 86_400 + second - offset)
    }

    /// RFC 3339 in UTC, or YYYY-MM-DD.
    public var text: String {
        switch self {
        case .day(let day): return day.description
        case .instant(let instant):
            let wall = WallTime(total: instant)
            return "\(wall.day)T\(WallTime.text(wall.second, withSeconds: true))Z"
        }
    }

    private static func offset(_ bytes: [UInt8]) -> Int? {
        if bytes == [UInt8(ascii: "Z")] || bytes == [UInt8(ascii: "z")] { return 0 }
        guard bytes.count == 6, bytes[3] == UInt8(ascii: ":"),
            let minutes = OfficeHours.minutes(String(decoding: bytes[1...], as: UTF8.self))
        else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "+"): return minutes * 60
        case UInt8(ascii: "-"): return -minutes * 60
        default: return nil
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

    /// Returns HH:MM, or HH:MM:SS when there are seconds or they are requested.
    static func text(_ second: Int, withSeconds: Bool = false) -> String {
        let minutes = OfficeHours.text(second / 60)
        let rest = second % 60
        return rest == 0 && !withSeconds ? minutes : "\(minutes):\(rest < 10 ? "0" : "")\(rest)"
    }
}
