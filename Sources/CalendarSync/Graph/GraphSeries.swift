// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// The starts of a series by its rule, without what is left out or changed.
struct GraphSeries {
    let series: Series
    let clock: SystemTimeZone

    /// Nil for an entry that does not repeat by one rule.
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

    /// Which of some instants are starts of the rule; nil when that takes more work than one series may cause.
    func starts(among instants: [Instant]) -> Set<Instant>? {
        var budget = RecurrenceBudget(steps: 1_000_000)
        return series.starts(among: instants, floatingIn: clock, budget: &budget)
    }

    /// The starts within a window, in order; nil when they are too many.
    func starts(from: Instant, to: Instant) -> [Instant]? {
        var budget = RecurrenceBudget(steps: 1_000_000)
        let found = series.occurrences(from: from, to: to, floatingIn: clock, maximum: 5000, budget: &budget)
        guard found.isComplete else { return nil }
        return found.occurrences.map { $0.start.instant(floatingIn: clock) }
    }
}
