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
    /// - Parameter newest: how many accesses of a feed stay listed at least; at most twice as many do.
    /// - Returns: the place of the last access that is in the counts now.
    @discardableResult
    public func fold(_ accesses: [SequencedAccess], keepingNewest newest: Int = 1000) throws -> Int {
        let folded = try accessSequence()
        let fresh = accesses.filter { $0.sequence > folded }
        guard let last = fresh.last?.sequence else { return folded }
        // Sorted, so that what lies together in the database is written together.
        var feeds = try counted(Set(fresh.map(\.access.feed)).sorted())
        let known = fresh.filter { feeds[$0.access.feed] != nil }
        let arriving = Dictionary(grouping: known, by: \.access.feed).mapValues(\.count)

        var listed: [[SQLValue]] = []
        for one in known {
            guard var feed = feeds[one.access.feed] else { continue }
            feed.total += 1
            // What would be cut off at once is not written.
            if feed.total + newest > feed.before + (arriving[one.access.feed] ?? 0) {
                listed.append(one.row(number: feed.total, previous: feed.head))
                feed.head = one.sequence
            }
            feeds[one.access.feed] = feed
        }
        try insert(
            listed, columns: 8,
            into: "feed_accesses (sequence, previous, feed, number, accessed_at, client, status, network)")
        try countClients(known)
        try countDays(known)
        for (number, feed) in feeds where feed.before / newest < feed.total / newest {
            try cutList(of: number, after: newest)
        }
        try set("accessSequence", to: String(last))
        return last
    }

    private func countClients(_ accesses: [SequencedAccess]) throws {
        var tallies: [FeedAndClient: (count: Int, at: Int, sequence: Int)] = [:]
        for one in accesses {
            let key = FeedAndClient(day: 0, feed: one.access.feed, client: one.access.client)
            tallies[key] = ((tallies[key]?.count ?? 0) + 1, one.access.at, one.sequence)
        }
        let rows = tallies.sorted { $0.key < $1.key }.map { key, tally -> [SQLValue] in
            [
                .integer(key.feed), .integer(key.client), .integer(tally.count), .integer(tally.at),
                .integer(tally.sequence),
            ]
        }
        try insert(
            rows, columns: 5, into: "feed_clients (feed, client, access_count, last_seen_at, last_sequence)",
            """
            ON CONFLICT (feed, client) DO UPDATE SET
                access_count = feed_clients.access_count + EXCLUDED.access_count,
                last_seen_at = EXCLUDED.last_seen_at, last_sequence = EXCLUDED.last_sequence
            """)
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

    /// How often feeds were read so far, and the place of the last time; only those that are there.
    private func counted(_ numbers: [Int]) throws -> [Int: CountedFeed] {
        var feeds: [Int: CountedFeed] = [:]
        for group in groups(numbers) {
            let found = try rows(
                """
                SELECT feeds.number AS number, CAST(COALESCE(SUM(c.access_count), 0) AS BIGINT) AS total,
                    COALESCE(MAX(c.last_sequence), 0) AS head
                FROM feeds LEFT JOIN feed_clients AS c ON c.feed = feeds.number
                WHERE feeds.number IN (\(SQLText.parameters(group.count))) GROUP BY feeds.number
                """, group.map(SQLValue.integer))
            for row in found {
                let total = try row.integer(required: "total")
                feeds[try row.integer(required: "number")] = CountedFeed(
                    before: total, total: total, head: try row.integer(required: "head"))
            }
        }
        return feeds
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
    var before: Int
    var total: Int
    var head: Int
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
