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

    /// What is known of a feed's weight without calculating it.
    enum Look: Sendable {
        case ended
        case known(FeedWeight)
        case unknown
    }

    /// Looks up what is known of a feed's weight.
    static func look(
        at feed: Feed, in transaction: any ReadTransaction, _ services: Services, now: Int
    ) throws -> Look {
        guard feed.isLive(at: now), let circle = try transaction.circle(feed.circleID) else { return .ended }
        let day = FeedDay(try circle.zone, now: now).date
        return services.feeds.weight(of: feed.id, FeedVersion(feed, circle), on: day).map(Look.known) ?? .unknown
    }

    /// Calculates a feed's weight; returns nil if the feed has ended in the meantime.
    ///
    /// It first takes room for the whole circle, and throws 503 if the server has none in time.
    static func weigh(_ feed: Feed, _ services: Services, now: Int) async throws -> FeedWeight? {
        let owner = feed.showsOwn ? feed.userID : nil
        let textRoom = try await services.room(forTextOf: feed.circleID, andOwnOf: owner, as: .iCalendar)
        let room = try await services.room(forCircle: feed.circleID, andOwnOf: owner, for: feed.userID)
        defer { withExtendedLifetime((room, textRoom)) {} }
        let weight = try await services.store.read { transaction -> FeedWeight? in
            guard let feed = try transaction.feed(feed.id), feed.isLive(at: now),
                let circle = try transaction.circle(feed.circleID)
            else { return nil }
            let parts = try LiveFeedParts(feed: feed, circle: circle, settings: services.settings)
            let day = FeedDay(parts.zone, now: now).date
            let window = FeedWindow(parts.configuration, today: day, zone: parts.zone)
            var leftOut: [Exclusion: Int] = [:]
            try FeedContents.each(of: parts, window: window, in: transaction) { entry in
                if let exclusion = entry.exclusion { leftOut[exclusion, default: 0] += 1 }
            }
            return FeedWeight(
                version: FeedVersion(feed, circle), day: day,
                size: try services.renderer.size(of: parts, window: window, in: transaction), leftOut: leftOut)
        }
        if let weight { services.feeds.keep(weight, for: feed.id) }
        return weight
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
