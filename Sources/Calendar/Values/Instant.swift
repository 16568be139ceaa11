// SPDX-License-Identifier: Apache-2.0

/// A point on the UTC time line, in whole seconds.
public struct Instant: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z, without leap seconds (POSIX time).
    public var seconds: Int

    public init(seconds: Int) { self.seconds = seconds }

    /// The second that contains a time in milliseconds since 1970.
    package init(milliseconds: Int) { seconds = milliseconds.floorDivided(by: 1000) }

    package var milliseconds: Int { seconds * 1000 }

    /// The instant at which a UTC clock shows `utc`.
    public init(utc: CivilDateTime) { self.seconds = utc.wallSeconds }

    /// The time on a UTC clock at this instant.
    public var utc: CivilDateTime { CivilDateTime(wallSeconds: seconds) }

    public func adding(seconds delta: Int) -> Instant { Instant(seconds: seconds + delta) }

    public static func < (a: Instant, b: Instant) -> Bool { a.seconds < b.seconds }
}

extension Instant: CustomStringConvertible {
    /// The instant as `2026-01-21T17:00:00Z` (RFC 3339).
    public var description: String {
        let utc = utc
        guard utc.isOrdinary else { return "\(utc)Z" }
        return StampText.text(20) {
            $0.extended(utc)
            $0.write("Z")
        }
    }

    /// The instant as `20260121T170000Z` (RFC 5545 section 3.3.5, form 2).
    public var basic: String {
        let utc = utc
        guard utc.isOrdinary else { return utc.basic + "Z" }
        return StampText.text(16) {
            $0.basic(utc)
            $0.write("Z")
        }
    }

    /// Reads a time in the form `20260121T170000Z`; returns nil for anything else.
    public init?(basic text: some StringProtocol) {
        guard text.hasSuffix("Z"), let utc = CivilDateTime(basic: text.dropLast()) else { return nil }
        self.init(utc: utc)
    }

    /// The instant in RFC 3339 with an offset, as `2026-01-21T09:00:00-08:00`.
    ///
    /// RFC 3339 has no seconds in offsets, but some zones once had them: the offset is then cut to whole minutes, and
    /// the local time is given for that offset.
    public func rfc3339(offset: Int) -> String {
        let offset = offset / 60 * 60
        guard offset != 0 else { return description }
        let minutes = abs(offset) / 60
        let sign = offset < 0 ? "-" : "+"
        return
            "\(CivilDateTime(wallSeconds: seconds + offset))\(sign)\(padded(minutes / 60, 2)):\(padded(minutes % 60, 2))"
    }

    /// Reads an RFC 3339 date-time, whose offset is required; a fraction of a second is cut off.
    ///
    /// Years run from 1 to 9999; returns nil for anything else.
    public init?(rfc3339 text: some StringProtocol) {
        let b = Array(text.utf8)
        guard b.count >= 20, b[4] == 45, b[7] == 45, b[10] == 84 || b[10] == 116 || b[10] == 32, b[13] == 58,
            b[16] == 58,
            let year = digits(b[0..<4]), let month = digits(b[5..<7]), let day = digits(b[8..<10]),
            let hour = digits(b[11..<13]), let minute = digits(b[14..<16]), let second = digits(b[17..<19]),
            let date = CivilDate(year: year, month: month, day: day),
            let wall = CivilDateTime(date: date, hour: hour, minute: minute, second: second)
        else { return nil }
        var rest = b[19...]
        if rest.first == 46 {
            let fraction = rest.dropFirst().prefix { $0 >= 48 && $0 <= 57 }
            guard !fraction.isEmpty else { return nil }
            rest = rest.dropFirst(1 + fraction.count)
        }
        let zone = Array(rest)
        if zone == [90] || zone == [122] {
            self.init(utc: wall)
            return
        }
        guard zone.count == 6, zone[0] == 43 || zone[0] == 45, zone[3] == 58,
            let hours = digits(zone[1..<3]), let minutes = digits(zone[4..<6]), hours <= 23, minutes <= 59
        else { return nil }
        let offset = (hours * 60 + minutes) * 60
        self.init(seconds: wall.wallSeconds - (zone[0] == 45 ? -offset : offset))
    }
}

extension Instant: Codable {
    public init(from decoder: any Decoder) throws {
        seconds = try decoder.singleValueContainer().decode(Int.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(seconds)
    }
}
