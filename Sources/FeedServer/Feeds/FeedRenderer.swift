// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Makes a feed's bytes.
enum FeedRenderer {
    /// Raised whenever the same state would give other bytes than before, so that readers are told of the change.
    static let version = 1

    /// How often readers are asked to come back.
    private static let refreshInterval = ICalDuration(seconds: 3600)

    static func render(
        _ live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction
    ) throws -> [UInt8] {
        let contents = try FeedContents(of: live, window: window, keepsExcluded: false, in: transaction)
        var calendar = ICalendar(name: calendarName(live), events: contents.events)
        calendar.method = "PUBLISH"
        calendar.refreshInterval = refreshInterval
        calendar.color = live.configuration.color
        if live.configuration.level < .minimal {
            calendar.description = "The schedule of \(live.circle.name), kept by Kalends."
        }
        return calendar.serialized(coverage: window.from...window.to)
    }

    /// The circle's name alone: a reader's label may be of no concern to whom the calendar is shown.
    private static func calendarName(_ live: LiveFeedParts) -> String {
        live.configuration.level >= .minimal ? "\(live.titlePrefix) Calendar" : live.circle.name
    }
}
