// SPDX-License-Identifier: Apache-2.0

extension ReadTransaction {
    /// The place of the last access that is in the counts.
    public func accessSequence() throws -> Int { try setting("accessSequence").flatMap { Int($0) } ?? 0 }

    /// What the journal of this database is known by, nil when it has none.
    public func accessJournal() throws -> UInt64? { try setting("accessJournal").flatMap { UInt64($0) } }
}

extension WriteTransaction {
    /// Notes which journal is this database's.
    public func setAccessJournal(_ mark: UInt64) throws { try set("accessJournal", to: String(mark)) }

    /// Leaves the database without a journal, until it is opened with one.
    public func forgetAccessJournal() throws {
        try execute("DELETE FROM settings WHERE name = 'accessJournal'", [])
    }
}

extension WriteTransaction {
    /// Takes accesses, in the order of their places, into counts and lists, and notes the last one's place with them.
    ///
    /// Those whose place is in already are left out, so that doing it again changes nothing; so are those of feeds that
    /// are gone.
    ///
    /// - Parameters:
    ///   - newest: how many accesses of a feed stay listed at least; at most twice as many do.
    ///   - rules: by which some of them are noted for the feed's owner.
    /// - Returns: the place of the last access that is in the counts now.
    @discardableResult
    public func fold(
        _ accesses: [SequencedAccess], keepingNewest newest: Int = 1000, noting rules: AttentionRules = AttentionRules()
    ) throws -> Int {
        let folded = try accessSequence()
        let fresh = accesses.filter { $0.sequence > folded }
        guard let last = fresh.last?.sequence else { return folded }
        // Sorted, so that what lies together in the database is written together.
        var (feeds, clients) = try counted(Set(fresh.map(\.access.feed)).sorted())
        let known = fresh.filter { feeds[$0.access.feed] != nil }
        let arriving = Dictionary(grouping: known, by: \.access.feed).mapValues(\.count)

        var listed: [[SQLValue]] = []
        for one in known {
            guard var feed = feeds[one.access.feed] else { continue }
            feed.total += 1
            let day = AccessDays.day(of: one.access.at)
            let key = FeedAndClient(day: 0, feed: one.access.feed, client: one.access.client)
            if clients[key] == nil, feed.firstDay <= day - rules.firstDays {
                try note(newClient: key.client, of: key.feed, at: one.access.at)
            }
            feed.firstDay = min(feed.firstDay, day)
            clients[key, default: CountedClient(firstDay: day)].add(one, on: day, rules)
            // What would be cut off at once is not written.
            if feed.total + newest > feed.before + (arriving[one.access.feed] ?? 0) {
                listed.append(one.row(number: feed.total, previous: feed.head))
                feed.head = one.sequence
            }
            feed.lastAt = one.access.at
            feeds[one.access.feed] = feed
        }
        try insert(
            listed, columns: 8,
            into: "feed_accesses (sequence, previous, feed, number, accessed_at, client, status, network)")
        try countClients(clients)
        try countDays(known)
        try noteNetworks(clients, &feeds, rules)
        for (number, feed) in feeds where feed.before / newest < feed.total / newest {
            try cutList(of: number, after: newest)
        }
        try set("accessSequence", to: String(last))
        return last
    }

    private func countClients(_ clients: [FeedAndClient: CountedClient]) throws {
        let rows = clients.filter { $0.value.count > 0 }.sorted { $0.key < $1.key }.map { key, client -> [SQLValue] in
            [
                .integer(key.feed), .integer(key.client), .integer(client.count), .integer(client.lastAt),
                .integer(client.lastSequence), .integer(client.firstDay), .integer(client.networks.latest),
                .integer(client.networks.before),
            ]
        }
        try insert(
            rows, columns: 8,
            into: """
                feed_clients (feed, client, access_count, last_seen_at, last_sequence, first_day, networks,
                    networks_before)
                """,
            """
            ON CONFLICT (feed, client) DO UPDATE SET
                access_count = feed_clients.access_count + EXCLUDED.access_count,
                last_seen_at = EXCLUDED.last_seen_at, last_sequence = EXCLUDED.last_sequence,
                networks = EXCLUDED.networks, networks_before = EXCLUDED.networks_before
            """)
    }

