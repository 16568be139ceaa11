// SPDX-License-Identifier: Apache-2.0

extension Series {
    /// The occurrences that overlap [from, to); one without a length is included when it starts within.
    ///
    /// Dates and floating times are on the clock of `zone`. DTSTART is always the first occurrence and is counted in
    /// COUNT (RFC 5545 section 3.8.5.3). Several rules are combined, and times that fall on one instant are one
    /// occurrence. EXDATE and RECURRENCE-ID match by instant, or by day when either is a date; a time without a zone in
    /// them is on the clock of DTSTART. An override is returned even if the rules have no such occurrence.
    public func occurrences(
        from: Instant, to: Instant, floatingIn zone: any TimeZoneRules, limits: ExpansionLimits = ExpansionLimits()
    ) -> Expansion {
        var budget = RecurrenceBudget(steps: limits.maximumSteps)
        return occurrences(
            from: from, to: to, floatingIn: zone, maximum: limits.maximumOccurrences, budget: &budget)
    }

    /// The same occurrences, within a budget that is shared with other expansions.
    ///
    /// - Parameter maximum: the most occurrences that are returned.
    public func occurrences(
        from: Instant, to: Instant, floatingIn zone: any TimeZoneRules, maximum: Int, budget: inout RecurrenceBudget
    ) -> Expansion {
        guard from < to else { return Expansion(occurrences: [], isComplete: true) }
        guard budget.spend(listedCount) else { return Expansion(occurrences: [], isComplete: false) }
        var window = Window(from: from, to: to, zone: zone)
        for event in overrides {
            if let occurrence = event.replacement(of: master) { window.add(occurrence) }
        }
        var isComplete = true
        if let master, var plan = SeriesPlan(master, overrides: overrides, floatingIn: zone) {
            let (candidates, isWhole) = plan.candidates(
                from: from, to: to, maximum: maximum, steps: &budget.left)
            isComplete = isWhole
            plan.place(candidates, in: &window)
        }
        window.sort()
        if window.occurrences.count > maximum {
            window.occurrences.removeLast(window.occurrences.count - maximum)
            isComplete = false
        }
        return Expansion(occurrences: window.occurrences, isComplete: isComplete)
    }
}

/// A window of time and the occurrences found in it.
struct Window {
    var from: Instant
    var to: Instant
    package var zone: any TimeZoneRules
    var occurrences: [Occurrence] = []
    /// The instants at which the occurrences start, in seconds.
    private var starts: [Int] = []
    private var isSorted = true

    init(from: Instant, to: Instant, zone: any TimeZoneRules) {
        self.from = from
        self.to = to
        self.zone = zone
    }

    mutating func reserve(_ count: Int) {
        occurrences.reserveCapacity(occurrences.count + count)
        starts.reserveCapacity(starts.count + count)
    }

    /// Whether an occurrence that starts at `start` overlaps the window; one without a length has to start in it.
    func shows(_ occurrence: Occurrence, startingAt start: Instant) -> Bool {
        start < to && (start >= from || occurrence.end.instant(floatingIn: zone) > from)
    }

    func shows(_ occurrence: Occurrence) -> Bool {
        shows(occurrence, startingAt: occurrence.start.instant(floatingIn: zone))
    }

    mutating func add(_ occurrence: Occurrence) {
        let start = occurrence.start.instant(floatingIn: zone)
        guard shows(occurrence, startingAt: start) else { return }
        note(startAt: start.seconds)
        occurrences.append(occurrence)
    }

    /// Notes the start of an occurrence in the window; the caller adds the occurrence itself.
    @inline(__always)
    mutating func note(startAt seconds: Int) {
        if let last = starts.last, last > seconds { isSorted = false }
        starts.append(seconds)
    }

    /// Sorts the occurrences by start. An occurrence is large, so it is moved only if necessary.
    mutating func sort() {
        guard !isSorted else { return }
        let order = starts.indices.sorted { (starts[$0], $0) < (starts[$1], $1) }
        occurrences = order.map { occurrences[$0] }
    }
}

extension Event {
    /// The occurrence that an override describes; an override without a time of its own stays where the occurrence was.
    func replacement(of master: Event?) -> Occurrence? {
        guard let recurrenceID else { return nil }
        let start = anchor ?? recurrenceID
        let length =
            if self.start == nil, end == nil, let master, let first = master.anchor {
                OccurrenceLength(of: master, start: first)
            } else {
                OccurrenceLength(of: self, start: start)
            }
        return Occurrence(event: self, start: start, end: length.end(from: start), recurrenceID: recurrenceID)
    }
}

