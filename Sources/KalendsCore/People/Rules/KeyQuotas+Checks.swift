// SPDX-License-Identifier: Apache-2.0

package import Storage
import Synchronization

extension KeyQuotas {
    /// The largest number that a quota may be.
    package static let most = 1_000_000

    /// The quotas by their names, null for what is not limited.
    package var json: JSONValue {
        let numbers = [("requestsPerMinute", requestsPerMinute), ("feeds", feeds), ("circles", circles)]
        return .object(
            Dictionary(uniqueKeysWithValues: numbers.map { (ByteString($0), $1.map(JSONValue.integer) ?? .null) }))
    }
}

extension Caller {
    /// Throws 409 if a feed that was just made is more than the caller's key may have in the circles that it reaches.
    func checkFeeds(in transaction: any ReadTransaction) throws {
        guard let most = keyQuotas.feeds, try transaction.feedCount(within: identity.bound, upTo: most + 1) > most
        else { return }
        throw Refusal.quota("The circles of this service key have", most, "feeds, counting those that have ended")
    }

    /// Throws 409 if a circle that was just made is more than the caller's key may reach.
    func checkCircles(in transaction: any ReadTransaction) throws {
        guard let most = keyQuotas.circles,
            try transaction.circleCount(within: identity.bound, upTo: most + 1) > most
        else { return }
        throw Refusal.quota("This service key has", most, "circles")
    }
}

/// Counts the requests of service keys at this server by the minute, for keys with a quota.
package final class KeyRequests: Sendable {
    private struct Minute {
        var since: Int
        var count: Int
    }

    private let minutes = Mutex(LeastRecentlyUsed<ByteString, Minute>(limit: 10_000))

    package init() {}

    /// Counts a request; throws 429 with the time until the next minute.
    package func take(_ key: ServiceKey, now: Int) throws(Refusal) {
        guard let most = key.quotas.requestsPerMinute else { return }
        let name = ByteString(key.id)
        let wait = minutes.withLock { minutes -> Int in
            var minute = minutes.find(name) ?? Minute(since: now, count: 0)
            // A clock that was set back begins another minute.
            if !(minute.since..<minute.since + 60_000).contains(now) { minute = Minute(since: now, count: 0) }
            guard minute.count < most else { return minute.since + 60_000 - now }
            minute.count += 1
            minutes.keep(minute, for: name, cost: 1)
            return 0
        }
        guard wait > 0 else { return }
        let seconds = (wait + 999) / 1000
        throw Refusal(
            .tooMany,
            detail: "This service key has at most \(most) requests a minute. Wait \(seconds) seconds.",
            retryAfter: seconds)
    }
}
