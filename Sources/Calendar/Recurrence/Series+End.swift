// SPDX-License-Identifier: Apache-2.0

extension Series {
    /// When the last occurrence ends, so that a series that is over can be left out of a feed's window.
    ///
    /// EXDATEs and overrides are applied, but EXRULEs are not: with them the series may end earlier than reported. For
    /// a series without any occurrence, `.at` is its DTSTART; a series without any time is `.unknown`.
    public func end(floatingIn zone: any TimeZoneRules, limits: ExpansionLimits = ExpansionLimits()) -> SeriesEnd {
        var budget = RecurrenceBudget(steps: limits.maximumSteps)
        return end(floatingIn: zone, budget: &budget)
    }

    /// The same end, within a budget that is shared with other expansions; `.unknown` when the budget was too small.
    public func end(floatingIn zone: any TimeZoneRules, budget: inout RecurrenceBudget) -> SeriesEnd {
        guard budget.spend(listedCount) else { return .unknown }
        var ends = overrides.compactMap { $0.replacement(of: master)?.end.instant(floatingIn: zone) }
        if let master, var plan = SeriesPlan(master, overrides: overrides, floatingIn: zone) {
            if ends.isEmpty { ends.append(plan.start.instant(floatingIn: zone)) }
            var last: [SeriesPlan.Candidate] = master.recurrence.additions.indices.map {
                plan.candidate(ofAddition: $0)
            }
            last.append(.init(key: plan.key(ofWall: plan.startWall), wall: plan.startWall))
            for rule in master.recurrence.rules {
                switch plan.lastOccurrence(of: rule, steps: &budget.left) {
                case .none: break
                case .at(let candidate): last.append(candidate)
                case .never: return .never
                case .unknown: return .unknown
                }
            }
            for candidate in last where !plan.isTaken(key: candidate.key, wall: candidate.wall) {
                ends.append(plan.occurrence(candidate).end.instant(floatingIn: zone))
            }
        }
        return ends.max().map { .at($0) } ?? .unknown
    }

    /// The steps that the dates and overrides of the series cost before any rule is expanded.
    public var listedCount: Int {
        let recurrence = master?.recurrence
        return overrides.count * 2 + (recurrence?.exclusions.count ?? 0) + (recurrence?.additions.count ?? 0)
    }
}

extension SeriesPlan {
    enum LastOccurrence {
        case none
        case at(Candidate)
        case never
        case unknown
    }

    /// The last occurrence of one rule, not counting DTSTART.
    mutating func lastOccurrence(of rule: RecurrenceRule, steps: inout Int) -> LastOccurrence {
        var walk = SeriesRule(rule, start: start)
        if rule.count == nil, rule.until == nil {
            // The calendar repeats, and so do the rule's times: one occurrence means that there is no end.
            let outcome = walk.forEach(
                from: startWall + 1, through: walk.walk.endOfCycle, startAlwaysCounts: true, steps: &steps
            ) { _ in false }
            switch outcome {
            case .finished: return .none
            case .stopped: return .never
            case .outOfSteps: return .unknown
            }
        }
        var until = walk.walk.until
        if let count = rule.count {
            guard count > 1 else { return .none }
            guard
                let last = walk.walk.lastCounted(count - 1, from: startWall + 1, through: until, steps: &steps)
            else { return .unknown }
            until = min(until, last)
        }
        return lastOccurrence(of: &walk, until: until, steps: &steps)
    }

    /// The last occurrence of a rule that has an end, searched from the end backwards in longer and longer spans.
    private mutating func lastOccurrence(of walk: inout SeriesRule, until: Int, steps: inout Int) -> LastOccurrence {
        var span = walk.walk.shortestSpan
        let cycle = walk.walk.endOfCycle - startWall
        var end = until
        while true {
            let low = span < until - startWall ? until - span : startWall + 1
            guard low <= end else { return .none }
            let (outcome, last, givesAny) = latest(of: &walk, from: low, through: end, steps: &steps)
            switch outcome {
            case .outOfSteps: return .unknown
            case .finished:
                if let last { return .at(last) }
                // A time that the rule does not reach in a whole cycle is never reached.
                if low == startWall + 1 || !givesAny && span > cycle { return .none }
                end = low - 1
                span *= 8
            case .stopped:
                guard var last else { return .unknown }
                // There are many occurrences: each check rules out half of what is left.
                while last.wall < end {
                    let middle = last.wall + (end - last.wall + 1) / 2
                    let (outcome, later, _) = latest(of: &walk, from: middle, through: end, steps: &steps)
                    switch outcome {
                    case .outOfSteps: return .unknown
                    case .finished:
                        if let later { return .at(later) }
                        end = middle - 1
                    case .stopped: last = later ?? last
                    }
                }
                return .at(last)
            }
        }
    }

    /// The maximum number of occurrences that are checked one by one in search of the last.
    private static let few = 64

    /// The latest occurrence of a span; `.stopped` when it holds so many that not all were checked.
    private mutating func latest(
        of walk: inout SeriesRule, from low: Int, through high: Int, steps: inout Int
    ) -> (RuleWalk.Outcome, Candidate?, givesAny: Bool) {
        var last: Candidate?
        var (count, givesAny) = (0, false)
        let outcome = walk.forEach(from: low, through: high, startAlwaysCounts: true, steps: &steps) { wall in
            givesAny = true
            let key = key(ofWall: wall)
            guard !isTaken(key: key, wall: wall) else { return true }
            if key >= last?.key ?? Int.min { last = Candidate(key: key, wall: wall) }
            count += 1
            return count < Self.few
        }
        return (outcome, last, givesAny)
    }
}

extension RuleWalk {
    /// The wall time by which the rule has reached everything that it will ever reach: the calendar repeats every 400
    /// years, and a rule that steps by several days, weeks or months repeats after a multiple of that.
    var endOfCycle: Int {
        let days = 146_097
        let (step, cycle) =
            switch frequency {
            case .yearly: (interval, 400)
            case .monthly: (interval, 4800)
            case .weekly: (interval, days / 7)
            default: (interval * unit, days * 86_400)
            }
        let cycles = step / greatestCommonDivisor(step, cycle)
        // DTSTART may be anywhere in its period.
        return cycles > 20 ? Self.lastWall : min(Self.lastWall, start + cycles * days * 86_400 + 400 * 86_400)
    }

    /// A span in seconds that contains some of the rule's times, if the rule has no gaps.
    fileprivate var shortestSpan: Int {
        let days =
            switch frequency {
            case .yearly: 366
            case .monthly: 31
            case .weekly: 7
            default: 0
            }
        return 2 * min(interval, 20_000) * (days == 0 ? unit : days * 86_400)
    }
}
