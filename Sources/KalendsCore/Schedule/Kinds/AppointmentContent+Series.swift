// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// How many steps of following rules one request may cause, whatever it asks for and whatever is stored.
package enum SeriesWork {
    /// All that a feed shows, when its events are looked for in its window.
    static let ofFeed = 10_000_000
    /// All lines of a batch, all events of a file.
    package static let ofFile = 20_000_000
    /// What is spent to write one event so that all readers agree on it.
    static let ofAgreement = 4000
}

/// What was worked out of a repeating appointment before its transaction began, for as long as it is the same.
struct FollowedSeries: Sendable {
    /// All that its occurrences follow from.
    struct Timing: Hashable, Sendable {
        var startAt: Instant
        var endAt: Instant
        var recurrence: AppointmentContent.Repetition?
        var zone: TimeZoneReference
    }

    let timing: Timing
    /// When the last occurrence ends; nil when there is none.
    let lastEnd: Instant?
    /// Of the times that were asked about, whether an occurrence starts there.
    let starts: [Instant: Bool]
}

extension AppointmentContent {
    func timing(in zone: TimeZoneReference) -> FollowedSeries.Timing {
        FollowedSeries.Timing(startAt: startAt, endAt: endAt, recurrence: recurrence, zone: zone)
    }

    /// The repeating appointment as a series without changed occurrences.
    private func series(in zone: TimeZoneReference) -> Series {
        let item = careItem(CircleNames(), in: zone)
        let origin = Instant(seconds: 0)
        let revision = Revision(uid: "series", sequence: 0, createdAt: origin, updatedAt: origin)
        return Series(master: item.event(revision, in: zone, style: CareStyle()), overrides: [])
    }

    /// Follows the appointment's rule; nil when that takes more than one rule may, or than is left.
    ///
    /// - Parameter starts: times of which it is to be known whether an occurrence starts there.
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

    /// When the last occurrence ends; nil when there is none, or when that is more than can be counted.
    func lastEnd(in zone: TimeZoneReference) -> Instant? {
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
        switch series(in: zone).end(floatingIn: zone.rules, budget: &budget) {
        case .at(let last): return max(last, endAt)
        case .never, .unknown: return nil
        }
    }

    /// Whether an occurrence starts at an instant; nil when that is more than can be counted.
    func hasOccurrence(at start: Instant, in zone: TimeZoneReference) -> Bool? {
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
        return series(in: zone).starts(among: [start], floatingIn: zone.rules, budget: &budget)?.contains(start)
    }
}
