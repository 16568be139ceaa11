// SPDX-License-Identifier: Apache-2.0

package import ICalBridge

extension ICalendar {
    /// The calendar with the same occurrences, said as a feed says them, and without values that strict readers refuse.
    /// Times that name no zone stay without one.
    package var agreed: ICalendar {
        guard let utc = TimeZoneReference("UTC") else { return self }
        var copy = self
        copy.events = Series.group(events.map(\.withLegalValues)).flatMap { series -> [Event] in
            guard var master = series.master else { return series.overrides }
            master.dropEqualEnds()
            master.sayInstants()
            return master.settled(with: series.overrides, in: utc).map(\.agreed)
        }
        return copy
    }
}

extension Event {
    /// The event with the same occurrences, in a form that all calendar programs interpret the same way.
    ///
    /// Programs disagree on a DTSTART that its rule does not give: some leave it out, some count it as part of COUNT.
    /// If an event repeats only by dates, ical.js and Home Assistant want DTSTART among them. A second RRULE makes Home
    /// Assistant refuse the whole feed (RFC 5545 section 3.8.5.3 says SHOULD NOT). A rule that needs more work than
    /// `SeriesWork.ofAgreement` is written unchanged.
    var agreed: Event {
        var budget = RecurrenceBudget(steps: .max)
        return agreed(within: &budget)
    }

    /// Like `agreed`, while something is left of a budget for many events; after that, events are written unchanged.
    func agreed(within all: inout RecurrenceBudget) -> Event {
        guard let start, recurrenceID == nil, !recurrence.rules.isEmpty || !recurrence.additions.isEmpty else {
            return self
        }
        let steps = SeriesWork.ofAgreement + 10 * min(recurrence.additions.count, Recurrence.manyDates)
        return all.left > 0 ? all.within(steps) { agreed(from: start, &$0) } : self
    }

    /// The event with the dates that its EXRULEs leave out in the years around one listed as EXDATEs, because few readers
    /// follow an EXRULE.
    ///
    /// Those are all years that a feed can show, or a few where that is too much; the reader of a file has listed the
    /// first ones. An event whose dates take more work than `RecurrenceBudget.perSeries` is returned unchanged.
    func listingExclusions(around year: Int) -> Event {
        guard let start, !recurrence.exclusionRules.isEmpty else { return self }
        var repeated = self
        repeated.recurrence.exclusionRules = []
        let (series, utc) = (Series(master: repeated, overrides: []), FixedOffset.utc)
        for years in [year - 11...year + 11, year - 1...year + 2] {
            let bounds = [(years.lowerBound, 1, 1), (years.upperBound, 12, 31)].compactMap { year, month, day in
                CivilDate(year: year, month: month, day: day).map { CivilDateTime(startOf: $0) }
            }
            guard bounds.count == 2 else { continue }
            var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
            let excluded = recurrence.exclusionRules.map {
                $0.times(
                    startingAt: start, from: bounds[0], through: bounds[1], startConvention: .ifItMatches,
                    maximum: Recurrence.manyExclusions, budget: &budget)
            }
            guard excluded.allSatisfy(\.isComplete) else { continue }
            let shown = series.occurrences(
                from: utc.instant(of: bounds[0]), to: utc.instant(of: bounds[1]), floatingIn: utc,
                maximum: 4 * Recurrence.manyExclusions, budget: &budget)
            guard shown.isComplete else { continue }
            let starts = Set(shown.occurrences.map { $0.start.instant(floatingIn: utc) })
            let listed = Set(excluded.flatMap(\.walls)).sorted().map { start.moved(to: $0) }
            var copy = self
            copy.recurrence.exclusions += listed.filter { starts.contains($0.instant(floatingIn: utc)) }
            return copy
        }
        return self
    }

    private func agreed(from start: EventTime, _ budget: inout RecurrenceBudget) -> Event {
        var copy = self
        copy.recurrence.turnFiniteRulesIntoDates(start, &budget)
        copy.recurrence.dropDatesThatRulesGive(start, &budget)
        let isGiven = copy.recurrence.rules.contains { rule in
            rule.gives([start.civil], startingAt: start, startConvention: .ifItMatches, budget: &budget)?.isEmpty
                == false
        }
        guard !isGiven, !budget.isSpent else { return copy }
        for index in copy.recurrence.rules.indices { copy.recurrence.rules[index].sayEnd(start, &budget) }
        // A start that the file leaves out is not a date of its own.
        let isListed = copy.recurrence.additions.contains { $0.start == start }
        if !isListed, !copy.recurrence.exclusions.contains(start) {
            copy.recurrence.additions.insert(Recurrence.Addition(start: start), at: 0)
        }
        return copy
    }
}

extension Recurrence {
    /// The maximum number of dates that are listed.
    fileprivate static let manyDates = 1000

    /// The maximum number of dates of an EXRULE that a feed lists.
    fileprivate static let manyExclusions = 3000

    /// Keeps one rule, if the others end soon enough for their dates to be listed.
    fileprivate mutating func turnFiniteRulesIntoDates(_ start: EventTime, _ budget: inout RecurrenceBudget) {
        guard rules.count > 1 else { return }
        var kept: [RecurrenceRule] = []
        var known = Set(additions)
        for (index, rule) in rules.enumerated() {
            let isLast = index == rules.count - 1
            // Each rule has its own share, so that a rule without an end leaves something for the others.
            let times = budget.within(SeriesWork.ofAgreement / rules.count) {
                rule.times(startingAt: start, maximum: Self.manyDates, budget: &$0)
            }
            if times.isComplete, !(isLast && kept.isEmpty) {
                for wall in times.walls {
                    let addition = Addition(start: start.moved(to: wall))
                    if addition.start != start, known.insert(addition).inserted { additions.append(addition) }
                }
            } else {
                kept.append(rule)
            }
        }
        rules = kept
    }

    /// Drops dates that a rule also gives: they are one occurrence, but ical.js shows it twice.
    fileprivate mutating func dropDatesThatRulesGive(_ start: EventTime, _ budget: inout RecurrenceBudget) {
        guard !rules.isEmpty, !additions.isEmpty, additions.count <= Self.manyDates else { return }
        func isPlain(_ addition: Addition) -> Bool {
            addition.end == nil && addition.start.zone == start.zone && addition.start.isDate == start.isDate
        }
        let walls = additions.filter(isPlain).map(\.start.civil)
        for rule in rules {
            guard let given = rule.gives(walls, startingAt: start, startConvention: .ifItMatches, budget: &budget)
            else { continue }
            additions.removeAll { isPlain($0) && given.contains($0.start.civil) }
        }
    }
}

extension RecurrenceRule {
    /// Replaces COUNT, which programs count differently, by UNTIL.
    fileprivate mutating func sayEnd(_ start: EventTime, _ budget: inout RecurrenceBudget) {
        guard count != nil, let last = last(startingAt: start, budget: &budget) else { return }
        count = nil
        switch start.moved(to: last) {
        case .date(let date): until = .date(date)
        case .floating(let wall): until = .floating(wall)
        case .utc(let instant): until = .utc(instant)
        case .zoned(let wall, let zone): until = .utc(zone.rules.instant(of: wall))
        }
    }
}

extension EventTime {
    /// Returns another time in the same form and zone.
    fileprivate func moved(to wall: CivilDateTime) -> EventTime {
        switch self {
        case .date: .date(wall.date)
        case .floating: .floating(wall)
        case .utc: .utc(Instant(utc: wall))
        case .zoned(_, let zone): .zoned(wall, zone)
        }
    }
}
