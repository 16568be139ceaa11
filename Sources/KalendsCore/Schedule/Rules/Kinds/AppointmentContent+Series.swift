// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge

/// The maximum number of steps that one request may cause for following rules, whatever it asks for and whatever is stored.
package enum SeriesWork {
    /// For everything that a feed shows, when the feed's events are looked up in its window.
    static let ofFeed = 10_000_000
    /// For all lines of a batch, or all events of a file.
    package static let ofFile = 20_000_000
    /// For writing one event so that all readers agree on it.
    static let ofAgreement = 4000
}

/// What was computed from a repeating appointment before its transaction; valid while the timing stays the same.
struct FollowedSeries: Sendable {
    /// The values from which all occurrences follow.
    struct Timing: Hashable, Sendable {
        var startAt: Instant
        var endAt: Instant
        var recurrence: Repetition?
        var zone: TimeZoneReference
    }

    let timing: Timing
    /// When the last occurrence ends; nil for a series without an end.
    let lastEnd: Instant?
    /// Whether an occurrence starts at each of the requested times.
    let starts: [Instant: Bool]
}

extension AppointmentContent {
    func timing(in zone: TimeZoneReference) -> FollowedSeries.Timing {
        FollowedSeries.Timing(startAt: startAt, endAt: endAt, recurrence: recurrence, zone: zone)
    }

    /// Returns the appointment as a series without changed occurrences.
    private func series(in zone: TimeZoneReference) -> Series {
        let item = careItem(CircleNames(), in: zone)
        let origin = Instant(seconds: 0)
        let revision = Revision(uid: "series", sequence: 0, createdAt: origin, updatedAt: origin)
        return Series(master: item.event(revision, in: zone, style: CareStyle()), overrides: [])
    }

    /// Follows the appointment's rule; nil when that takes more work than one rule may, or than is left in the budget.
    ///
    /// - Parameter starts: times for which to find out whether an occurrence starts there.
    func followed(
        in zone: TimeZoneReference, among starts: [Instant] = [], budget: inout RecurrenceBudget
    ) -> FollowedSeries? {
        let series = series(in: zone)
        guard let end = series.followed(floatingIn: zone.rules, budget: &budget) else { return nil }
        var last: Instant?
        if case .at(let instant) = end { last = max(instant, endAt) }
        var judged: [Instant: Bool] = [:]
        if !starts.isEmpty {
            let found = budget.within(RecurrenceBudget.perSeries + 100 * starts.count) {
                series.starts(among: starts, floatingIn: zone.rules, budget: &$0)
            }
            guard let found else { return nil }
            for start in starts { judged[start] = found.contains(start) }
        }
        return FollowedSeries(timing: timing(in: zone), lastEnd: last, starts: judged)
    }

    /// Returns when the last occurrence ends; nil for a series without an end, or when finding out takes too much work.
    func lastEnd(in zone: TimeZoneReference) -> Instant? {
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
        switch series(in: zone).end(floatingIn: zone.rules, budget: &budget) {
        case .at(let last): return max(last, endAt)
        case .never, .unknown: return nil
        }
    }

    /// Whether an occurrence starts at an instant; nil when finding out takes too much work.
    func hasOccurrence(at start: Instant, in zone: TimeZoneReference) -> Bool? {
        occurrences(among: [start], in: zone)?.contains(start)
    }

    /// Returns at which of some instants an occurrence starts; nil when finding out takes too much work.
    func occurrences(among starts: [Instant], in zone: TimeZoneReference) -> Set<Instant>? {
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries + 100 * starts.count)
        return series(in: zone).starts(among: starts, floatingIn: zone.rules, budget: &budget)
    }
}
