// SPDX-License-Identifier: Apache-2.0

extension Series {
    /// When the last occurrence ends, so that a series that is over can be left out of a feed's window.
    ///
    /// EXDATEs and overrides are heeded, EXRULEs are not: with them the series may end earlier than told. `.at` of a
    /// series without any occurrence is its DTSTART; a series without any time is `.unknown`.
    public func end(floatingIn zone: any TimeZoneRules, limits: ExpansionLimits = ExpansionLimits()) -> SeriesEnd {
        var ends = overrides.compactMap { $0.replacement(of: master)?.end.instant(floatingIn: zone) }
        if let master, var plan = SeriesPlan(master, overrides: overrides, floatingIn: zone) {
            if ends.isEmpty { ends.append(plan.start.instant(floatingIn: zone)) }
            var last: [SeriesPlan.Candidate] = master.recurrence.additions.map { plan.candidate($0) }
            last.append(.init(key: plan.key(ofWall: plan.startWall), wall: plan.startWall))
            var steps = limits.maximumSteps
            for rule in master.recurrence.rules {
                switch plan.lastOccurrence(of: rule, steps: &steps) {
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
}

extension SeriesPlan {
    enum LastOccurrence {
        case none
        case at(Candidate)
        case never
        case unknown
    }

    /// The last occurrence of one rule, DTSTART aside.
    mutating func lastOccurrence(of rule: RecurrenceRule, steps: inout Int) -> LastOccurrence {
        var walk = SeriesRule(rule, start: start)
        if rule.count == nil, rule.until == nil {
            // The calendar repeats, and with it what the rule finds in it: one occurrence means no end.
            let outcome = walk.forEach(
                from: startWall + 1, through: RuleWalk.lastWall, startAlwaysCounts: true, steps: &steps
            ) { _ in false }
            switch outcome {
            case .finished: return .none
            case .stopped: return .never
            case .outOfSteps: return .unknown
            }
        }
        // UNTIL is approached from behind, in longer and longer spans; COUNT can only be counted out.
        let until = walk.walk.until
        let spans = rule.count == nil ? [2, 35, 400, 4000, 40_000].map { $0 * 86_400 } + [Int.max] : [Int.max]
        for span in spans {
            let low = span == Int.max ? startWall + 1 : max(startWall + 1, until - span)
            var last: Candidate?
            let outcome = walk.forEach(from: low, through: until, startAlwaysCounts: true, steps: &steps) { wall in
                let key = key(ofWall: wall)
                if !isTaken(key: key, wall: wall), key >= last?.key ?? Int.min {
                    last = Candidate(key: key, wall: wall)
                }
                return true
            }
            guard outcome == .finished else { return .unknown }
            if let last { return .at(last) }
            if low == startWall + 1 { break }
        }
        return .none
    }
}
