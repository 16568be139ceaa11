// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import ICalBridge

/// The day that a feed's window is relative to, in its circle's zone.
struct FeedDay: Hashable, Sendable {
    let date: CivilDate
    /// The start of the day and the start of the next one, in milliseconds since 1970.
    let from: Int
    let until: Int

    init(_ zone: TimeZoneReference, now: Int) {
        date = zone.rules.civil(at: Instant(milliseconds: now)).date
        from = zone.rules.instant(of: CivilDateTime(startOf: date)).milliseconds
        until = zone.rules.instant(of: CivilDateTime(startOf: date.adding(days: 1))).milliseconds
    }

    /// Returns what a feed shows on this day.
    func shown(_ hash: ContentHash, size: Int) -> ShownFeed {
        ShownFeed(hash: hash, from: from, until: until, size: size)
    }
}
