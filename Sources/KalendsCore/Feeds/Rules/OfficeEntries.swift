// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import OfficeDays
import Storage

/// The events of a user's office days, as a feed shows them to that user.
enum OfficeEntries {
    /// The name of the entries' collection in previews.
    static let collection = "officeDays"

    /// How many days an event may be off, because its zone is not the feed's.
    private static let slack = 2

    static func each(
        of live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction,
        _ body: (FeedContents.Entry) throws -> Void
    ) throws {
        guard live.configuration.includePersonal else { return }
        let days = window.firstDay.daysSinceEpoch - slack...window.endDay.daysSinceEpoch + slack
        for event in try OfficeDayEvents.entries(of: live.feed.userID, for: .feed, on: days, in: transaction)
        where event.state != .removed {
            var shown = event.calendarEvent
            let revision = live.look.revision(
                uid: shown.uid, sequence: shown.sequence, createdAt: event.changedAt * 1000,
                updatedAt: event.changedAt * 1000)
            shown.take(revision)
            try body(FeedContents.Entry(collection: collection, id: event.uid, events: [shown]))
        }
    }
}
