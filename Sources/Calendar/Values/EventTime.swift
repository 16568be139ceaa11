// SPDX-License-Identifier: Apache-2.0

/// A start or an end, in one of the forms that RFC 5545 defines (sections 3.3.4 and 3.3.5).
public enum EventTime: Hashable, Sendable, Codable {
    /// A whole day.
    case date(CivilDate)
    /// A time on the clock of whatever zone the reader is in (form 1).
    case floating(CivilDateTime)
    /// A time in UTC (form 2).
    case utc(Instant)
    /// A time on the clock of a zone (form 3).
    case zoned(CivilDateTime, TimeZoneReference)

    public var isDate: Bool {
        if case .date = self { true } else { false }
    }

    /// The day that the wall clock shows.
    public var civilDate: CivilDate { civil.date }

    /// The time that the wall clock shows: midnight for a date, the UTC clock for a UTC time.
    public var civil: CivilDateTime {
        switch self {
        case .date(let date): CivilDateTime(startOf: date)
        case .floating(let wall), .zoned(let wall, _): wall
        case .utc(let instant): instant.utc
        }
    }

    /// The zone of a zoned time; nil for the other forms.
    public var zone: TimeZoneReference? {
        if case .zoned(_, let zone) = self { zone } else { nil }
    }

    /// The same form and zone with another wall-clock time; a date keeps only the date.
    public func with(civil: CivilDateTime) -> EventTime {
        switch self {
        case .date: .date(civil.date)
        case .floating: .floating(civil)
        case .utc: .utc(Instant(utc: civil))
        case .zoned(_, let zone): .zoned(civil, zone)
        }
    }

    /// The instant of this time; `zone` is used for a date or a floating time, which have no zone.
    ///
    /// A local time that the clock skips is moved forward by the gap; for one that occurs twice, the first is meant.
    public func instant(floatingIn zone: any TimeZoneRules) -> Instant {
        switch self {
        case .date(let date): zone.instant(of: CivilDateTime(startOf: date))
        case .floating(let wall): zone.instant(of: wall)
        case .utc(let instant): instant
        case .zoned(let wall, let own): own.rules.instant(of: wall)
        }
    }
}

/// A length of time as in RFC 5545 section 3.3.6: days are nominal (a day may have 23 hours), the rest is exact.
public struct ICalDuration: Hashable, Sendable, Codable {
    /// Whole days; negative for a time before.
    public var days: Int
    /// Exact seconds, with the same sign as `days`.
    public var seconds: Int

    public init(days: Int = 0, seconds: Int = 0) {
        self.days = days
        self.seconds = seconds
    }

    public var isNegative: Bool { days < 0 || seconds < 0 }

    /// The length in seconds if every day has 24 hours.
    public var nominalSeconds: Int { days * 86_400 + seconds }
}

extension ICalDuration: CustomStringConvertible {
    /// The duration as `-PT15M`, `P1D` or `P1DT2H` (RFC 5545 section 3.3.6).
    public var description: String {
        var text = isNegative ? "-P" : "P"
        let days = abs(days)
        let seconds = abs(seconds)
        if seconds == 0, days > 0, days % 7 == 0 { return text + "\(days / 7)W" }
        if days > 0 { text += "\(days)D" }
        guard seconds > 0 || days == 0 else { return text }
        text += "T"
        let (h, m, s) = (seconds / 3600, seconds % 3600 / 60, seconds % 60)
        if h > 0 { text += "\(h)H" }
        if m > 0 || (h > 0 && s > 0) { text += "\(m)M" }
        if s > 0 || seconds == 0 { text += "\(s)S" }
        return text
    }

    /// Reads a duration; accepts spaces and lower case, and returns nil for anything else unknown.
    ///
    /// - Parameter isLenient: accepts weeks and days also after the T, where some programs write them.
    public init?(text: some StringProtocol, isLenient: Bool = false) {
        var rest = Array(text.uppercased().utf8.filter { $0 != 32 })[...]
        var sign = 1
        if let first = rest.first, first == 43 || first == 45 {
            sign = first == 45 ? -1 : 1
            rest = rest.dropFirst()
        }
        guard rest.first == 80 else { return nil }
        rest = rest.dropFirst()
        var days = 0
        var seconds = 0
        var inTime = false
        var parts = 0
        while let first = rest.first {
            if first == 84 {
                guard !inTime else { return nil }
                inTime = true
                rest = rest.dropFirst()
                continue
            }
            let number = rest.prefix { $0 >= 48 && $0 <= 57 }
            guard !number.isEmpty, number.count <= 9, let value = digits(number) else { return nil }
            rest = rest.dropFirst(number.count)
            switch (rest.first, inTime) {
            case (87, _) where isLenient || !inTime: days += value * 7
            case (68, _) where isLenient || !inTime: days += value
            case (72, true): seconds += value * 3600
            case (77, true): seconds += value * 60
            case (83, true): seconds += value
            default: return nil
            }
            parts += 1
            rest = rest.dropFirst()
        }
        guard parts > 0 else { return nil }
        self.init(days: sign * days, seconds: sign * seconds)
    }
}
