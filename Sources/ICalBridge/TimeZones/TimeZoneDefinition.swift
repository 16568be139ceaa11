// SPDX-License-Identifier: Apache-2.0

/// The rules of a VTIMEZONE (RFC 5545 section 3.6.5), as read from a file or as written.
public struct TimeZoneDefinition: Hashable, Sendable, Codable {
    /// One STANDARD or DAYLIGHT part.
    public struct Observance: Hashable, Sendable, Codable {
        public var isDaylight: Bool
        /// The first onset, on the wall clock with the offset `offsetFrom`.
        public var start: CivilDateTime
        /// Seconds east of UTC before and after each onset.
        public var offsetFrom: Int
        public var offsetTo: Int
        public var name: String?
        /// A yearly rule for further onsets; nil when there is none.
        public var rule: RecurrenceRule?
        /// Further onsets, on the same wall clock as `start`.
        public var additions: [CivilDateTime]

        public init(
            isDaylight: Bool, start: CivilDateTime, offsetFrom: Int, offsetTo: Int, name: String? = nil,
            rule: RecurrenceRule? = nil, additions: [CivilDateTime] = []
        ) {
            self.isDaylight = isDaylight
            self.start = start
            self.offsetFrom = offsetFrom
            self.offsetTo = offsetTo
            self.name = name
            self.rule = rule
            self.additions = additions
        }
    }

    /// The TZID.
    public var identifier: String
    public var observances: [Observance]

    public init(identifier: String, observances: [Observance]) {
        self.identifier = identifier
        self.observances = observances
    }
}

extension TimeZoneDefinition: TimeZoneRules {
    public func offset(at instant: Instant) -> Int {
        var latest: (at: Int, offset: Int)?
        var earliest: (at: Int, offset: Int)?
        for observance in observances {
            if let onset = observance.lastOnset(notAfter: instant.seconds), onset >= latest?.at ?? Int.min {
                latest = (onset, observance.offsetTo)
            }
            let first = observance.start.wallSeconds - observance.offsetFrom
            if first < earliest?.at ?? Int.max { earliest = (first, observance.offsetFrom) }
        }
        return latest?.offset ?? earliest?.offset ?? 0
    }
}

extension TimeZoneDefinition.Observance {
    /// The last onset at or before an instant, both in POSIX seconds; nil when the observance begins later.
    func lastOnset(notAfter limit: Int) -> Int? {
        let first = start.wallSeconds - offsetFrom
        guard first <= limit else { return nil }
        var last = first
        for addition in additions {
            let onset = addition.wallSeconds - offsetFrom
            if onset <= limit, onset > last { last = onset }
        }
        guard let rule else { return last }
        let year = CivilDateTime(wallSeconds: limit + offsetFrom).date.year
        // This year's onset may still be in the future; with an interval the previous one may be years back.
        for candidate in stride(from: year, through: max(year - 8, start.date.year), by: -1) {
            guard (candidate - start.date.year) % rule.interval == 0 else { continue }
            for wall in rule.yearlyOnsets(in: candidate, like: start).reversed() {
                let onset = wall.wallSeconds - offsetFrom
                guard onset <= limit, onset >= first, rule.admits(onset: onset, wall: wall, start: start, in: candidate)
                else { continue }
                return max(last, onset)
            }
        }
        return last
    }
}

extension RecurrenceRule {
    /// The parts of a yearly rule that VTIMEZONEs use; days of the week are counted within the month.
    func onsetDays(like start: CivilDateTime) -> RecurrenceRule {
        var rule = RecurrenceRule(.yearly)
        rule.byMonth = byMonth.isEmpty ? [start.date.month] : byMonth
        rule.byMonthDay = byMonthDay
        rule.byDay = byDay
        return rule
    }

    /// The onsets of a yearly rule within one year, in order; only parts that VTIMEZONEs use are supported.
    func yearlyOnsets(in year: Int, like start: CivilDateTime) -> [CivilDateTime] {
        var filter = DayFilter(onsetDays(like: start), start: start.date)
        let shape = YearShape(year)
        var onsets: [CivilDateTime] = []
        _ = filter.days(of: shape).visit { day in
            onsets.append(
                CivilDateTime(
                    uncheckedDate: CivilDate(daysSinceEpoch: shape.firstDay + day), hour: start.hour,
                    minute: start.minute, second: start.second))
            return true
        }
        return onsets
    }

    /// Whether UNTIL and COUNT allow an onset.
    func admits(onset: Int, wall: CivilDateTime, start: CivilDateTime, in year: Int) -> Bool {
        switch until {
        case .utc(let instant): if onset > instant.seconds { return false }
        case .floating(let limit): if wall > limit { return false }
        case .date(let date): if wall.date > date { return false }
        case nil: break
        }
        guard let count else { return true }
        return (year - start.date.year) / interval < count
    }
}
