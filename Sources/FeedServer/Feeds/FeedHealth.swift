// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import ICalBridge
import Storage

/// What a feed of one version comes to on one day: how long it is, and how much of the circle is not in it.
struct FeedWeight: Sendable {
    let version: FeedVersion
    let day: CivilDate
    /// Bytes as iCalendar.
    let size: Int
    /// How many items each rule leaves out, as the preview names them one by one; rules without any are not there.
    let leftOut: [Exclusion: Int]

    /// What was read of a feed for its weight.
    enum Look: Sendable {
        case known(FeedWeight)
        /// Its size, and what the rest is to be worked out of.
        case rows(FeedVersion, CivilDate, size: Int, LiveFeedParts, FeedWindow, FeedRows)
    }

    /// Looks a feed up; nil when it has ended.
    static func look(
        at feed: Feed, in transaction: any ReadTransaction, _ services: Services, now: Int
    ) throws -> Look? {
        guard feed.revokedAt == nil, feed.expiresAt ?? .max > now, let circle = try transaction.circle(feed.circleID)
        else { return nil }
        let parts = try LiveFeedParts(feed: feed, circle: circle, settings: services.settings)
        let version = FeedVersion(feed, circle)
        let day = FeedDay(parts.zone, now: now).date
        if let known = services.feeds.weight(of: feed.id, version, on: day) { return .known(known) }
        let window = FeedWindow(parts.configuration, today: day, zone: parts.zone)
        let size = try services.renderer.size(of: parts, window: window, in: transaction)
        return .rows(version, day, size: size, parts, window, try FeedRows(of: parts, window: window, in: transaction))
    }

    /// Works out what was not known, once no transaction waits for it.
    static func weigh(_ look: Look, _ services: Services) async throws -> FeedWeight {
        switch look {
        case .known(let weight): return weight
        case .rows(let version, let day, let size, let parts, let window, let rows):
            let contents = try await FeedContents.make(of: parts, window: window, rows)
            let weight = FeedWeight(
                version: version, day: day, size: size,
                leftOut: contents.entries.reduce(into: [:]) { counts, entry in
                    if let exclusion = entry.exclusion { counts[exclusion, default: 0] += 1 }
                })
            services.feeds.keep(weight, for: parts.feed.id)
            return weight
        }
    }
}

/// How a feed is doing: what it weighs, and who comes when.
struct FeedHealth: Sendable {
    /// What Google reads of a feed, in bytes.
    private static let large = 1_000_000

    /// Whether a feed of so many bytes is larger than some programs read.
    static func isLarge(_ bytes: Int) -> Bool { bytes > large }

    /// Nil for a feed that has ended.
    var weight: FeedWeight?
    var clients: [ClientRhythm]
    var days: [FeedClientDay]
}
