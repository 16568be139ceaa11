// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// The owner's own entries, which a feed shows in addition to the circle's; this is the only place that merges them.
///
/// Any change to these entries calls `touchOwnFeeds(of:now:)` in the same transaction, on the ground
/// `ownCalendar(of:)`, so that such feeds get a new version.
struct OwnEntries: Sendable {
    struct Entry: Sendable {
        /// The name of the collection in previews.
        var collection: String
        var id: String
        /// One event, or a series with its changed occurrences, before the feed's details are reduced.
        var events: [Event]
    }

    /// The sources of entries, each of which reads the owner's rows near a window.
    private static let sources: [@Sendable (LiveFeedParts, FeedWindow, any ReadTransaction) throws -> [Entry]] = [
        PersonalEntries.entries, PlannedEntries.entries, OfficeEntries.entries,
    ]

    private(set) var entries: [Entry] = []

    static let none = OwnEntries()

    private init() {}

    /// Reads the entries near the window; the same rows give the same entries in the same order.
    init(of live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction) throws {
        var budget = RecurrenceBudget(steps: SeriesWork.ofFeed)
        for source in Self.sources {
            entries += try source(live, window, transaction).map { entry in
                Entry(
                    collection: entry.collection, id: entry.id,
                    events: entry.events.map { $0.reduced(to: live.look.style).agreed(within: &budget) })
            }
        }
    }

    /// Returns each entry with the reason that excludes it from the feed, if any, within a separate budget.
    func judged(by filter: FeedFilter) -> [(entry: Entry, exclusion: Exclusion?)] {
        var budget = RecurrenceBudget(steps: SeriesWork.ofFeed)
        return entries.map { entry in
            (entry, filter.exclusion(by: Extent(of: entry.events, zone: filter.zone), nil, &budget))
        }
    }
}
