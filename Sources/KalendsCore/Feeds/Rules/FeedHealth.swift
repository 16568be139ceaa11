// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import ICalBridge
package import Storage

/// The weight of one version of a feed on one day: how long it is, and how much of the circle is not in it.
package struct FeedWeight: Sendable {
    let version: FeedVersion
    let day: CivilDate
    /// The size of the feed as iCalendar, in bytes.
    package let size: Int
    /// How many items each rule leaves out, counted like the preview's list; rules that leave out none are missing.
    package let leftOut: [Exclusion: Int]

    private init(version: FeedVersion, day: CivilDate, size: Int, leftOut: [Exclusion: Int]) {
        (self.version, self.day, self.size, self.leftOut) = (version, day, size, leftOut)
    }

    /// The weight of a feed now, calculated unless it is known; nil if the feed has ended.
    ///
    /// - Parameter room: takes the room for the whole circle; throws `CircleRoom.Needed` when it is nil or has none.
    init?(
        of feed: Feed, _ room: CircleRoom?, in transaction: any ReadTransaction, _ context: FeedContext
    ) throws {
        let now = context.now()
        guard feed.isLive(at: now), let circle = try transaction.circle(feed.circleID) else { return nil }
        let parts = try LiveFeedParts(feed: feed, circle: circle, settings: context.settings)
        let (version, day) = (FeedVersion(feed, circle), FeedDay(parts.zone, now: now).date)
        if let known = context.cache.weight(of: feed.id, version, on: day) {
            self = known
            return
        }
        guard let room else { throw CircleRoom.Needed() }
        try room.take(circle.id, andOwnOf: feed.showsOwn ? feed.userID : nil, with: .asForFeed, in: transaction)
        let window = FeedWindow(parts.configuration, today: day, zone: parts.zone)
        var leftOut: [Exclusion: Int] = [:]
        try FeedContents.each(of: parts, window: window, in: transaction) { entry in
            if let exclusion = entry.exclusion { leftOut[exclusion, default: 0] += 1 }
        }
        self.init(
            version: version, day: day,
            size: try context.renderer.size(of: parts, window: window, in: transaction), leftOut: leftOut)
        // It holds for its version, whichever run of the transaction finds it.
        context.cache.keep(self, for: feed.id)
    }
}

extension Feed {
    fileprivate func isLive(at now: Int) -> Bool { revokedAt == nil && expiresAt ?? .max > now }
}

/// The health of a feed: its weight, and when its clients read it.
package struct FeedHealth: Sendable {
    /// The size up to which Google reads a feed, in bytes.
    private static let large = 1_000_000

    /// Whether a feed of this many bytes is larger than what some programs read.
    package static func isLarge(_ bytes: Int) -> Bool { bytes > large }

    /// The feed's weight; nil if it has ended.
    package var weight: FeedWeight?
    package var clients: [ClientRhythm]
    package var days: [FeedClientDay]
}
