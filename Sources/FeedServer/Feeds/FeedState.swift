// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// What a feed's bytes follow from at one moment.
struct FeedState: Sendable {
    var parts: LiveFeedParts
    var window: FeedWindow
    var key: FeedCache.Key
    /// The last change of anything the bytes depend on: of the circle, of the configuration, of the window's day.
    var changedAt: Int
}

extension Services {
    func feedState(_ feed: Feed, _ circle: Circle, now: Int) throws -> FeedState {
        let parts = try LiveFeedParts(feed: feed, circle: circle, titlePrefix: settings.titlePrefix)
        let window = FeedWindow(parts.configuration, now: now, zone: parts.zone)
        return FeedState(
            parts: parts, window: window,
            key: FeedCache.Key(
                feedID: feed.id, configChangedAt: feed.configChangedAt, sequenceOffset: feed.sequenceOffset,
                circleID: circle.id, circleVersion: circle.version, day: window.today),
            changedAt: max(circle.changedAt, feed.configChangedAt, window.since.milliseconds))
    }
}
