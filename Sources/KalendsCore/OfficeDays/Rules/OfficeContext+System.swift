// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import OfficeDays
import Storage

/// A time zone of the system's tzdata, as a clock for office days.
struct SystemOfficeClock: OfficeClock {
    let zone: SystemTimeZone

    func secondsEast(at second: Int) -> Int { zone.offset(at: Instant(seconds: second)) }
}

extension OfficeContext {
    /// Returns a context with the time zones of this machine.
    static func system(fallbackZone: String, holidays: Set<CivilDate> = []) -> OfficeContext {
        OfficeContext(fallbackZone: fallbackZone, holidays: holidays) { name in
            SystemTimeZones.shared.zone(name).map(SystemOfficeClock.init)
        }
    }

    /// Returns the clock of a zone, or UTC's if the zone is unknown.
    func clock(of zone: String) -> any OfficeClock { clock(zone) ?? UTCClock() }
}

extension OfficeSettings {
    /// Returns the dates of a span that have events in the followed calendar; empty if the user may no longer see it.
    func followedHolidays(
        of user: String, in span: ClosedRange<CivilDate>, _ transaction: any ReadTransaction
    ) throws -> Set<CivilDate> {
        guard let holidayCalendar, let subscription = try transaction.subscription(holidayCalendar),
            let circle = try transaction.circle(subscription.circleID),
            try transaction.member(user, in: circle.id) != nil
        else { return [] }
        let from = Instant(seconds: span.lowerBound.daysSinceEpoch * 86_400)
        let to = Instant(seconds: (span.upperBound.daysSinceEpoch + 1) * 86_400)
        let source = EventSource.subscription(subscription.id)
        var budget = RecurrenceBudget(steps: SeriesWork.ofFeed)
        var found: Set<CivilDate> = []
        try transaction.eachImportedUID(in: circle, from: from.milliseconds, to: to.milliseconds) { records in
            for one in try ImportedSeries.all(records.filter { $0.source == source })
            where one.privateTo.allSatisfy({ $0.map { $0 == user } ?? false }) {
                for series in Series.group(one.events.map(\.event).filter { $0.kind == .event }) {
                    let expansion = series.occurrences(
                        from: from, to: to, floatingIn: FixedOffset.utc, maximum: 1000, budget: &budget)
                    for occurrence in expansion.occurrences where occurrence.start.isDate && !occurrence.isCancelled {
                        let first = occurrence.start.civilDate
                        let last = max(first, occurrence.end.civilDate.adding(days: -1))
                        found.formUnion((max(first, span.lowerBound)...max(first, min(last, span.upperBound))))
                    }
                }
            }
        }
        return found
    }
}
