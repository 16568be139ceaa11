// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// What a feed shows only of its owner, beside the circle: the one place where it is merged in.
///
/// A change of any of it calls `touchOwnFeeds(of:now:)` in its own transaction, on the ground `ownCalendar(of:)`, so
/// that such feeds have another version from then on.
struct OwnEntries: Sendable {
    struct Entry: Sendable {
        /// What a preview calls it.
        var collection: String
        var id: String
        /// One event, or a series with its changed occurrences, as they are without what the feed holds back.
        var events: [Event]
    }

    /// What there is to show, each from a look at the owner's rows near a window.
    private static let sources: [@Sendable (LiveFeedParts, FeedWindow, any ReadTransaction) throws -> [Entry]] = [
        PersonalEntries.entries, PlannedEntries.entries, OfficeEntries.entries,
    ]

    private(set) var entries: [Entry] = []

    static let none = OwnEntries()

    private init() {}

    /// Reads what is near the window; the same rows give the same entries in the same order.
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

    /// Each entry with what keeps it out of the feed, within a separate budget.
    func judged(by filter: FeedFilter) -> [(entry: Entry, exclusion: Exclusion?)] {
        var budget = RecurrenceBudget(steps: SeriesWork.ofFeed)
        return entries.map { entry in
            (entry, filter.exclusion(by: Extent(of: entry.events, zone: filter.zone), nil, &budget))
        }
    }
}
