// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage

/// How many runs of one provider, or with one host, may be under way: fewer when it asks everybody to wait, and more again
/// with each run that it takes.
///
/// A quota of the application is one for all of its connections: when each waited by itself, the others would go on
/// using it up.
struct ProviderPace: Hashable, Sendable {
    /// Milliseconds: what is waited when the provider does not say how long, and the most that is waited for all.
    private static let shortest = 5_000
    private static let longest = 900_000
    /// So many connections that are asked to wait within a minute are not each one's own fault.
    private static let enough = 3
    private static let memory = 60_000

    /// Runs at once when nothing is amiss.
    let full: Int
    private var places: Double
    private(set) var waitsUntil = 0
    /// Waits in a row.
    private var strikes = 0
    /// When connections were asked to wait, each for itself.
    private var asked: [ByteString: Int] = [:]

    init(full: Int) { (self.full, places) = (full, Double(full)) }

    func limit(now: Int) -> Int { now < waitsUntil ? 0 : max(1, Int(places)) }

    /// Whether it is as if nothing had happened.
    func isUsual(now: Int) -> Bool {
        places >= Double(full) && now >= waitsUntil && asked.values.allSatisfy { now - $0 > Self.memory }
    }

    /// A run ended that was not asked to wait.
    mutating func noteTaken(now: Int) {
        guard now >= waitsUntil else { return }
        strikes = 0
        places = min(Double(full), places + 0.5)
    }

    /// A connection was asked to wait.
    ///
    /// - Parameters:
    ///   - seconds: how long, nil where the provider does not say.
    ///   - isForAll: whether the provider meant the application or the host, and not this account.
    mutating func noteWait(_ seconds: Int?, of connection: String, isForAll: Bool, now: Int) {
        asked = asked.filter { now - $0.value <= Self.memory }
        asked[ByteString(connection)] = now
        guard isForAll || asked.count >= Self.enough else { return }
        // What ends while all wait began before: it says nothing new but how long.
        let isNew = now >= waitsUntil
        let usual = Self.shortest << min(isNew ? strikes : strikes - 1, 8)
        let wait = min(max(seconds.map { max($0, 1) * 1000 } ?? usual, Self.shortest), Self.longest)
        if isNew {
            strikes += 1
            places = max(1, places / 2)
        }
        waitsUntil = max(waitsUntil, now + wait)
    }
}

extension ProviderFailure {
    /// What it says about a provider as a whole; nil for what concerns one account only.
    ///
    /// - Returns: the seconds to wait, nil where the provider does not say, and whether it meant everybody.
    func wait(at provider: Connection.Provider) -> (seconds: Int?, isForAll: Bool)? {
        switch (provider, kind) {
        // Quotas of the project; that of a user has a separate reason.
        case (.google, .throttled(let seconds)):
            (seconds, !(code?.isSameText(as: "userRateLimitExceeded") ?? false))
        case (.google, .quotaExceeded) where code?.isSameText(as: "dailyLimitExceeded") ?? false: (900, true)
        // Most of Graph's limits are those of one mailbox.
        case (.outlook, .throttled(let seconds)): (seconds, false)
        case (.caldav, .throttled(let seconds)): (seconds, true)
        case (.caldav, .unavailable(let seconds?)): (seconds, true)
        default: nil
        }
    }
}
