// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import ICalBridge
import Storage

/// When a reader is busy by what a feed shows, for programs that only ask for free time.
package struct FeedFreeBusy: Sendable {
    /// What a request asks of the feed's days.
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
        /// There are more occurrences than are looked at.
        case tooMuch
    }

    package let live: LiveFeed
    /// A VFREEBUSY as iCalendar.
    package let text: [UInt8]
    /// The last change of what is shown.
    package let changed: Instant
}

/// What counts events as time in which somebody is busy.
struct BusyWork {
    /// The most occurrences of one entry.
    private static let most = 20_000

    let zone: TimeZoneReference
    private var budget = RecurrenceBudget(steps: SeriesWork.ofFeed)

    init(in zone: TimeZoneReference) { self.zone = zone }

    /// Calls the body with the occurrences of an entry in a span.
    ///
    /// - Throws: `FeedFreeBusy.Fault.tooMuch`, because a part of them would show somebody as free who is busy.
    mutating func each(of events: [Event], in range: TimeRange, _ body: (Occurrence) -> Void) throws {
        let (found, isWhole) = events.occurrences(
            from: range.from, to: range.to, in: zone, most: Self.most, &budget)
        guard isWhole else { throw FeedFreeBusy.Fault.tooMuch }
        for occurrence in found { body(occurrence) }
    }
}

extension FeedReading {
    /// Returns when the reader of a feed is busy; throws `Ended` and `FeedFreeBusy.Fault`.
    ///
    /// It says no more than the feed: a feed that shows only times does not say which of them are work.
    package func freeBusy(of token: Secret, now: Int, _ asked: FeedFreeBusy.Asked) async throws -> FeedFreeBusy {
        try await look(at: token, now: now) { feed, live, transaction in
            let (day, window) = live.window(now: now)
            let range = TimeRange(
                from: max(window.from, asked.from?.instant(in: live.zone) ?? window.from),
                to: min(window.to, asked.to?.instant(in: live.zone) ?? window.to))
            guard range.from < range.to else { throw FeedFreeBusy.Fault.noTime }
            let showsWork = live.look.style.detail < .minimal
            var time = FreeBusyTime(in: range, asksAvailability: asked.wantsAvailability && showsWork)
            var work = BusyWork(in: live.zone)
            try FeedContents.each(of: live, window: window, in: transaction) { entry in
                guard entry.exclusion == nil else { return }
                let isWork = showsWork && entry.isWork
                try work.each(of: entry.events, in: range) { occurrence in
                    time.add(occurrence, floatingIn: live.zone.rules)
                    if isWork { time.addAvailable(occurrence, floatingIn: live.zone.rules) }
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
