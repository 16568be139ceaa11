// SPDX-License-Identifier: Apache-2.0

extension SystemTimeZone {
    /// A compact VTIMEZONE that is correct from `from` to `to`.
    ///
    /// A zone with a yearly rule has one STANDARD and one DAYLIGHT part that begin in 1970, which is the form that
    /// every calendar app reads. Changes that follow no rule within the span (Morocco's Ramadan, a law that changed)
    /// are written as single changes, each in a part of its own, because Outlook ignores RDATEs here.
    public func definition(from: Instant, to: Instant) -> TimeZoneDefinition {
        let changes = Array(transitions(from: from, to: to))
        let base = offset(at: from)
        guard let tail, let daylight = tail.daylight,
            let beginRule = daylight.begins.rule, let endRule = daylight.ends.rule
        else {
            return definition(base: base, explicit: changes, yearly: [])
        }
        // The first year from which on every change in the span follows the rule.
        let firstYear = from.adding(seconds: base).utc.date.year
        // After the last known year the rule continues, and there is nothing to compare it with.
        let lastYear = min(to.adding(seconds: base).utc.date.year, Self.lastYear)
        var ruledFrom = lastYear + 1
        for year in stride(from: lastYear, through: firstYear, by: -1) {
            let own = changes.filter { $0.at.adding(seconds: $0.offsetBefore).utc.date.year == year }
            let ruled = tail.transitions(in: year).filter {
                $0.at > from && $0.at <= to && $0.offsetBefore != $0.offsetAfter
            }
            guard own.map(\.at) == ruled.map(\.at), own.map(\.offsetAfter) == ruled.map(\.offsetAfter) else { break }
            ruledFrom = year
        }
        guard ruledFrom <= lastYear else { return definition(base: base, explicit: changes, yearly: []) }
        let ruleHoldsThroughout = ruledFrom == firstYear && tailAgrees(with: base, at: from)
        // If the rule took effect within the span, the zone did not have the rule's earlier onsets.
        func start(_ onset: PosixTimeZone.Onset, offset: Int) -> CivilDateTime {
            if ruleHoldsThroughout { return onset.wall(in: 1970) }
            let first = onset.wall(in: ruledFrom)
            return first.wallSeconds - offset > from.seconds ? first : onset.wall(in: ruledFrom + 1)
        }
        let yearly = [
            TimeZoneDefinition.Observance(
                isDaylight: daylight.offset > tail.offset, start: start(daylight.begins, offset: tail.offset),
                offsetFrom: tail.offset, offsetTo: daylight.offset, name: daylight.name, rule: beginRule),
            TimeZoneDefinition.Observance(
                isDaylight: tail.offset > daylight.offset, start: start(daylight.ends, offset: daylight.offset),
                offsetFrom: daylight.offset, offsetTo: tail.offset, name: tail.name, rule: endRule),
        ].sorted { !$0.isDaylight && $1.isDaylight }
        if ruleHoldsThroughout { return TimeZoneDefinition(identifier: identifier, observances: yearly) }
        let explicit = changes.filter { $0.at.adding(seconds: $0.offsetBefore).utc.date.year < ruledFrom }
        return definition(base: base, explicit: explicit, yearly: yearly)
    }

    /// Whether the rule at the file's end gives the same offset at an instant.
    private func tailAgrees(with base: Int, at instant: Instant) -> Bool {
        guard let tail else { return false }
        let year = instant.utc.date.year
        let last = (year - 1...year + 1).flatMap { tail.transitions(in: $0) }.last { $0.at <= instant }
        return (last?.offsetAfter ?? tail.offset) == base
    }

    private func definition(
        base: Int, explicit: [OffsetTransition], yearly: [TimeZoneDefinition.Observance]
    ) -> TimeZoneDefinition {
        // The offset before the first change must not come back in 1970.
        let year = explicit.first.map { min(1970, $0.at.utc.date.year - 1) } ?? 1970
        let epoch = CivilDateTime(startOf: CivilDate(uncheckedYear: year, month: 1, day: 1))
        var observances = [
            TimeZoneDefinition.Observance(
                isDaylight: false, start: epoch, offsetFrom: base, offsetTo: base, name: abbreviation(before: explicit))
        ]
        let offsets = Set(explicit.map(\.offsetAfter) + [base])
        for change in explicit {
            observances.append(
                TimeZoneDefinition.Observance(
                    isDaylight: offsets.count == 2 && explicit.count > 1 && change.offsetAfter == offsets.max(),
                    start: CivilDateTime(wallSeconds: change.at.seconds + change.offsetBefore),
                    offsetFrom: change.offsetBefore, offsetTo: change.offsetAfter, name: change.abbreviation))
        }
        return TimeZoneDefinition(identifier: identifier, observances: observances + yearly)
    }

    /// The zone's abbreviation before the first of some changes.
    private func abbreviation(before changes: [OffsetTransition]) -> String? {
        guard let first = changes.first else { return tail?.name ?? transitions.last?.abbreviation }
        return transitions.last { $0.at < first.at }?.abbreviation
    }
}
