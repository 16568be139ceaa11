// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// The starts of a series by its rule, including those that are left out or changed.
struct GraphSeries {
    let series: Series
    let clock: SystemTimeZone

    /// Returns nil for an entry that does not repeat by one rule.
    init?(_ entry: Entry) {
        guard case .timed(let start, _, let zone) = entry.span, let text = entry.repetition?.rrule,
            let reference = TimeZoneReference(zone), let clock = SystemTimeZones.shared.zone(zone),
            let rule = try? RecurrenceRule(text)
        else { return nil }
        var event = Event(uid: "", start: .zoned(clock.civil(at: start), reference))
        event.recurrence.rules = [rule]
        series = Series(master: event, overrides: [])
        self.clock = clock
    }

    /// Returns which of some instants are starts of the rule; nil when that takes more work than is allowed for one
    /// series.
    func starts(among instants: [Instant]) -> Set<Instant>? {
        var budget = RecurrenceBudget(steps: 1_000_000)
        return series.starts(among: instants, floatingIn: clock, budget: &budget)
    }

    /// Returns the starts within a window, in order; nil when there are too many.
    func starts(from: Instant, to: Instant) -> [Instant]? {
        var budget = RecurrenceBudget(steps: 1_000_000)
        let found = series.occurrences(from: from, to: to, floatingIn: clock, maximum: 5000, budget: &budget)
        guard found.isComplete else { return nil }
        return found.occurrences.map { $0.start.instant(floatingIn: clock) }
    }
}
