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
        /// A yearly rule for further onsets, or nil.
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

    /// Whether the offset that is in force last is that of a local mean time, which no zone has now: all are multiples of
    /// a quarter of an hour.
    package var isMeanTime: Bool {
        guard let last = observances.max(by: { $0.start < $1.start }) else { return false }
        return last.offsetTo % 900 != 0
    }
}

extension TimeZoneDefinition: TimeZoneRules {
    public func offset(at instant: Instant) -> Int {
        var latest: (at: Int, offset: Int)?
        for observance in observances {
            if let onset = observance.lastOnset(notAfter: instant.seconds), onset >= latest?.at ?? Int.min {
                latest = (onset, observance.offsetTo)
            }
        }
        return latest?.offset ?? offsetBeforeAll
    }

    /// The offset before the first onset.
    ///
    /// Apple's iCal cut zones off before the events, and wrote +0000 as what had been there; in zones that are far from
    /// UTC the offset of the earliest STANDARD part counts instead.
    var offsetBeforeAll: Int {
        let parts = observances.sorted {
            $0.start.wallSeconds - $0.offsetFrom < $1.start.wallSeconds - $1.offsetFrom
        }
        guard let first = parts.first else { return 0 }
        guard first.offsetFrom == 0, parts.allSatisfy({ abs($0.offsetTo) > 3 * 3600 }) else { return first.offsetFrom }
        return (parts.first { !$0.isDaylight } ?? first).offsetTo
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
    /// The parts of a yearly rule that choose days; a rule that names no month, week or day of the year stays in the
    /// month of the first onset, and its days of the week are counted within that month.
    func onsetDays(like start: CivilDateTime) -> RecurrenceRule {
        var rule = RecurrenceRule(.yearly)
        (rule.byMonthDay, rule.byYearDay, rule.byDay) = (byMonthDay, byYearDay, byDay)
        rule.byMonth = byMonth.isEmpty && byYearDay.isEmpty ? [start.date.month] : byMonth
        rule.bySetPosition = bySetPosition
        return rule
    }

    /// The days of a year on which a rule made by `onsetDays(like:)` has onsets, in days since 1970, ascending.
    func onsetDays(in shape: YearShape, _ filter: inout DayFilter) -> [Int] {
        var days: [Int] = []
        _ = filter.days(of: shape).visit { day in
            days.append(shape.firstDay + day)
            return true
        }
        return bySetPosition.isEmpty ? days : SetPositions(bySetPosition).indices(among: days.count).map { days[$0] }
    }

    /// The onsets of a yearly rule within one year, in order.
    func yearlyOnsets(in year: Int, like start: CivilDateTime) -> [CivilDateTime] {
        let rule = onsetDays(like: start)
        var filter = DayFilter(rule, start: start.date)
        return rule.onsetDays(in: YearShape(year), &filter).map { day in
            CivilDateTime(
                uncheckedDate: CivilDate(daysSinceEpoch: day), hour: start.hour, minute: start.minute,
                second: start.second)
        }
    }

    /// How many onsets the rule has in a leap year.
    package func onsetCount(like start: CivilDateTime) -> Int { yearlyOnsets(in: 2000, like: start).count }

    /// Whether the rule has a part that onsets of a zone do not follow: weeks of the year, or other times of the day than
    /// that of the first onset.
    package func hasMore(thanDaysFrom start: CivilDateTime) -> Bool {
        let times = [(byHour, start.hour), (byMinute, start.minute), (bySecond, start.second)]
        return !byWeekNumber.isEmpty || times.contains { !$0.0.isEmpty && $0.0 != [$0.1] }
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
