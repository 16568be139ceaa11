// SPDX-License-Identifier: Apache-2.0

extension RecurrenceRule {
    /// How DTSTART is treated when the rule does not match it.
    public enum StartConvention: Hashable, Sendable {
        /// DTSTART is always the first occurrence and is counted in COUNT (RFC 5545 section 3.8.5.3).
        case always
        /// DTSTART is an occurrence only if the rule matches it, as in libical and python-dateutil.
        case ifItMatches
    }

    /// The times that a rule gives, and whether the list is complete.
    public struct Times: Hashable, Sendable {
        /// The times on the wall clock of DTSTART, in order; midnight for a date.
        public var walls: [CivilDateTime]
        /// False when a limit ended the expansion before the rule or the window did.
        public var isComplete: Bool
    }

    /// The wall-clock times of this rule from a DTSTART on, in order; exceptions are not applied.
    ///
    /// The rule is expanded on the wall clock of DTSTART, which is the UTC clock for a UTC time. `from` and `through`
    /// are on the same clock and both inclusive; nil leaves a side open, up to 9999-12-31 (RFC 5545 sections 3.3.10 and
    /// 3.8.5.3). An UNTIL in UTC is compared as an instant when DTSTART has a zone.
    public func times(
        startingAt start: EventTime, from: CivilDateTime? = nil, through: CivilDateTime? = nil,
        startConvention: StartConvention = .always, limits: ExpansionLimits = ExpansionLimits()
    ) -> Times {
        var budget = RecurrenceBudget(steps: limits.maximumSteps)
        return times(
            startingAt: start, from: from, through: through, startConvention: startConvention,
            maximum: limits.maximumOccurrences, budget: &budget)
    }

    /// The same times, within a budget that is shared with other expansions.
    public func times(
        startingAt start: EventTime, from: CivilDateTime? = nil, through: CivilDateTime? = nil,
        startConvention: StartConvention = .always, maximum: Int, budget: inout RecurrenceBudget
    ) -> Times {
        var walls: [CivilDateTime] = []
        let isComplete = collect(startingAt: start, from, through, startConvention, maximum, &budget) {
            walls.append(CivilDateTime(wallSeconds: $0))
        }
        return Times(walls: walls, isComplete: isComplete)
    }

    /// The same times as instants: a local time that does not exist is moved forward by the gap and still counts.
    ///
    /// `zone` is the clock of a DTSTART without a zone. Neighbouring instants around a gap may be equal or out of
    /// order.
    public func instants(
        startingAt start: EventTime, floatingIn zone: any TimeZoneRules, from: CivilDateTime? = nil,
        through: CivilDateTime? = nil, startConvention: StartConvention = .always,
        limits: ExpansionLimits = ExpansionLimits()
    ) -> (instants: [Instant], isComplete: Bool) {
        var instants: [Instant] = []
        var clock = WallClock(start.clockRules(floatingIn: zone))
        var budget = RecurrenceBudget(steps: limits.maximumSteps)
        let isComplete = collect(
            startingAt: start, from, through, startConvention, limits.maximumOccurrences, &budget
        ) {
            instants.append(Instant(seconds: clock.instant(ofWall: $0)))
        }
        return (instants, isComplete)
    }

    /// The given wall-clock times that this rule produces; nil when the budget was too small.
    public func gives(
        _ walls: [CivilDateTime], startingAt start: EventTime, startConvention: StartConvention = .always,
        budget: inout RecurrenceBudget
    ) -> Set<CivilDateTime>? {
        var walk = SeriesRule(self, start: start)
        var given: Set<CivilDateTime> = []
        // The latest comes first: after that, the end that COUNT gives the rule is known for all the others.
        for wall in Set(walls.map(\.wallSeconds)).sorted(by: >) {
            guard budget.spend(1) else { return nil }
            let outcome = walk.forEach(
                from: wall, through: wall, startAlwaysCounts: startConvention == .always, steps: &budget.left
            ) { _ in
                given.insert(CivilDateTime(wallSeconds: wall))
                return false
            }
            guard outcome != .outOfSteps else { return nil }
        }
        return given
    }

