// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import ICalBridge
import Storage

/// When a reader is busy by what a feed shows, for programs that only ask for free time.
package struct FeedFreeBusy: Sendable {
    /// What a request asks about the feed's days.
    package struct Asked: Sendable {
        /// Nil for the start of the feed's window.
        package var from: ItemSearch.Moment?
        /// Nil for the end of the feed's window.
        package var to: ItemSearch.Moment?
        /// Whether it also asks when the feed's user works.
        package var wantsAvailability = false

        package init() {}
    }

    /// Why a request has no answer.
    package enum Fault: Error {
        /// No time of the feed's window is asked.
        case noTime
    }

    package let live: LiveFeed
    /// A VFREEBUSY as iCalendar.
    package let text: [UInt8]
    /// The last change of what is shown.
    package let changed: Instant
}

/// Counts events as time in which somebody is busy.
struct BusyWork {
    /// The maximum number of occurrences of one entry, and the maximum number of steps that finding them takes.
    private static let (most, steps) = (20_000, 2 * RecurrenceBudget.perSeries)

    let zone: TimeZoneReference
    private var budget = RecurrenceBudget(steps: SeriesWork.ofFeed)

    init(in zone: TimeZoneReference) { self.zone = zone }

    /// Calls the body with the occurrences of an entry in a span.
    ///
    /// A series with more of them than are looked at counts from its beginning to its end, and so does each further one
    /// once all entries together took too much work: a part of them would show somebody as free who is busy, and a
    /// refusal would let dense series take everybody's answer away. Events that do not repeat take no work.
    mutating func each(of events: [Event], in range: TimeRange, _ body: (Occurrence) -> Void) {
        let listed = events.reduce(0) { $0 + 2 + $1.recurrence.exclusions.count + $1.recurrence.additions.count }
        let (found, isWhole) = budget.within(Self.steps + listed) { [zone] part in
            events.occurrences(from: range.from, to: range.to, in: zone, most: Self.most, &part)
        }
        if isWhole {
            for occurrence in found { body(occurrence) }
            return
        }
        let known = budget.isSpent ? changed(events, in: range) : found
        for occurrence in known where isBeside(occurrence) { body(occurrence) }
        for occurrence in whole(events, in: range) { body(occurrence) }
    }

    /// Returns the changed occurrences, which are found without following a rule.
    private func changed(_ events: [Event], in range: TimeRange) -> [Occurrence] {
        let some = events.filter { $0.recurrenceID != nil }
        var steps = RecurrenceBudget(steps: 2 * some.count)
        return some.occurrences(from: range.from, to: range.to, in: zone, most: Self.most, &steps).0
    }

    /// Whether the time from the beginning of a series to its end may leave out an occurrence: a changed one, or one that
    /// was added before the beginning.
    private func isBeside(_ occurrence: Occurrence) -> Bool {
        guard occurrence.event.recurrenceID == nil, let start = occurrence.event.start else { return true }
        return occurrence.start.instant(floatingIn: zone.rules) < start.instant(floatingIn: zone.rules)
    }

    /// Returns the time from the beginning of each series to its end, as one occurrence of its master.
    private mutating func whole(_ events: [Event], in range: TimeRange) -> [Occurrence] {
        Series.group(events.filter { $0.start != nil }).compactMap { series in
            guard let event = series.master, let start = event.start?.instant(floatingIn: zone.rules) else {
                return nil
            }
            var end = range.to
            let known = budget.within(Self.steps + series.listedCount) { [zone] part in
                series.end(floatingIn: zone.rules, budget: &part)
            }
            if case .at(let last) = known { end = min(end, last) }
            return Occurrence(event: event, start: .utc(max(start, range.from)), end: .utc(max(end, range.from)))
        }
    }
}

extension FeedReading {
    /// Returns when the reader of a feed is busy; throws `Ended` and `FeedFreeBusy.Fault`.
    ///
    /// It says no more than the feed: a feed that shows only times does not say which of them are work. Only what the
    /// feed leaves out because finding its time takes too much work counts here. Asked when its user works, it does not
    /// count that work as time in which they are busy: it is when others can have them.
    package func freeBusy(of token: Secret, now: Int, _ asked: FeedFreeBusy.Asked) async throws -> FeedFreeBusy {
        try await look(at: token, now: now) { feed, live, transaction in
            let (day, window) = live.window(now: now)
            let range = TimeRange(
                from: max(window.from, asked.from?.instant(in: live.zone) ?? window.from),
                to: min(window.to, asked.to?.instant(in: live.zone) ?? window.to))
            guard range.from < range.to else { throw FeedFreeBusy.Fault.noTime }
            let showsWork = live.look.style.detail < .minimal
            var time = FreeBusyTime(in: range)
            var work = BusyWork(in: live.zone)
            try FeedContents.each(of: live, window: window, in: transaction) { entry in
                // A time that would take too much work to find is not known to be a different one.
                guard entry.exclusion == nil || entry.exclusion == .costly else { return }
                let isAvailable = showsWork && asked.wantsAvailability && entry.isWork
                guard isAvailable || entry.events.contains(where: { $0.isTransparent != true }) else { return }
                // Whether the feed says it does not depend on the span: on a day off its reader is not available either.
                if isAvailable { time.saysAvailability() }
                work.each(of: entry.events, in: range) { occurrence in
                    if isAvailable {
                        time.addAvailable(occurrence, floatingIn: live.zone.rules)
                    } else {
                        time.add(occurrence, floatingIn: live.zone.rules)
                    }
                }
            }
            let changed = Instant(milliseconds: max(feed.changedAt, day.from))
            return FeedFreeBusy(live: feed, text: time.text(stamp: changed), changed: changed)
        }
    }
}

extension FeedContents.Entry {
    /// Whether the feed's user works while the entry lasts: a shift of theirs, or a day at the office.
    fileprivate var isWork: Bool {
        isOwn && collection == ShiftContent.collection.rawValue || collection == OfficeEntries.collection
    }
}
