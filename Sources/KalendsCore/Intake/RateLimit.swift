// SPDX-License-Identifier: Apache-2.0

import Base
import Synchronization

/// How often each of many may do something: so many times at once, and one more each time that a span has gone by.
///
/// It is bounded in memory; whoever is forgotten for others starts again, so that the bound never locks anybody out.
package final class RateLimit: Sendable {
    /// What is used up of the burst, in milliseconds of refill, at a time.
    private struct Use {
        var owed: Int
        var at: Int
    }

    private let burst: Int
    private let span: Int
    private let uses: Mutex<LeastRecentlyUsed<ByteString, Use>>

    /// - Parameters:
    ///   - burst: how many times at once.
    ///   - span: milliseconds after which there is one more.
    package init(burst: Int, span: Int, capacity: Int = 10_000) {
        (self.burst, self.span) = (burst, span)
        uses = Mutex(LeastRecentlyUsed(limit: capacity))
    }

    /// Takes one; throws 429 with the time until there is another.
    ///
    /// - Parameter what: begins the sentence: “A circle's calendars are refreshed”.
    func take(_ key: String, now: Int, _ what: String) throws(Refusal) {
        let key = ByteString(key)
        let wait = uses.withLock { uses -> Int in
            var use = uses.find(key) ?? Use(owed: 0, at: now)
            // A clock that was put back gives nothing and takes nothing.
            use.owed = max(0, use.owed - max(0, now - use.at))
            use.at = now
            let room = burst * span - use.owed - span
            if room >= 0 { use.owed += span }
            uses.keep(use, for: key, cost: 1)
            return max(0, -room)
        }
        guard wait > 0 else { return }
        let seconds = (wait + 999) / 1000
        throw Refusal(
            .tooMany,
            detail:
                "\(what) \(burst) times in a row, and then once in \(span / 1000) seconds. Wait \(seconds) seconds.",
            retryAfter: seconds)
    }
}