    /// The wall-clock time of the last occurrence that COUNT allows; nil without COUNT, when the calendar ends first,
    /// or when the budget was too small.
    public func last(startingAt start: EventTime, budget: inout RecurrenceBudget) -> CivilDateTime? {
        guard let count, budget.spend(1) else { return nil }
        guard count > 1 else { return start.civil }
        var walk = SeriesRule(self, start: start).walk
        let first = start.civil.wallSeconds + 1
        let last = walk.lastCounted(count - 1, from: first, through: walk.until, steps: &budget.left)
        return last.flatMap { $0 <= walk.until ? CivilDateTime(wallSeconds: $0) : nil }
    }

    private func collect(
        startingAt start: EventTime, _ from: CivilDateTime?, _ through: CivilDateTime?,
        _ convention: StartConvention, _ maximum: Int, _ budget: inout RecurrenceBudget, _ append: (Int) -> Void
    ) -> Bool {
        var walk = SeriesRule(self, start: start)
        var left = maximum
        let outcome = walk.forEach(
            from: from?.wallSeconds ?? start.civil.wallSeconds, through: through?.wallSeconds ?? RuleWalk.lastWall,
            startAlwaysCounts: convention == .always, steps: &budget.left
        ) { wall in
            guard left > 0 else { return false }
            left -= 1
            append(wall)
            return true
        }
        return outcome == .finished
    }
}

extension EventTime {
    /// The clock of a series that starts at this time.
    func clockRules(floatingIn zone: any TimeZoneRules) -> any TimeZoneRules {
        switch self {
        case .date, .floating: zone
        case .utc: FixedOffset.utc
        case .zoned(_, let own): own.rules
        }
    }
}

extension TimeZoneRules {
    /// Whether the offset is the same for two days before and after an instant.
    func isSteady(around instant: Instant) -> Bool {
        let offset = offset(at: instant)
        return [-2, -1, 1, 2].allSatisfy { self.offset(at: instant.adding(seconds: $0 * 86_400)) == offset }
    }
}

/// A rule of a series, with its UNTIL converted to the clock of DTSTART.
struct SeriesRule {
    var walk: RuleWalk
    /// The UTC UNTIL of a zoned series: from `doubtful` on, wall times are compared with it as instants.
    private var untilInstant: Int?
    private var doubtful = Int.max
    private var clock: WallClock?

    init(_ rule: RecurrenceRule, start: EventTime) {
        var until = RuleWalk.lastWall
        switch (rule.until, start) {
        case (nil, _): break
        case (.date(let date), _):
            // A date as the limit of timed occurrences, which the RFC forbids, means the end of that day.
            until = date.daysSinceEpoch * 86_400 + 86_399
        case (.floating(let wall), _): until = wall.wallSeconds
        case (.utc(let instant), .zoned(_, let zone)):
            let clock = WallClock(zone.rules)
            let wall = clock.wall(at: instant.seconds)
            if zone.rules.isSteady(around: instant) {
                until = wall
            } else {
                // Around a change of offset, wall times and instants are not in the same order.
                until = wall + 86_400
                doubtful = wall - 86_400
                untilInstant = instant.seconds
                self.clock = clock
            }
        case (.utc(let instant), _): until = instant.seconds
        }
        walk = RuleWalk(rule, start: start.civil.wallSeconds, isDate: start.isDate, until: until)
    }

    /// Calls `body` as `RuleWalk.forEach` does.
    mutating func forEach(
        from low: Int, through high: Int, startAlwaysCounts: Bool, steps: inout Int, _ body: (Int) -> Bool
    ) -> RuleWalk.Outcome {
        guard let untilInstant, var clock else {
            return walk.forEach(
                from: low, through: high, startAlwaysCounts: startAlwaysCounts, steps: &steps, body)
        }
        let doubtful = self.doubtful
        let start = walk.start
        return walk.forEach(from: low, through: high, startAlwaysCounts: startAlwaysCounts, steps: &steps) { wall in
            if wall > doubtful, clock.instant(ofWall: wall) > untilInstant, !(startAlwaysCounts && wall == start) {
                return true
            }
            return body(wall)
        }
    }
}
