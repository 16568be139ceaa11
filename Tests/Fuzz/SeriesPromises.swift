// SPDX-License-Identifier: Apache-2.0

/// Every series that is read can be expanded within the usual budget.
enum SeriesPromises {
    static func check(_ reading: CalendarReading) {
        let utc = FixedOffset.utc
        for calendar in reading.calendars {
            let series = Series.group(calendar.events)
            // The usual budget is for one series: a file of a hundred may take no longer here than one of a single.
            let limits = ExpansionLimits(
                maximumOccurrences: 1000, maximumSteps: ExpansionLimits().maximumSteps / max(1, series.count))
            for one in series {
                let start = one.master?.start ?? one.overrides.first?.recurrenceID
                let from = start?.instant(floatingIn: utc).adding(seconds: -86_400) ?? Instant(seconds: 0)
                for from in [from, Instant(seconds: 1_767_225_600)] {
                    let to = from.adding(seconds: 400 * 86_400)
                    let found = one.occurrences(from: from, to: to, floatingIn: utc, limits: limits)
                    check(found.occurrences, from, to)
                    promise(found.occurrences.count <= limits.maximumOccurrences, "No more than asked for.")
                }
                _ = one.end(floatingIn: utc, limits: limits)
            }
        }
    }

    private static func check(_ found: [Occurrence], _ from: Instant, _ to: Instant) {
        var last = Instant(seconds: .min)
        for occurrence in found {
            let start = occurrence.start.instant(floatingIn: FixedOffset.utc)
            let end = occurrence.end.instant(floatingIn: FixedOffset.utc)
            promise(last <= start, "In order of start.")
            promise(start < to && (start >= from || end > from), "Within the window: \(occurrence.start)")
            last = start
        }
    }
}