    /// Looks closely at the few feeds that may have been read from too many networks.
    private func noteNetworks(
        _ clients: [FeedAndClient: CountedClient], _ feeds: inout [Int: CountedFeed], _ rules: AttentionRules
    ) throws {
        for (key, client) in clients where client.networks.latest != 0 {
            guard let feed = feeds[key.feed] else { continue }
            feeds[key.feed]?.networks |= client.networks.classes(upTo: AccessDays.day(of: feed.lastAt))
        }
        for (number, feed) in feeds where feed.networks.nonzeroBitCount >= rules.suspicious {
            try noteNetworks(of: number, at: feed.lastAt, rules)
        }
    }

    private func countDays(_ accesses: [SequencedAccess]) throws {
        var tallies: [FeedAndClient: Int] = [:]
        for one in accesses.lazy.map(\.access) {
            tallies[
                FeedAndClient(day: AccessDays.day(of: one.at), feed: one.feed, client: one.client), default: 0] += 1
        }
        let rows = tallies.sorted { $0.key < $1.key }.map { key, count -> [SQLValue] in
            [.integer(key.day), .integer(key.feed), .integer(key.client), .integer(count)]
        }
        try insert(
            rows, columns: 4, into: "feed_client_days (day, feed, client, access_count)",
            """
            ON CONFLICT (day, feed, client) DO UPDATE SET
                access_count = feed_client_days.access_count + EXCLUDED.access_count
            """)
    }

    /// How often feeds were read so far, by whom, and the place of the last time; only those that are there.
    private func counted(_ numbers: [Int]) throws -> ([Int: CountedFeed], [FeedAndClient: CountedClient]) {
        var feeds: [Int: CountedFeed] = [:]
        var clients: [FeedAndClient: CountedClient] = [:]
        feeds.reserveCapacity(numbers.count)
        clients.reserveCapacity(numbers.count)
        for group in groups(numbers) {
            let found = try rows(
                """
                SELECT feeds.number AS number, c.client AS client, c.access_count AS total, c.last_sequence AS head,
                    c.first_day AS first_day, c.networks AS networks, c.networks_before AS networks_before
                FROM feeds LEFT JOIN feed_clients AS c ON c.feed = feeds.number
                WHERE feeds.number IN (\(SQLText.parameters(group.count)))
                """, group.map(SQLValue.integer))
            for row in found {
                let number = try row.integer(required: "number")
                guard let client = row.integer("client") else {
                    feeds[number] = CountedFeed()
                    continue
                }
                let known = CountedClient(
                    firstDay: try row.integer(required: "first_day"),
                    networks: NetworkSketch(
                        latest: try row.integer(required: "networks"),
                        before: try row.integer(required: "networks_before")))
                clients[FeedAndClient(day: 0, feed: number, client: client)] = known
                feeds[number, default: CountedFeed()].add(
                    known, total: try row.integer(required: "total"), head: try row.integer(required: "head"))
            }
        }
        return (feeds, clients)
    }

    private func insert(_ rows: [[SQLValue]], columns: Int, into table: String, _ conflict: String = "") throws {
        for group in groups(rows) {
            try execute(
                "INSERT INTO \(table) VALUES \(SQLText.tuples(group.count, of: columns)) \(conflict)",
                group.flatMap { $0 })
        }
    }

