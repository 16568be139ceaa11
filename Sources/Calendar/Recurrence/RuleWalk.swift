// SPDX-License-Identifier: Apache-2.0

/// A rule and its DTSTART, prepared for walking along the wall clock.
///
/// All times are wall-clock seconds since 1970-01-01T00:00:00, and all days are days since then. Zones play no part
/// here: rules are defined in wall time (RFC 5545 section 3.3.10), which is converted afterwards.
struct RuleWalk {
    /// Why a walk ended.
    enum Outcome {
        /// The rule gives no further times up to the requested end.
        case finished
        /// The caller asked to stop.
        case stopped
        /// The steps were used up first.
        case outOfSteps
    }

    /// 9999-12-31T23:59:59, the last time that RFC 5545 can express.
    static let lastWall = 253_402_300_799
    /// In years this is beyond the calendar, and in seconds it is far from overflow.
    private static let longestInterval = 1 << 40

    let rule: RecurrenceRule
    let frequency: RecurrenceRule.Frequency
    let interval: Int
    let start: Int
    let startDay: Int
    let weekStart: Int
    /// The seconds of the smallest unit: a day for DAILY and above, otherwise the frequency itself.
    let unit: Int
    /// The seconds within a unit at which occurrences start. BYSETPOS is already applied when the unit is the period.
    let times: TimesOfDay
    /// The hours, minutes and seconds to which a sub-daily rule is limited; all bits are set without a limit.
    let hours: UInt64
    let minutes: UInt64
    let seconds: UInt64
    /// The BYSETPOS of WEEKLY, MONTHLY and YEARLY rules.
    let positions: SetPositions?
    /// The last wall time that UNTIL may allow.
    let until: Int
    var filter: DayFilter
    /// Whether the steps of a sub-daily rule ever reach a time that its parts allow; nil until this has been checked.
    var knownReachable: Bool?
    /// The current walk ignores everything before this wall time.
    var floor = -(1 << 60)
    /// The number of occurrences before the one that is searched for; nil unless occurrences are only being counted.
    var countdown: Int?
    /// The occurrence at which a countdown ended.
    var counted = 0
    /// Where COUNT ends the rule, as far as it has been counted.
    var knownEnd: CountedEnd?

    /// Prepares a rule. `until` is the rule's UNTIL as wall time; `isDate` is whether DTSTART is a date.
    init(_ rule: RecurrenceRule, start: Int, isDate: Bool, until: Int) {
        var rule = rule
        if isDate {
            // In a series of whole days the time parts mean nothing (section 3.3.10), and a day is the finest step.
            rule.byHour = []
            rule.byMinute = []
            rule.bySecond = []
            let step = min(max(rule.interval, 1), Self.longestInterval)
            switch rule.frequency {
            case .secondly: (rule.frequency, rule.interval) = (.daily, max(step / 86_400, 1))
            case .minutely: (rule.frequency, rule.interval) = (.daily, max(step / 1440, 1))
            case .hourly: (rule.frequency, rule.interval) = (.daily, max(step / 24, 1))
            default: break
            }
        }
        self.rule = rule
        self.start = start
        self.until = min(until, Self.lastWall)
        frequency = rule.frequency
        interval = min(max(rule.interval, 1), Self.longestInterval)
        startDay = floorDivide(start, by: 86_400)
        weekStart = (rule.weekStart ?? .monday).index
        let time = start - startDay * 86_400
        unit =
            switch rule.frequency {
            case .secondly: 1
            case .minutely: 60
            case .hourly: 3600
            default: 86_400
            }
        // A part that is finer than the unit expands; a coarser one limits.
        let leapSafe = rule.bySecond.map { min($0, 59) }
        hours = unit < 86_400 ? Self.bits(rule.byHour) : .max
        minutes = unit < 3600 ? Self.bits(rule.byMinute) : .max
        seconds = unit < 60 ? Self.bits(leapSafe) : .max
        let inner = TimesOfDay(
            hours: unit < 86_400 ? [0] : rule.byHour.isEmpty ? [time / 3600] : rule.byHour,
            minutes: unit < 3600 ? [0] : rule.byMinute.isEmpty ? [time % 3600 / 60] : rule.byMinute,
            seconds: unit < 60 ? [0] : leapSafe.isEmpty ? [time % 60] : leapSafe)
        let positions = rule.bySetPosition.isEmpty ? nil : SetPositions(rule.bySetPosition)
        if [.weekly, .monthly, .yearly].contains(rule.frequency) {
            self.positions = positions
            times = inner
        } else {
            self.positions = nil
            times = positions.map { TimesOfDay($0, of: inner) } ?? inner
        }
        filter = DayFilter(rule, start: CivilDate(daysSinceEpoch: startDay))
    }

    /// Calls `body` with the rule's times from `low` to `high`, each once and in order, until it returns false.
    ///
    /// Times before DTSTART are never passed. The walk jumps to the period that contains `low`; the end that COUNT
    /// gives the rule is found once, by counting whole periods. `steps` falls by about one for each candidate that is
    /// checked.
    mutating func forEach(
        from low: Int, through high: Int, startAlwaysCounts: Bool, steps: inout Int, _ body: (Int) -> Bool
    ) -> Outcome {
        var left = max(rule.count ?? Int.max, 0)
        var end = min(high, until)
        var first = start
        if startAlwaysCounts {
            // DTSTART is the first instance whatever the rule is (section 3.8.5.3), even after the rule's own UNTIL.
            left -= 1
            first += 1
            if start >= low, start <= high, !body(start) { return .stopped }
        }
        guard left > 0, end >= first else { return .finished }
        if rule.count != nil, low > first {
            guard let last = lastCounted(left, from: first, through: end, steps: &steps) else { return .outOfSteps }
            end = min(end, last)
            left = Int.max
        }
        let from = max(first, low)
        guard from <= end else { return .finished }
        floor = from
        var isDone = false
        let outcome = candidates(from: from, through: end, steps: &steps) { wall in
            guard wall >= from else { return true }
            guard wall <= end else {
                isDone = true
                return false
            }
            if !body(wall) { return false }
            left -= 1
            isDone = left <= 0
            return !isDone
        }
        return isDone ? .finished : outcome
    }

    /// Whether the rule only steps by a fixed number of seconds.
    var isUniform: Bool {
        unit * interval > 0 && frequency != .weekly && frequency != .monthly && frequency != .yearly
            && !filter.isSelective && times.count == 1 && hours == .max && minutes == .max && seconds == .max
            && rule.bySetPosition.isEmpty
    }

    mutating func candidates(
        from low: Int, through end: Int, steps: inout Int, _ body: (Int) -> Bool
    ) -> Outcome {
        guard times.count > 0 else { return .finished }
        switch frequency {
        case .yearly:
            return rule.byWeekNumber.isEmpty
                ? years(from: low, through: end, steps: &steps, body)
                : weekYears(from: low, through: end, steps: &steps, body)
        case .monthly: return months(from: low, through: end, steps: &steps, body)
        case .weekly: return weeks(from: low, through: end, steps: &steps, body)
        default: return units(from: low, through: end, steps: &steps, body)
        }
    }

    private static func bits(_ values: [Int]) -> UInt64 {
        values.isEmpty ? .max : values.reduce(0) { (0...59).contains($1) ? $0 | 1 << UInt64($1) : $0 }
    }
}