extension SeriesPlan {
    /// The occurrences of the rules near a window, in order, without those that are excluded or replaced.
    mutating func candidates(
        from: Instant, to: Instant, maximum: Int, steps: inout Int
    ) -> ([Candidate], isComplete: Bool) {
        let (low, high) = walls(from: from, to: to)
        var found: [Candidate] = []
        var isComplete = true
        if startWall >= low, startWall <= high {
            let key = key(ofWall: startWall)
            if !isTaken(key: key, wall: startWall) { found.append(Candidate(key: key, wall: startWall)) }
        }
        // Without segments a candidate outside the window can be recognized before it is kept.
        let (first, last) = (from.seconds - length.longest, to.seconds)
        let isPlain = segments.isEmpty && !isDate
        for rule in master.recurrence.rules {
            var walk = SeriesRule(rule, start: start)
            let before = found.count
            let outcome = walk.forEach(from: low, through: high, startAlwaysCounts: true, steps: &steps) { wall in
                guard wall != startWall else { return true }
                let key = key(ofWall: wall)
                if isPlain, key < first || key >= last { return true }
                if isTaken(key: key, wall: wall) { return true }
                guard found.count - before < maximum else { return false }
                found.append(Candidate(key: key, wall: wall))
                return true
            }
            isComplete = isComplete && outcome == .finished
        }
        for index in master.recurrence.additions.indices {
            let candidate = candidate(ofAddition: index)
            guard candidate.wall <= high, !isTaken(key: candidate.key, wall: candidate.wall) else { continue }
            found.append(candidate)
        }
        if master.recurrence.rules.count + master.recurrence.additions.count > 0 {
            sortAndUnite(&found)
        }
        if !master.recurrence.exclusionRules.isEmpty, !found.isEmpty {
            let isWhole = exclude(from: &found, steps: &steps)
            isComplete = isComplete && isWhole
        }
        return (found, isComplete)
    }

    /// The wall times between which a window's occurrences start: wide enough for any offset where the clock changes,
    /// for the longest occurrence, and for those that an override moves.
    func walls(from: Instant, to: Instant) -> (low: Int, high: Int) {
        let slack = 2 * 86_400
        guard !segments.isEmpty || isDate else {
            let first = from.adding(seconds: -length.longest)
            let (before, after) = (clock.rules.isSteady(around: first), clock.rules.isSteady(around: to))
            return (
                clock.wall(at: first.seconds) - (before ? 0 : slack), clock.wall(at: to.seconds) + (after ? 0 : slack)
            )
        }
        let longest = segments.reduce(length.longest) { max($0, $1.length.longest) }
        let (least, most) = segments.reduce((0, 0)) { (min($0.0, $1.shift), max($0.1, $1.shift)) }
        return (from.seconds - slack - longest - most, to.seconds + slack - least)
    }

    /// Sorts candidates and keeps one for each key, with the end of an RDATE if one has its own.
    private func sortAndUnite(_ found: inout [Candidate]) {
        var isSorted = true
        for index in found.indices.dropFirst() where found[index - 1].key >= found[index].key {
            isSorted = false
            break
        }
        guard !isSorted else { return }
        found.sort { ($0.key, $0.period == nil ? 1 : 0) < ($1.key, $1.period == nil ? 1 : 0) }
        var last: Int?
        found.removeAll { candidate in
            defer { last = candidate.key }
            return candidate.key == last
        }
    }

    /// Removes the times of the EXRULEs; false when the steps were not enough.
    private func exclude(from found: inout [Candidate], steps: inout Int) -> Bool {
        // Both are on the series' clock, so they can be compared without a conversion.
        let walls = found.map(\.wall).sorted()
        guard let low = walls.first, let high = walls.last else { return true }
        var excluded: Set<Int> = []
        var isComplete = true
        for rule in master.recurrence.exclusionRules {
            var walk = SeriesRule(rule, start: start)
            var next = 0
            let outcome = walk.forEach(from: low, through: high, startAlwaysCounts: false, steps: &steps) { wall in
                while next < walls.count, walls[next] < wall { next += 1 }
                guard next < walls.count else { return true }
                if walls[next] == wall { excluded.insert(wall) }
                return true
            }
            isComplete = isComplete && outcome == .finished
        }
        if !excluded.isEmpty { found.removeAll { excluded.contains($0.wall) } }
        return isComplete
    }
}
