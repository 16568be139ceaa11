// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// The events planned on a user's phones, as a feed shows them to that user: with a title and a time.
enum PlannedEntries {
    private static let slack = 2 * 86_400_000

    static func each(
        of live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction,
        _ body: (FeedContents.Entry) throws -> Void
    ) throws {
        guard live.configuration.includePlanned else { return }
        let user = live.feed.userID
        let zone = try transaction.user(user)?.timeZone.flatMap { TimeZoneReference($0) } ?? live.look.zone
        for planned in try transaction.plannedEvents(
            of: user, from: window.from.milliseconds - slack, to: window.to.milliseconds + slack, after: nil,
            limit: .max)
        {
            try body(
                FeedContents.Entry(
                    collection: "planned", id: planned.externalID, events: [event(planned, live.look, in: zone)]))
        }
    }

    private static func event(_ planned: PlannedEvent, _ look: FeedRenderKey, in zone: TimeZoneReference) -> Event {
        let revision = look.revision(
            uid: planned.uid, sequence: planned.sequence, createdAt: planned.createdAt,
            updatedAt: planned.updatedAt)
        func zoned(_ milliseconds: Int) -> EventTime {
            .zoned(zone.rules.civil(at: Instant(milliseconds: milliseconds)), zone)
        }
        var event = Event(
            uid: planned.uid, start: zoned(planned.startsAt), end: .time(zoned(planned.endsAt)),
            summary: planned.title)
        if planned.isAllDay {
            let first = day(planned.startsAt, planned.startOffset)
            // On phones, an all-day event ends at the last second of its day or at the first of the next.
            let last = max(first, day(max(planned.startsAt, planned.endsAt - 1000), planned.endOffset))
            (event.start, event.end) = (.date(first), .time(.date(last.adding(days: 1))))
        }
        event.status = "CONFIRMED"
        event.take(revision)
        event.created = revision.createdAt
        event.mark(free: false)
        return event
    }

    /// Returns the date in the phone's local time.
    private static func day(_ milliseconds: Int, _ offset: Int) -> CivilDate {
        Instant(milliseconds: milliseconds).adding(seconds: offset).utc.date
    }
}
