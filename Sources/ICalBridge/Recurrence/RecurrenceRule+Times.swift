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
        var walls: [CivilDateTime] = []
        let isComplete = collect(startingAt: start, from, through, startConvention, limits) {
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
        let isComplete = collect(startingAt: start, from, through, startConvention, limits) {
            instants.append(Instant(seconds: clock.instant(ofWall: $0)))
        }
        return (instants, isComplete)
    }

    private func collect(
        startingAt start: EventTime, _ from: CivilDateTime?, _ through: CivilDateTime?,
        _ convention: StartConvention, _ limits: ExpansionLimits, _ append: (Int) -> Void
    ) -> Bool {
        var walk = SeriesRule(self, start: start)
        var steps = limits.maximumSteps
        var left = limits.maximumOccurrences
        let outcome = walk.forEach(
            from: from?.wallSeconds ?? start.civil.wallSeconds, through: through?.wallSeconds ?? RuleWalk.lastWall,
            startAlwaysCounts: convention == .always, steps: &steps
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
            // Around a change of offset the order of wall times is not the order of instants.
            let clock = WallClock(zone.rules)
            let wall = clock.wall(at: instant.seconds)
            until = wall + 86_400
            doubtful = wall - 86_400
            untilInstant = instant.seconds
            self.clock = clock
        case (.utc(let instant), _): until = instant.seconds
        }
        walk = RuleWalk(rule, start: start.civil.wallSeconds, isDate: start.isDate, until: until)
    }

    /// As `RuleWalk.forEach`.
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
