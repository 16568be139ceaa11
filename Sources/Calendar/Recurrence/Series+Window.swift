// SPDX-License-Identifier: Apache-2.0

extension Series {
    /// Whether any occurrence overlaps [from, to), or starts within it without a length; the search ends at the first
    /// one.
    ///
    /// Returns nil when the budget was too small to decide.
    public func overlaps(
        from: Instant, to: Instant, floatingIn zone: any TimeZoneRules, budget: inout RecurrenceBudget
    ) -> Bool? {
        guard from < to else { return false }
        guard budget.spend(listedCount) else { return nil }
        guard master?.recurrence.exclusionRules.isEmpty != false else {
            // The occurrences that an EXRULE removes are known only once all occurrences are found.
            let found = occurrences(from: from, to: to, floatingIn: zone, maximum: 10_000, budget: &budget)
            return found.occurrences.isEmpty ? found.isComplete ? false : nil : true
        }
        let window = Window(from: from, to: to, zone: zone)
        for event in overrides {
            if let occurrence = event.replacement(of: master), window.shows(occurrence) { return true }
        }
        guard let master, var plan = SeriesPlan(master, overrides: overrides, floatingIn: zone) else { return false }
        return plan.meets(window, steps: &budget.left)
    }

    /// The given instants at which occurrences of the series itself start, regardless of its overrides.
    ///
    /// Returns nil when the budget was too small. DTSTART must be a time, not a date.
    public func starts(
        among instants: [Instant], floatingIn zone: any TimeZoneRules, budget: inout RecurrenceBudget
    ) -> Set<Instant>? {
        guard budget.spend(listedCount + instants.count) else { return nil }
        guard let master, var plan = SeriesPlan(master, overrides: [], floatingIn: zone) else { return [] }
        return plan.starts(among: instants, steps: &budget.left)
    }

    /// Expands the series as far as a server ever does: to its end, and in search of an occurrence in twenty years.
    ///
    /// - Returns: the end; nil when that takes more than `RecurrenceBudget.perSeries` steps, or more than are left.
    public func followed(floatingIn zone: any TimeZoneRules, budget: inout RecurrenceBudget) -> SeriesEnd? {
        budget.within(RecurrenceBudget.perSeries) { part in
            let end = end(floatingIn: zone, budget: &part)
            guard !part.isSpent else { return nil }
            // The window begins some time after the start, where a rule with COUNT has to be counted.
            guard let start = master?.anchor?.instant(floatingIn: zone), master?.recurrence.rules.isEmpty == false
            else { return end }
            let from = start.adding(seconds: 400 * 86_400)
            _ = overlaps(from: from, to: from.adding(seconds: 7320 * 86_400), floatingIn: zone, budget: &part)
            return part.isSpent ? nil : end
        }
    }
}

extension SeriesPlan {
    /// Whether an occurrence of DTSTART, the rules or the dates lies in a window; nil when the steps were not enough.
    fileprivate mutating func meets(_ window: Window, steps: inout Int) -> Bool? {
        let first = Candidate(key: key(ofWall: startWall), wall: startWall)
        if !isTaken(key: first.key, wall: first.wall), window.shows(occurrence(first)) { return true }
        // An RDATE with its own end replaces the rule's occurrence at that time.
        var ownEnds: Set<Int> = []
        for index in master.recurrence.additions.indices {
            let candidate = candidate(ofAddition: index)
            guard !isTaken(key: candidate.key, wall: candidate.wall) else { continue }
            if window.shows(occurrence(candidate)) { return true }
            if candidate.period != nil { ownEnds.insert(candidate.key) }
        }
        let (low, high) = walls(from: window.from, to: window.to)
        // Without segments, a candidate outside the window can be recognized by its time.
        let isPlain = segments.isEmpty && !isDate
        let (earliest, end) = (window.from.seconds - length.longest, window.to.seconds)
        for rule in master.recurrence.rules {
            var walk = SeriesRule(rule, start: start)
            let outcome = walk.forEach(from: low, through: high, startAlwaysCounts: true, steps: &steps) { wall in
                let key = key(ofWall: wall)
                if isPlain, key < earliest || key >= end { return true }
                guard wall != startWall, !isTaken(key: key, wall: wall), !ownEnds.contains(key) else { return true }
                return !window.shows(occurrence(Candidate(key: key, wall: wall)))
            }
            switch outcome {
            case .finished: break
            case .stopped: return true
            case .outOfSteps: return nil
            }
        }
        return false
    }

    fileprivate mutating func starts(among instants: [Instant], steps: inout Int) -> Set<Instant>? {
        var found: Set<Instant> = []
        var walks = master.recurrence.rules.map { SeriesRule($0, start: start) }
        var dates = Set(master.recurrence.additions.indices.map { candidate(ofAddition: $0).key })
        dates.insert(key(ofWall: startWall))
        // The latest comes first: after that, the end that COUNT gives a rule is known for all the others.
        for instant in Set(instants).sorted(by: >) {
            let wall = clock.wall(at: instant.seconds)
            guard !isTaken(key: instant.seconds, wall: wall) else { continue }
            if dates.contains(instant.seconds) {
                found.insert(instant)
                continue
            }
            // A wall time that the clock skips is moved forward, by a day at most.
            let isAfterChange = clock.rules.offset(at: instant.adding(seconds: -93_600)) != wall - instant.seconds
            for index in walks.indices {
                let outcome = walks[index].forEach(
                    from: isAfterChange ? wall - 86_400 : wall, through: wall, startAlwaysCounts: true, steps: &steps
                ) { key(ofWall: $0) != instant.seconds }
                if outcome == .outOfSteps { return nil }
                if outcome == .stopped {
                    found.insert(instant)
                    break
                }
            }
        }
        return found
    }
}
