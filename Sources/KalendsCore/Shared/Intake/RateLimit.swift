// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A limit on how often each of many callers may do something: a burst at once, and one more time after each span.
///
/// Its memory is limited; a caller who is forgotten to make room starts with a full burst, so the limit locks nobody
/// out.
package final class RateLimit: Sendable {
    /// The part of the burst that is used up at a point in time, in milliseconds of refill.
    private struct Use {
        var owed: Int
        var at: Int
    }

    private let burst: Int
    private let span: Int
    private let uses: Mutex<LeastRecentlyUsed<ByteString, Use>>

    /// - Parameters:
    ///   - burst: how many times something may be done at once.
    ///   - span: milliseconds after which one more is allowed.
    package init(burst: Int, span: Int, capacity: Int = 10_000) {
        (self.burst, self.span) = (burst, span)
        uses = Mutex(LeastRecentlyUsed(limit: capacity))
    }

    /// Returns how long to wait until one more is allowed, in milliseconds, and uses nothing.
    func wait(_ key: ByteString, now: Int) -> Int {
        uses.withLock { uses in
            guard let use = uses.find(key) else { return 0 }
            return max(0, use.owed - max(0, now - use.at) + span - burst * span)
        }
    }

    /// Subtracts `count` milliseconds of refill, below zero if fewer are left.
    func charge(_ key: ByteString, _ count: Int, now: Int) {
        guard count > 0 else { return }
        uses.withLock { uses in
            let use = uses.find(key) ?? Use(owed: 0, at: now)
            uses.keep(Use(owed: max(0, use.owed - max(0, now - use.at)) + count, at: now), for: key, cost: 1)
        }
    }

    /// Uses one turn; throws 429 with the time until the next one.
    ///
    /// - Parameter what: the start of the sentence, such as “A circle's calendars are refreshed”.
    func take(_ key: String, now: Int, _ what: String) throws(Refusal) {
        let key = ByteString(key)
        let wait = uses.withLock { uses -> Int in
            var use = uses.find(key) ?? Use(owed: 0, at: now)
            // A clock that was set back changes nothing.
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
