// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension Event {
    /// The same occurrences in the form that all readers take alike.
    ///
    /// Readers disagree on a DTSTART that its rule does not give: some leave it out, some count it as one of COUNT.
    /// Where dates alone repeat an event, ical.js and Home Assistant want DTSTART among them. And a second RRULE makes
    /// Home Assistant refuse a whole feed (RFC 5545 section 3.8.5.3 says SHOULD NOT).
    var agreed: Event {
        guard let start, recurrenceID == nil, !recurrence.rules.isEmpty || !recurrence.additions.isEmpty else {
            return self
        }
        var copy = self
        copy.recurrence.turnFiniteRulesIntoDates(start)
        copy.recurrence.dropDatesThatRulesGive(start)
        let isGiven = copy.recurrence.rules.contains { rule in
            !rule.times(startingAt: start, through: start.civil, startConvention: .ifItMatches).walls.isEmpty
        }
        guard !isGiven else { return copy }
        for index in copy.recurrence.rules.indices { copy.recurrence.rules[index].sayEnd(start) }
        if !copy.recurrence.additions.contains(where: { $0.start == start }) {
            copy.recurrence.additions.insert(Recurrence.Addition(start: start), at: 0)
        }
        return copy
    }
}

extension Recurrence {
    /// More dates than this are not listed.
    private static let manyDates = 1000

    /// Leaves one rule, if the others end soon enough to be listed.
    fileprivate mutating func turnFiniteRulesIntoDates(_ start: EventTime) {
        guard rules.count > 1 else { return }
        let limits = ExpansionLimits(maximumOccurrences: Self.manyDates)
        var kept: [RecurrenceRule] = []
        for (index, rule) in rules.enumerated() {
            let isLast = index == rules.count - 1
            let times = rule.times(startingAt: start, limits: limits)
            if times.isComplete, !(isLast && kept.isEmpty) {
                for wall in times.walls {
                    let addition = Addition(start: start.moved(to: wall))
                    if addition.start != start, !additions.contains(addition) { additions.append(addition) }
                }
            } else {
                kept.append(rule)
            }
        }
        rules = kept
    }

    /// A date that a rule gives too is one occurrence; ical.js shows it twice.
    fileprivate mutating func dropDatesThatRulesGive(_ start: EventTime) {
        guard !rules.isEmpty, additions.count <= Self.manyDates else { return }
        additions.removeAll { addition in
            guard addition.end == nil, addition.start.zone == start.zone, addition.start.isDate == start.isDate else {
                return false
            }
            let wall = addition.start.civil
            return rules.contains {
                !$0.times(startingAt: start, from: wall, through: wall, startConvention: .ifItMatches).walls.isEmpty
            }
        }
    }
}

extension RecurrenceRule {
    /// Says by UNTIL what COUNT said, which readers count differently.
    fileprivate mutating func sayEnd(_ start: EventTime) {
        guard count != nil else { return }
        let times = times(startingAt: start)
        guard times.isComplete, let last = times.walls.last else { return }
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
    /// Another time of the same form and zone.
    fileprivate func moved(to wall: CivilDateTime) -> EventTime {
        switch self {
        case .date: .date(wall.date)
        case .floating: .floating(wall)
        case .utc: .utc(Instant(utc: wall))
        case .zoned(_, let zone): .zoned(wall, zone)
        }
    }
}
