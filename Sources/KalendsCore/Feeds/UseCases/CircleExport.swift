// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Storage

/// Exports a whole circle as one calendar file, for all dates.
package enum CircleExport {
    /// Seconds before and after the present for which time zones are written.
    private static let decade = 3660 * 86_400

    /// Returns the file's bytes as iCalendar; throws 404 for a circle that is not the caller's.
    package static func file(of circleID: String, for caller: Caller, _ services: Services) async throws -> [UInt8] {
        let (settings, present) = (services.settings, Instant(milliseconds: services.now()))
        _ = try await services.store.read { try Rights.circle(circleID, for: caller.identity, .read, in: $0) }
        let room = try await services.room(forCircle: circleID, for: caller.payer)
        defer { withExtendedLifetime(room) {} }
        let (name, events) = try await services.store.read { transaction in
            let circle = try Rights.circle(circleID, for: caller.identity, .read, in: transaction)
            var configuration = FeedConfiguration()
            configuration.completedTasks = .keep
            (configuration.includeAttendees, configuration.includeAttachments) = (true, true)
            // The file shows the circle as a whole: a feed without an owner, with every kind and no window.
            let feed = Feed(
                id: "", circleID: circleID, userID: caller.userID ?? "", label: nil,
                config: try configuration.stored(settings.kinds),
                tokenHint: "", sealedToken: "", expiresAt: nil, now: 0)
            let live = try LiveFeedParts(feed: feed, circle: circle, settings: settings, showsAllFiles: true)
            return (circle.name, try FeedContents(of: live, window: nil, in: transaction).events)
        }
        return ICalendar(name: name, events: events)
            .serialized(coverage: present.adding(seconds: -decade)...present.adding(seconds: decade))
    }
}
