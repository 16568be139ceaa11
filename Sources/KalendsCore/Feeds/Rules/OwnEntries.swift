// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// The owner's own entries, which a feed shows in addition to the circle's; this is the only place that merges them.
///
/// Any change to these entries calls `touchOwnFeeds(of:now:)` in the same transaction, on the target
/// `ownCalendar(of:)`, so that such feeds get a new version.
enum OwnEntries {
    /// Calls a body with the entries of one source near a window, before the feed's details are reduced, in the same
    /// order for the same rows, with few of them in memory at a time; the body must not query the database.
    typealias Source =
        @Sendable (
            LiveFeedParts, FeedWindow, any ReadTransaction, _ body: (FeedContents.Entry) throws -> Void
        ) throws -> Void

    private static let sources: [Source] = [
        PersonalEntries.each, OwnCalendarEntries.each, PlannedEntries.each, OfficeEntries.each,
    ]

    /// Calls the body with each entry near the window, as the feed shows it, with the reason that excludes it, if any.
    ///
    /// - Parameter body: must not query the database.
    static func each(
        of live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction,
        _ body: (FeedContents.Entry) throws -> Void
    ) throws {
        let filter = FeedFilter(live, window: window)
        var (agreeing, judging) = (
            RecurrenceBudget(steps: SeriesWork.ofFeed), RecurrenceBudget(steps: SeriesWork.ofFeed)
        )
        for source in sources {
            try source(live, window, transaction) { entry in
                var entry = entry
                entry.events = entry.events.map { $0.reduced(to: live.look.style).agreed(within: &agreeing) }
                entry.exclusion = filter.exclusion(by: Extent(of: entry.events, zone: filter.zone), nil, &judging)
                try body(entry)
            }
        }
    }
}
