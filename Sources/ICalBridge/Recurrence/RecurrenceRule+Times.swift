// SPDX-License-Identifier: Apache-2.0

extension RecurrenceRule {
    /// What DTSTART means to a rule that does not match it.
    public enum StartConvention: Hashable, Sendable {
        /// DTSTART is always the first occurrence and counts as one of COUNT (RFC 5545 section 3.8.5.3).
        case always
        /// DTSTART is an occurrence only if the rule matches it, as libical and python-dateutil have it.
        case ifItMatches
    }

    /// The times that a rule gives, and whether they are all.
    public struct Times: Hashable, Sendable {
        /// On the wall clock of DTSTART, in order; midnight for a day without a time.
        public var walls: [CivilDateTime]
        /// False when a limit ended the expansion before the rule or the window did.
        public var isComplete: Bool
    }

    /// The wall-clock times of this rule from a DTSTART on, in order, without exceptions.
    ///
    /// Times step on the wall clock of DTSTART, which is UTC's for a UTC time. `from` and `through` are on it too and
    /// both included; nil leaves a side open, up to 9999-12-31 (RFC 5545 sections 3.3.10 and 3.8.5.3). An UNTIL in
    /// UTC is compared as an instant when DTSTART has a zone.
    public func times(
        startingAt start: EventTime, from: CivilDateTime? = nil, through: CivilDateTime? = nil,
        startConvention: StartConvention = .always, limits: ExpansionLimits = ExpansionLimits()
    ) -> Times {
        var budget = RecurrenceBudget(steps: limits.maximumSteps)
        return times(
            startingAt: start, from: from, through: through, startConvention: startConvention,
            maximum: limits.maximumOccurrences, budget: &budget)
    }

    /// The same within a budget that others share.
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
    /// `zone` is the clock of a DTSTART that names none. Neighbours around a gap may be equal or out of order.
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

    /// Which of some wall-clock times this rule gives; nil when the budget did not suffice.
    public func gives(
        _ walls: [CivilDateTime], startingAt start: EventTime, startConvention: StartConvention = .always,
        budget: inout RecurrenceBudget
    ) -> Set<CivilDateTime>? {
        var walk = SeriesRule(self, start: start)
        var given: Set<CivilDateTime> = []
        // The latest first: where COUNT ends the rule is then known for all the others.
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

    /// The wall-clock time that COUNT ends this rule with; nil without COUNT, when the calendar ends before, or when the
    /// budget did not suffice.
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
    /// The clock on which a series that starts at this time keeps time.
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

/// A rule of a series, with its UNTIL read on the clock of DTSTART.
struct SeriesRule {
    var walk: RuleWalk
    /// An UNTIL in UTC of a zoned series: from `doubtful` on, wall times are compared with it as instants.
    private var untilInstant: Int?
    private var doubtful = Int.max
    private var clock: WallClock?

    init(_ rule: RecurrenceRule, start: EventTime) {
        var until = RuleWalk.lastWall
        switch (rule.until, start) {
        case (nil, _): break
        case (.date(let date), _):
            // A day as the limit of timed occurrences, which the RFC forbids, is meant to its end.
            until = date.daysSinceEpoch * 86_400 + 86_399
        case (.floating(let wall), _): until = wall.wallSeconds
        case (.utc(let instant), .zoned(_, let zone)):
            let clock = WallClock(zone.rules)
            let wall = clock.wall(at: instant.seconds)
            if zone.rules.isSteady(around: instant) {
                until = wall
            } else {
                // Around a change of offset the order of wall times is not the order of instants.
                until = wall + 86_400
                doubtful = wall - 86_400
                untilInstant = instant.seconds
                self.clock = clock
            }
        case (.utc(let instant), _): until = instant.seconds
        }
        walk = RuleWalk(rule, start: start.civil.wallSeconds, isDate: start.isDate, until: until)
    }

    /// Like `RuleWalk.forEach`.
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
