// SPDX-License-Identifier: Apache-2.0

extension ReadTransaction {
    /// Returns the place of the last access that is in the counts.
    public func accessSequence() throws -> Int { try setting("accessSequence").flatMap { Int($0) } ?? 0 }

    /// Returns the mark of this database's journal; nil when it has none.
    public func accessJournal() throws -> UInt64? { try setting("accessJournal").flatMap { UInt64($0) } }
}

extension WriteTransaction {
    /// Records which journal is this database's.
    public func setAccessJournal(_ journalID: UInt64) throws { try set("accessJournal", to: String(journalID)) }

    /// Leaves the database without a journal until it is opened with one.
    public func forgetAccessJournal() throws {
        try execute("DELETE FROM settings WHERE name = 'accessJournal'", [])
        try execute("DELETE FROM servers", [])
    }

    /// Adds accesses, in the order of their places, to counts and lists, and stores the last one's place with them.
    ///
    /// Accesses that were added before are left out, so that a repetition changes nothing; so are those of deleted
    /// feeds and app passwords.
    ///
    /// - Parameters:
    ///   - newest: how many accesses of a feed stay listed at least; at most twice as many stay.
    ///   - rules: decide which of them are reported to the feed's owner.
    ///   - mayBeLate: whether later ones may be in the counts already.
    /// - Returns: the place of the last access that is in the counts now.
    @discardableResult
    public func fold(
        _ accesses: [SequencedAccess], keepingNewest newest: Int = 1000,
        noting rules: AttentionRules = AttentionRules(),
        mayBeLate: Bool = false
    ) throws -> Int {
        let folded = try accessSequence()
        let fresh = accesses.filter { $0.sequence > folded }
        guard let last = fresh.last?.sequence else { return folded }
        // They are sorted so that rows that are together in the database are written together.
        let today = AccessDays.day(of: fresh.last?.access.at ?? 0)
        var counted = try counted(Set(fresh.map(\.access.feed)).sorted(), on: today)
        let known = fresh.filter { counted.feeds[$0.access.feed] != nil }
        let arriving = Dictionary(grouping: known, by: \.access.feed).mapValues(\.count)

        var listed: [[SQLValue]] = []
        var suspicious: Set<Int> = []
        for one in known {
            let number = one.access.feed
            guard var feed = counted.feeds[number] else { continue }
            feed.total += 1
            // Accesses that the list would drop at once are not written.
            if feed.total + newest > feed.before + (arriving[number] ?? 0) {
                listed.append(one.row(number: feed.total, previous: feed.head))
                feed.head = one.sequence
            }
            feed.lastAt = one.access.at
            let day = AccessDays.day(of: one.access.at)
            let (client, isNew) = counted.client(FeedAndClient(feed: number, client: one.access.client), since: day)
            if isNew, feed.firstDay <= day - rules.firstDays {
                try note(newClient: one.access.client, of: number, at: one.access.at)
            }
            feed.firstDay = min(feed.firstDay, day)
            counted.clients[client].see(one.access.version(before: feed.circleVersion))
            let isNewNetwork = counted.clients[client].add(one, on: day, rules)
            feed.networks |= counted.clients[client].networks.classes(upTo: today)
            // Only what is new is examined closely: a feed gets few new networks a day, however often it is read.
            if isNewNetwork, feed.networks.nonzeroBitCount >= rules.suspicious { suspicious.insert(number) }
            counted.feeds[number] = feed
        }
        try insert(
            listed, columns: 8,
            into: "feed_accesses (sequence, previous, feed, number, accessed_at, client, status, network)")
        try countClients(counted.clients, mayBeLate: mayBeLate)
        try countDays(known)
        for number in suspicious.sorted() {
            try noteNetworks(of: number, at: counted.feeds[number]?.lastAt ?? 0, rules)
        }
        for (number, feed) in counted.feeds where feed.before / newest < feed.total / newest {
            try cutList(of: number, after: newest)
        }
        try set("accessSequence", to: String(last))
        return last
    }

    private func countClients(_ clients: [CountedClient], mayBeLate: Bool) throws {
        let seen =
            mayBeLate
            ? """
            CASE WHEN feed_clients.last_seen_at > EXCLUDED.last_seen_at THEN feed_clients.last_seen_at
                ELSE EXCLUDED.last_seen_at END
            """ : "EXCLUDED.last_seen_at"
        let rows = clients.filter { $0.count > 0 }.sorted { $0.key < $1.key }.map { client -> [SQLValue] in
            [
                .integer(client.key.feed), .integer(client.key.client), .integer(client.count),
                .integer(client.lastAt), .integer(client.lastSequence), .integer(client.firstDay),
                .integer(client.networks.latest), .integer(client.networks.before), .integer(client.seenVersion),
            ]
        }
        try insert(
            rows, columns: 9,
            into: """
                feed_clients (feed, client, access_count, last_seen_at, last_sequence, first_day, networks,
                    networks_before, seen_version)
                """,
            """
            ON CONFLICT (feed, client) DO UPDATE SET
                access_count = feed_clients.access_count + EXCLUDED.access_count,
                last_seen_at = \(seen), last_sequence = EXCLUDED.last_sequence,
                networks = EXCLUDED.networks, networks_before = EXCLUDED.networks_before,
                seen_version = EXCLUDED.seen_version
            """)
    }

