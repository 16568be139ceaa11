// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Slows down who tries one unknown token after another, by network and in bounded memory.
///
/// Live tokens never pass here: a reader of a real feed is never slowed. What it knows is worth a minute, so that a
/// restart loses nothing, and a guess of 256 bits gains nothing by it.
package final class GuessBrake: Sendable {
    private struct Misses {
        var count: Int
        var since: Int
    }

    /// Misses within a minute that cost nothing: an old URL in a few calendar apps.
    private static let free = 10
    private static let window = 60_000
    private static let capacity = 10_000
    private static let longest = 5_000

    private struct Table {
        var networks: [ByteString: Misses] = [:]
        var sweptAt = 0
    }

    /// How often a full table is looked through for networks to forget, so that a miss costs no more when it is full.
    private static let sweep = 1_000

    private let table = Mutex(Table())

    package init() {}

    /// Notes a miss and returns how many milliseconds its answer has to wait.
    package func delay(forMissFrom network: String, now: Int) -> Int {
        table.withLock { table in
            if table.networks.count >= Self.capacity, table.networks[network] == nil {
                if now >= table.sweptAt + Self.sweep || now < table.sweptAt {
                    table.sweptAt = now
                    table.networks = table.networks.filter { now - $0.value.since < Self.window }
                }
                // Full of networks that all miss now: the whole table counts as one.
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