    /// Of few sizes, so that few statements have to be kept prepared.
    private func groups<Element>(_ elements: [Element]) -> [ArraySlice<Element>] {
        var groups: [ArraySlice<Element>] = []
        var rest = elements[...]
        while !rest.isEmpty {
            let size = [64, 8, 1].first { $0 <= rest.count } ?? 1
            groups.append(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return groups
    }
}

extension WriteTransaction {
    /// Forgets single accesses older than a time, and counts by day older than another; all other counts stay.
    ///
    /// - Parameter now: times beyond it are those of a clock that was wrong, and say nothing of an access's age.
    public func pruneAccesses(before time: Int, daysBefore day: Int, now: Int) throws {
        // By place, which is in order whatever the clock did, so that no list is cut in its middle. The plus keeps the
        // search on the key: it ends at the first access that is young enough.
        let young = try row(
            """
            SELECT sequence FROM feed_accesses WHERE +accessed_at BETWEEN $1 AND $2 ORDER BY sequence LIMIT 1
            """, [.integer(time), .integer(now)])?.integer("sequence")
        if let young {
            try execute("DELETE FROM feed_accesses WHERE sequence < $1", [.integer(young)])
        } else {
            try execute("DELETE FROM feed_accesses WHERE accessed_at < $1", [.integer(time)])
        }
        try execute("DELETE FROM feed_client_days WHERE day < $1", [.integer(AccessDays.day(of: day))])
    }

    /// Removes everything that was counted of a feed.
    func forgetAccesses(of number: Int) throws {
        try cutList(of: number, after: 0)
        try execute(
            "DELETE FROM feed_client_days WHERE day IN (\(AccessDays.all) SELECT day FROM days) AND feed = $1",
            [.integer(number)])
        try execute("DELETE FROM feed_clients WHERE feed = $1", [.integer(number)])
        try execute("DELETE FROM feed_attention WHERE feed = $1", [.integer(number)])
    }

    /// Ends a feed's list of accesses after the newest ones.
    private func cutList(of number: Int, after newest: Int) throws {
        try execute(
            """
            WITH RECURSIVE list (sequence, previous, place) AS (
                SELECT sequence, previous, 1 FROM feed_accesses
                WHERE sequence = (SELECT MAX(last_sequence) FROM feed_clients WHERE feed = $1)
                UNION ALL
                SELECT a.sequence, a.previous, list.place + 1
                FROM list JOIN feed_accesses AS a ON a.sequence = list.previous
            )
            DELETE FROM feed_accesses WHERE sequence IN (SELECT sequence FROM list WHERE place > $2)
            """, [.integer(number), .integer(newest)])
    }
}

/// A feed's count while accesses are added to it.
private struct CountedFeed {
    var before = 0
    var total = 0
    var head = 0
    /// The day of its first access; far ahead when there was none.
    var firstDay = Int.max
    var lastAt = 0
    /// Classes of networks as in `NetworkSketch`, of all clients.
    var networks = 0

    mutating func add(_ client: CountedClient, total: Int, head: Int) {
        before += total
        self.total += total
        self.head = max(self.head, head)
        firstDay = min(firstDay, client.firstDay)
    }
}

/// What is added to a client's count.
private struct CountedClient {
    var count = 0
    var lastAt = 0
    var lastSequence = 0
    let firstDay: Int
    var networks = NetworkSketch()

    init(firstDay: Int, networks: NetworkSketch = NetworkSketch()) {
        self.firstDay = firstDay
        self.networks = networks
    }

    mutating func add(_ one: SequencedAccess, on day: Int, _ rules: AttentionRules) {
        count += 1
        lastAt = one.access.at
        lastSequence = one.sequence
        if !rules.roaming.contains(one.access.client) { networks.add(one.access.network, on: day) }
    }
}

private struct FeedAndClient: Hashable, Comparable {
    var day: Int
    var feed: Int
    var client: Int

    static func < (left: Self, right: Self) -> Bool {
        (left.day, left.feed, left.client) < (right.day, right.feed, right.client)
    }
}

extension SequencedAccess {
    fileprivate func row(number: Int, previous: Int) -> [SQLValue] {
        [
            .integer(sequence), .integer(previous), .integer(access.feed), .integer(number), .integer(access.at),
            .integer(access.client), .integer(access.status), .text(access.network.text),
        ]
    }
}