    private func countDays(_ accesses: [SequencedAccess]) throws {
        var tallies: [FeedAndClient: Int] = [:]
        for one in accesses.lazy.map(\.access) {
            let key = FeedAndClient(day: AccessDays.day(of: one.at), feed: one.feed, client: one.client)
            tallies[key, default: 0] += 1
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

    /// Returns how often feeds have been read, by which clients, and the place of the last access; only for feeds and app
    /// passwords that exist.
    private func counted(_ numbers: [Int], on day: Int) throws -> CountedFeeds {
        var counted = CountedFeeds(capacity: numbers.count)
        for group in groups(numbers) {
            let found = try rows(
                """
                SELECT feeds.number, c.client, c.access_count, c.last_sequence, c.first_day, c.networks,
                    c.networks_before, circles.version, c.seen_version
                FROM feeds JOIN circles ON circles.id = feeds.circle_id
                    LEFT JOIN feed_clients AS c ON c.feed = feeds.number
                WHERE feeds.number IN (\(SQLText.parameters(group.count)))
                """, group.map(SQLValue.integer))
            for row in found { counted.add(row, on: day) }
        }
        // Most accesses are those of feeds, so that app passwords are looked for only among the others.
        for group in groups(numbers.filter { counted.feeds[$0] == nil }) {
            let found = try rows(
                """
                SELECT p.number, c.client, c.access_count, c.last_sequence, c.first_day, c.networks, c.networks_before,
                    CAST(0 AS BIGINT) AS version, c.seen_version
                FROM app_passwords AS p LEFT JOIN feed_clients AS c ON c.feed = p.number
                WHERE p.number IN (\(SQLText.parameters(group.count)))
                """, group.map(SQLValue.integer))
            for row in found { counted.add(row, on: day) }
        }
        return counted
    }

    private func insert(_ rows: [[SQLValue]], columns: Int, into table: String, _ conflict: String = "") throws {
        for group in groups(rows) {
            try execute(
                "INSERT INTO \(table) VALUES \(SQLText.tuples(group.count, of: columns)) \(conflict)",
                group.flatMap { $0 })
        }
    }

    /// Splits elements into groups of few sizes, so that few prepared statements have to be kept.
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

    /// Removes some single accesses older than a time, and daily counts older than another; all other counts stay.
    ///
    /// - Parameters:
    ///   - now: later times come from a clock that was wrong, and do not show an access's age.
    ///   - limit: how many rows are examined.
    /// - Returns: false when none is left.
    @discardableResult
    public func pruneAccesses(before time: Int, daysBefore day: Int, now: Int, limit: Int = .max) throws -> Bool {
        let days = try execute(
            """
            DELETE FROM feed_client_days WHERE (day, feed, client) IN (
                SELECT day, feed, client FROM feed_client_days WHERE day < $1 LIMIT $2)
            """, [.integer(AccessDays.day(of: day)), .integer(limit)])
        if days == limit { return true }
        // By place, which is in order whatever the clock did, so that no list is cut in the middle.
        let first = try rows(
            "SELECT sequence, accessed_at FROM feed_accesses ORDER BY sequence LIMIT $1", [.integer(limit)])
        func isYoung(_ row: SQLRow) throws -> Bool {
            (time...max(time, now)).contains(try row.integer(required: "accessed_at"))
        }
        if let young = try first.first(where: isYoung) {
            try execute(
                "DELETE FROM feed_accesses WHERE sequence < $1", [.integer(try young.integer(required: "sequence"))])
            return false
        }
        if first.count == limit, let last = first.last, try hasAccess(from: time, to: now) {
            try execute(
                "DELETE FROM feed_accesses WHERE sequence <= $1", [.integer(try last.integer(required: "sequence"))])
            return true
        }
        return try execute(
            """
            DELETE FROM feed_accesses WHERE sequence IN (
                SELECT sequence FROM feed_accesses WHERE accessed_at < $1 LIMIT $2)
            """, [.integer(time), .integer(limit)]) == limit
    }

    private func hasAccess(from time: Int, to now: Int) throws -> Bool {
        let range: [SQLValue] = [.integer(time), .integer(now)]
        // The newest access is nearly always in the range, and is found at once.
        let newest = try row(
            """
            SELECT 1 AS found FROM feed_accesses
            WHERE sequence = (SELECT MAX(sequence) FROM feed_accesses) AND accessed_at BETWEEN $1 AND $2
            """, range)
        if newest != nil { return true }
        return try row("SELECT 1 AS found FROM feed_accesses WHERE accessed_at BETWEEN $1 AND $2 LIMIT 1", range) != nil
    }

    /// Removes everything that was counted for a feed.
    func forgetAccesses(of number: Int) throws {
        try cutList(of: number, after: 0)
        try execute(
            "DELETE FROM feed_client_days WHERE day IN (\(AccessDays.all) SELECT day FROM days) AND feed = $1",
            [.integer(number)])
        try execute("DELETE FROM feed_clients WHERE feed = $1", [.integer(number)])
        try execute("DELETE FROM feed_attention WHERE feed = $1", [.integer(number)])
    }

    /// Cuts a feed's list of accesses off after the newest ones.
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

extension SequencedAccess {
    fileprivate func row(number: Int, previous: Int) -> [SQLValue] {
        [
            .integer(sequence), .integer(previous), .integer(access.feed), .integer(number), .integer(access.at),
            .integer(access.client), .integer(access.status), .text(access.network.text),
        ]
    }
}
