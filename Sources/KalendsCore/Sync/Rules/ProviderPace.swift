// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage

/// How many runs with one provider or host may be under way: fewer after it asks everybody to wait, and more again with
/// each run that succeeds.
///
/// All connections share the application's quota: if each waited only for itself, the others would continue to use it
/// up. But one account that is asked to wait holds back no other, because its owner can bring that about.
struct ProviderPace: Hashable, Sendable {
    /// The wait in milliseconds if the provider does not say how long, and the longest wait for everybody.
    private static let shortest = 5_000
    private static let longest = 900_000
    /// If the accounts of this many users are asked to wait within `memory` milliseconds, the cause is not the
    /// individual accounts.
    private static let enough = 3
    private static let memory = 60_000

    /// The number of simultaneous runs in normal operation.
    let full: Int
    private var capacity: Double
    private(set) var waitsUntil = 0
    /// The number of consecutive waits.
    private var strikes = 0
    /// When an account of each user was last asked to wait.
    private var asked: [ByteString: Int] = [:]

    init(full: Int) { (self.full, capacity) = (full, Double(full)) }

    func limit(now: Int) -> Int { now < waitsUntil ? 0 : max(1, Int(capacity)) }

    /// Whether the pace is back to normal.
    func isUsual(now: Int) -> Bool {
        capacity >= Double(full) && now >= waitsUntil && asked.values.allSatisfy { now - $0 > Self.memory }
    }

    /// Records that a run ended without being asked to wait.
    mutating func noteTaken(now: Int) {
        guard now >= waitsUntil else { return }
        strikes = 0
        capacity = min(Double(full), capacity + 0.5)
    }

    /// Records that a user's account was asked to wait.
    ///
    /// - Parameters:
    ///   - seconds: how long; nil if the provider does not say. It counts only if the provider meant everybody.
    ///   - isForAll: whether the provider meant the application or the host as a whole, and not only this account.
    mutating func noteWait(_ seconds: Int?, of user: String, isForAll: Bool, now: Int) {
        asked = asked.filter { now - $0.value <= Self.memory }
        asked[ByteString(user)] = now
        guard isForAll || asked.count >= Self.enough else { return }
        // A run that ends while all wait began before the wait, so its only news is how long to wait.
        let isNew = now >= waitsUntil
        let usual = Self.shortest << min(isNew ? strikes : strikes - 1, 8)
        let given = isForAll ? seconds.map { max($0, 1) * 1000 } : nil
        let wait = min(max(given ?? usual, Self.shortest), Self.longest)
        if isNew {
            strikes += 1
            capacity = max(1, capacity / 2)
        }
        waitsUntil = max(waitsUntil, now + wait)
    }
}

extension ProviderFailure {
    /// Finds the wait that this failure asks for; nil if it does not ask for one.
    ///
    /// - Returns: the seconds to wait, nil if the provider does not say, and whether it meant everybody.
    func wait(at provider: Connection.Provider) -> (seconds: Int?, isForAll: Bool)? {
        switch (provider, kind) {
        case (.google, .quotaExceeded) where code?.isSameText(as: "dailyLimitExceeded") ?? false: (900, true)
        // Most limits are those of one account. Where it is the application's, others will be asked to wait as well.
        case (_, .throttled(let seconds)): (seconds, false)
        case (.caldav, .unavailable(let seconds?)): (seconds, true)
        default: nil
        }
    }
}
