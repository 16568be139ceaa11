// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension AppointmentContent {
    /// The repeating appointment as a series without changed occurrences.
    private func series(in zone: TimeZoneReference) -> Series {
        let item = CareItem.appointment(appointment(names: CircleNames(), in: zone))
        let origin = Instant(seconds: 0)
        let revision = Revision(uid: "series", sequence: 0, createdAt: origin, updatedAt: origin)
        return Series(master: item.event(revision, in: zone, style: CareStyle()), overrides: [])
    }

    /// When the last occurrence ends; nil when there is none, or when that is more than can be counted.
    func lastEnd(in zone: TimeZoneReference) -> Instant? {
        switch series(in: zone).end(floatingIn: zone.rules) {
        case .at(let last): max(last, endAt)
        case .never, .unknown: nil
        }
    }

    /// Whether an occurrence starts at an instant.
    func hasOccurrence(at start: Instant, in zone: TimeZoneReference) throws -> Bool {
        let found = series(in: zone).occurrences(
            from: start, to: start.adding(seconds: 1), floatingIn: zone.rules, limits: ExpansionLimits())
        return found.occurrences.contains { $0.start.instant(floatingIn: zone.rules) == start }
    }
}

extension Series {
    /// Whether anything of the series lies in a span; yes when that is more than can be counted.
    func hasOccurrence(from: Instant, to: Instant, floatingIn zone: any TimeZoneRules) -> Bool {
        let found = occurrences(from: from, to: to, floatingIn: zone, limits: ExpansionLimits(maximumOccurrences: 1))
        return !found.occurrences.isEmpty || !found.isComplete
    }
}
