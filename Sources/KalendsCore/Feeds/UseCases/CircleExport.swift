// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Exports a whole circle as one calendar file, for all dates.
package enum CircleExport {
    /// Seconds before and after the present for which time zones are written.
    private static let decade = 3660 * 86_400

    /// Returns the file as iCalendar; throws 404 for a circle that is not the caller's, and 503 if others keep the room for it
    /// for too long.
    package static func file(of circleID: String, for caller: Caller, _ context: FeedContext) async throws -> FeedText {
        let (settings, present) = (context.settings, Instant(milliseconds: context.now()))
        _ = try await context.store.read { try Rights.circle(circleID, for: caller.identity, .read, in: $0) }
        let (room, turn) = try await context.room(forExportOf: circleID, for: caller.payer)
        defer { withExtendedLifetime(turn) {} }
        return try await context.store.read { transaction in
            let circle = try Rights.circle(circleID, for: caller.identity, .read, in: transaction)
            var configuration = FeedConfiguration()
            configuration.completedTasks = .keep
            (configuration.includeAttendees, configuration.includeAttachments) = (true, true)
            // The file shows the circle as a whole: a feed without an owner, with every kind and no window.
            let feed = Feed(
                id: "", circleID: circleID, userID: caller.userID ?? "", label: nil,
                config: try configuration.stored(settings.kinds),
                tokenHint: "", sealedToken: "", expiresAt: nil, now: 0)
            let live = try LiveFeedParts(feed: feed, circle: circle, settings: settings, isExport: true)
            let tasks = try tasks(of: live, in: transaction)
            var head = CalendarHead(coverage: present.adding(seconds: -decade)...present.adding(seconds: decade))
            var text = try FeedText.Spooling()
            try FeedContents.each(of: live, window: nil, in: transaction) { entry in
                guard entry.exclusion == nil else { return }
                let isTask = entry.collection == TaskContent.collection.rawValue
                let piece = CalendarPiece(isTask ? tasks[ByteString(entry.id)] ?? entry.events : entry.events)
                head.cover(piece)
                try text.add(piece.bytes)
            }
            try text.add(JoinedCalendar.tail)
            return try text.finished(
                after: [head.bytes(of: ICalendar(name: circle.name, events: []))], room: room)
        }
    }

    /// Returns the tasks that came from files as the to-dos that they were, with what they say now, by the tasks' ids.
    private static func tasks(
        of live: LiveFeedParts, in transaction: any ReadTransaction
    ) throws -> [ByteString: [Event]] {
        let circle = live.circle
        guard try transaction.eventCount(of: .tasks, in: circle.id) > 0 else { return [:] }
        let builder = EntryBuilder(
            look: live.look, names: try CircleNames(circle.id, in: transaction), kinds: live.kinds)
        var (found, after): ([ByteString: [Event]], ImportedEventRecord.Key?) = ([:], nil)
        while true {
            let keys = try transaction.importedKeys(of: .tasks, in: circle, after: after, limit: together)
            let uids = keys.map(\.uid.string)
            let items = try transaction.importedTasks(uids, in: circle.id)
            let rows = try transaction.importedVersions(uids.map { ($0, "") }, of: [.tasks], in: circle)
            for (key, row) in rows {
                guard let item = items[key.uid], row.isLive else { continue }
                var row = try row.saying(item, in: live.zone)
                (row.sequence, row.createdAt, row.updatedAt) = (item.sequence, item.createdAt, item.updatedAt)
                row.shownUID = item.uid
                found[ByteString(item.id)] = try ImportedSeries.all([row], ofTasks: true).flatMap(builder.events)
            }
            guard keys.count == together else { return found }
            after = keys.last
        }
    }

    /// How many to-dos are looked up at once.
    private static let together = 200
}
