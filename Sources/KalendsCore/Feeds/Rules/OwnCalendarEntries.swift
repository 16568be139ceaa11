// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import ICalBridge
import Storage

/// The events of a user's own calendars, as a feed shows them to that user.
enum OwnCalendarEntries {
    /// How many seconds an event may be off, because its zone is not the feed's.
    private static let slack = 2 * 86_400
    private static let page = 50

    static func each(
        of live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction,
        _ body: (FeedContents.Entry) throws -> Void
    ) throws {
        guard live.configuration.includePersonal else { return }
        let user = live.feed.userID
        let zone = try transaction.user(user)?.timeZone.flatMap { TimeZoneReference($0) } ?? live.look.zone
        let span = window.from.milliseconds / 1000 - slack..<window.to.milliseconds / 1000 + slack
        var left = OwnCalendar.mostShownBytes
        for calendar in try transaction.ownCalendars(of: user) {
            var last: String? = ""
            while let name = last {
                let found = try transaction.shownOwnResources(
                    of: calendar.id, in: span, after: name, limit: page)
                for resource in found where !resource.shown.isEmpty {
                    left -= resource.shown.utf8.count
                    guard left >= 0 else { return }
                    try body(
                        FeedContents.Entry(
                            collection: "personal", id: "\(calendar.id)/\(resource.name)",
                            events: try events(of: resource, live.look, in: zone)))
                }
                last = found.count == page ? found.last?.name : nil
            }
        }
    }

    private static func events(
        of resource: ShownOwnResource, _ look: FeedRenderKey, in zone: TimeZoneReference
    ) throws -> [Event] {
        // An event of a circle, or of another own calendar, may have the same UID.
        let uid =
            ContentHash(of: SHA256.hash(data: Array("\(resource.calendarID)\u{0}\(resource.uid)".utf8))).text + "@own"
        let revision = look.revision(
            uid: uid, sequence: resource.sequence, createdAt: resource.createdAt, updatedAt: resource.changedAt)
        let events = try OwnEvents.events(Array(resource.shown.utf8)).map { event in
            var event = event
            event.uid = uid
            event.take(revision)
            return event
        }
        return EntryBuilder.anchored(events, in: zone)
    }
}
