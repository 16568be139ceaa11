// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// What a feed's bytes follow from at one moment, without reading its events or its configuration.
struct FeedState: Sendable {
    let key: FeedCache.Key
    /// The last change of anything the bytes depend on: of the circle, of the configuration, of the window's day.
    let changedAt: Int
    /// The day that the window stands on.
    var today: CivilDate { key.day }

    init(_ feed: Feed, _ circle: Circle, form: CalendarForm, now: Int) throws {
        let zone = try circle.zone
        let today = zone.rules.civil(at: Instant(milliseconds: now)).date
        let midnight = zone.rules.instant(of: CivilDateTime(startOf: today))
        key = FeedCache.Key(
            feedID: feed.id, configChangedAt: feed.configChangedAt, sequenceOffset: feed.sequenceOffset,
            circleID: circle.id, circleVersion: circle.version, day: today, form: form)
        changedAt = max(circle.changedAt, feed.configChangedAt, midnight.milliseconds)
    }
}
