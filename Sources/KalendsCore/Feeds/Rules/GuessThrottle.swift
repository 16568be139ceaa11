// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Slows down networks that try one unknown token after another, with limited memory.
///
/// Valid tokens never get here, so readers of real feeds are never slowed. Counts last only a minute, so a restart
/// loses little, and that does not help anybody to guess 256 bits.
package final class GuessThrottle: Sendable {
    private struct Misses {
        var count: Int
        var since: Int
    }

    /// The number of misses within a minute without a delay, such as those of an old URL in a few calendar apps.
    private static let free = 10
    private static let window = 60_000
    private static let capacity = 10_000
    private static let longest = 5_000

    private struct Table {
        var networks: [ByteString: Misses] = [:]
        var sweptAt = 0
    }

    /// The shortest time in milliseconds between searches of a full table for networks to forget, so that misses do not
    /// become more expensive when it is full.
    private static let sweep = 1_000

    private let table = Mutex(Table())

    package init() {}

    /// Records a miss and returns how many milliseconds its answer has to wait.
    package func delay(forMissFrom network: String, now: Int) -> Int {
        table.withLock { table in
            if table.networks.count >= Self.capacity, table.networks[network] == nil {
                if now >= table.sweptAt + Self.sweep || now < table.sweptAt {
                    table.sweptAt = now
                    table.networks = table.networks.filter { now - $0.value.since < Self.window }
                }
                // The table is full of networks that all have recent misses, so it counts as one network.
                if table.networks.count >= Self.capacity { return Self.longest }
            }
            var misses = table.networks[network] ?? Misses(count: 0, since: now)
            if now - misses.since >= Self.window || now < misses.since { misses = Misses(count: 0, since: now) }
            misses.count += 1
            table.networks[network] = misses
            let excess = misses.count - Self.free
            return excess <= 0 ? 0 : min(Self.longest, 50 << min(excess, 10))
        }
    }
}
