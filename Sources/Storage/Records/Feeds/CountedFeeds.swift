// SPDX-License-Identifier: Apache-2.0

/// A feed's count while accesses are being added to it.
struct CountedFeed {
    var before = 0
    var total = 0
    var head = 0
    /// The day of its first access; `Int.max` when there was none.
    var firstDay = Int.max
    var lastAt = 0
    /// The classes of networks of all clients, as in `NetworkSketch`.
    var networks = 0
    /// The current version of its circle.
    var circleVersion = 0
}

/// The part that is added to a client's count.
struct CountedClient {
    let key: FeedAndClient
    var count = 0
    var lastAt = 0
    var lastSequence = 0
    /// The day of its first access.
    let firstDay: Int
    var networks = NetworkSketch()
    /// The latest version of the circle that the client was shown; 0 when none is known.
    private(set) var seenVersion = 0

    /// Records that the client was shown a version; accesses may be recorded in another order than they were answered
    /// in.
    mutating func see(_ version: Int) { seenVersion = max(seenVersion, version) }

    /// - Returns: whether it came from a network whose class is new on that day, and the client is not one that roams.
    mutating func add(_ one: SequencedAccess, on day: Int, _ rules: AttentionRules) -> Bool {
        count += 1
        lastAt = one.access.at
        lastSequence = one.sequence
        return !rules.roaming.contains(one.access.client) && networks.add(one.access.network, on: day)
    }
}

/// The feeds of some accesses, with all their clients.
struct CountedFeeds {
    var feeds: [Int: CountedFeed] = [:]
    var clients: [CountedClient] = []
    private var positions: [FeedAndClient: Int] = [:]

    init(capacity: Int) {
        feeds.reserveCapacity(capacity)
        clients.reserveCapacity(capacity)
        positions.reserveCapacity(capacity)
    }

    /// Adds a client as it is stored, or a feed without clients: number, client, count, last place, first day,
    /// networks, the circle's version and the last version that the client was shown.
    ///
    /// - Parameter day: the day whose networks count, with those of the day before.
    mutating func add(_ row: SQLRow, on day: Int) {
        // Columns are read by place and not by name, because this runs for each access.
        func number(_ column: Int) -> Int? { if case .integer(let value) = row.values[column] { value } else { nil } }
        guard let feed = number(0) else { return }
        var counted = feeds[feed] ?? CountedFeed()
        counted.circleVersion = number(7) ?? 0
        defer { feeds[feed] = counted }
        guard let client = number(1), let count = number(2), let last = number(3), let first = number(4),
            let latest = number(5), let before = number(6)
        else { return }
        let networks = NetworkSketch(latest: latest, before: before)
        counted.before += count
        counted.total += count
        counted.head = max(counted.head, last)
        counted.firstDay = min(counted.firstDay, first)
        counted.networks |= networks.classes(upTo: day)
        let key = FeedAndClient(feed: feed, client: client)
        positions[key] = clients.count
        clients.append(CountedClient(key: key, firstDay: first, networks: networks, seenVersion: number(8) ?? 0))
    }

    /// Returns the place of a client in `clients`, and whether it is new.
    mutating func client(_ key: FeedAndClient, since day: Int) -> (index: Int, isNew: Bool) {
        if let known = positions[key] { return (known, false) }
        positions[key] = clients.count
        clients.append(CountedClient(key: key, firstDay: day))
        return (clients.count - 1, true)
    }
}

/// A day in UTC, a feed's number and a client in one word: the day needs 22 bits, the feed 32 and the client 8.
struct FeedAndClient: Hashable, Comparable {
    private let word: Int

    init(day: Int = 0, feed: Int, client: Int) { word = day << 40 | feed << 8 | client }

    var day: Int { word >> 40 }
    var feed: Int { word >> 8 & 0xFFFF_FFFF }
    var client: Int { word & 0xFF }

    static func < (one: Self, other: Self) -> Bool { one.word < other.word }
}
