// SPDX-License-Identifier: Apache-2.0

extension Series {
    /// The occurrences that overlap [from, to); one that takes no time when it starts within.
    ///
    /// Days and floating times are read on the clock of `zone`. DTSTART is always the first occurrence and counts as
    /// one of COUNT (RFC 5545 section 3.8.5.3). Several rules are united, and what falls on one instant is one
    /// occurrence. EXDATE and RECURRENCE-ID match by instant, or by day when either is a day; a time without a zone in
    /// them is on the clock of DTSTART. An override is given even if the rules have no such occurrence.
    public func occurrences(
        from: Instant, to: Instant, floatingIn zone: any TimeZoneRules, limits: ExpansionLimits = ExpansionLimits()
    ) -> Expansion {
        var budget = RecurrenceBudget(steps: limits.maximumSteps)
        return occurrences(
            from: from, to: to, floatingIn: zone, maximum: limits.maximumOccurrences, budget: &budget)
    }

    /// The same within a budget that others share.
    ///
    /// - Parameter maximum: how many occurrences are given at most.
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

/// The occurrences that lie in a window.
struct Window {
    var from: Instant
    var to: Instant
    var zone: any TimeZoneRules
    var occurrences: [Occurrence] = []
    /// The instants at which they start, in seconds.
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

    /// Whether an occurrence that starts at `start` lies in it, or one that takes no time begins in it.
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

    /// Takes down when an occurrence starts that lies in the window and is added with this.
    @inline(__always)
    mutating func note(startAt seconds: Int) {
        if let last = starts.last, last > seconds { isSorted = false }
        starts.append(seconds)
    }

    /// Puts the occurrences in order of start. An occurrence is large, so it is moved only if it has to be.
    mutating func sort() {
        guard !isSorted else { return }
        let order = starts.indices.sorted { (starts[$0], $0) < (starts[$1], $1) }
        occurrences = order.map { occurrences[$0] }
    }
}

extension Event {
    /// The occurrence that an override itself describes; one without its own time stays where it was.
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
        for place in master.recurrence.additions.indices {
            let candidate = candidate(ofAddition: place)
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

    /// Between which wall times a window's occurrences lie: wide enough for any offset where the clock changes, for the
    /// longest occurrence, and for those that an override moves.
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

    /// Puts candidates in order and keeps one for each key, with the end of an RDATE if one has its own.
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

    /// Removes what the EXRULEs give; false when the steps did not suffice.
    private func exclude(from found: inout [Candidate], steps: inout Int) -> Bool {
        // Both are on the series' clock, so that they can be compared without a conversion.
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
