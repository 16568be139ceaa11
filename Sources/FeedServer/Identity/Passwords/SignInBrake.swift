// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Synchronization

/// Makes who guesses passwords wait, by user and by network, longer with each guess and in bounded memory.
///
/// The waits end by themselves, after a quarter of an hour at most. A network from which the user signed in has a count
/// of its own: guesses from elsewhere keep nobody out at home.
final class SignInBrake: Sendable {
    private struct Failures {
        var count = 0
        var last = 0
        /// Until when the next try is refused unseen.
        var until = 0
    }

    private struct Table {
        var users = LeastRecentlyUsed<String, Failures>(limit: capacity)
        var networks = LeastRecentlyUsed<String, Failures>(limit: capacity)
        /// The networks from which users signed in, the latest last.
        var homes = LeastRecentlyUsed<String, [String]>(limit: capacity)

        /// What a user's failures from this network are counted under; an id has no space.
        mutating func key(_ user: String, _ network: String) -> String {
            homes.find(user)?.contains(network) == true ? "\(user) \(network)" : user
        }
    }

    /// Failures that cost nothing; many people may share a network.
    private static let freeOfUser = 5
    private static let freeOfNetwork = 20
    private static let first = 30_000
    private static let longest = 900_000
    /// After this time without a failure all is forgotten.
    private static let memory = 3_600_000
    private static let capacity = 10_000
    private static let mostHomes = 8

    private let table = Mutex(Table())

    /// Counts a try as a failure, until `succeed` says otherwise, so that tries at the same time count too.
    ///
    /// Throws 429 for one that comes too early, which is not counted.
    func begin(_ user: String, from network: String, now: Int) throws {
        let wait = table.withLock { table -> Int in
            let key = table.key(user, network)
            var ofUser = Self.remembered(table.users.find(key), now: now)
            var ofNetwork = Self.remembered(table.networks.find(network), now: now)
            let until = max(ofUser.until, ofNetwork.until)
            guard until <= now else { return until - now }
            Self.count(&ofUser, free: Self.freeOfUser, now: now)
            Self.count(&ofNetwork, free: Self.freeOfNetwork, now: now)
            table.users.keep(ofUser, for: key, cost: 1)
            table.networks.keep(ofNetwork, for: network, cost: 1)
            return 0
        }
        guard wait > 0 else { return }
        let seconds = (wait + 999) / 1000
        throw Refusal(
            status: .tooManyRequests, detail: "Too many tries. Wait \(seconds) seconds before the next.",
            headers: [.retryAfter: String(seconds)])
    }

    /// Clears the user's count in this network, and takes back the try of the network.
    func succeed(_ user: String, from network: String, now: Int) {
        table.withLock { table in
            table.users.remove(table.key(user, network))
            let homes = (table.homes.find(user) ?? []).filter { $0 != network } + [network]
            table.homes.keep(Array(homes.suffix(Self.mostHomes)), for: user, cost: 1)
            guard var failures = table.networks.find(network) else { return }
            failures.count -= 1
            failures.until = min(failures.until, now)
            table.networks.keep(failures, for: network, cost: 1)
        }
    }

    /// Clears the user's counts, once there is a new password.
    func forget(_ user: String) {
        table.withLock { table in
            for network in table.homes.find(user) ?? [] { table.users.remove("\(user) \(network)") }
            table.users.remove(user)
        }
    }

    private static func remembered(_ failures: Failures?, now: Int) -> Failures {
        guard let failures, now >= failures.last, now - failures.last < memory else { return Failures() }
        return failures
    }

    private static func count(_ failures: inout Failures, free: Int, now: Int) {
        failures.count += 1
        failures.last = now
        let excess = failures.count - free
        failures.until = excess < 0 ? now : now + min(longest, first << min(excess, 10))
    }
}
