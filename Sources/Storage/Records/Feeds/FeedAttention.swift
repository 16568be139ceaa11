// SPDX-License-Identifier: Apache-2.0

/// Something in a feed's accesses that its owner should look at: its address may have got to somebody else.
public struct FeedAttention: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// A family of programs read the feed for the first time.
        case newClient(Int)
        /// The feed was read from this many networks within the period of `AttentionRules`.
        case manyNetworks(Int)
    }

    public var kind: Kind
    public var notedAt: Int
}

/// The rules that decide which accesses a feed's owner should look at.
public struct AttentionRules: Sendable {
    /// How many days after a feed's first access new clients are not reported: until then its owner sets them up.
    public var firstDays: Int
    /// From how many networks a feed may be read within `period`: a household's phones connect from home, work, school
    /// and their mobile networks.
    public var networks: Int
    /// The period for `networks`, in milliseconds.
    public var period: Int
    /// Families that read from many networks of their maker, whoever subscribed.
    public var roaming: Set<Int>

    public init(firstDays: Int = 7, networks: Int = 8, period: Int = 86_400_000, roaming: Set<Int> = []) {
        self.firstDays = firstDays
        self.networks = networks
        self.period = period
        self.roaming = roaming
    }

    /// How many classes of networks within two days cause an exact count: nine networks fall into fewer classes once in
    /// 200 times.
    var suspicious: Int { networks - 1 }
}

extension ReadTransaction {
    /// Returns what a feed's owner has not cleared yet, oldest first.
    public func attention(of feed: String) throws -> [FeedAttention] {
        try rows(
            """
            SELECT kind, client, networks, noted_at FROM feed_attention
            WHERE feed = \(AccessHolder.number) AND cleared_at IS NULL
            ORDER BY noted_at, kind DESC, client
            """, [.text(feed)]
        ).map { row in
            let isClient = try row.text(required: "kind") == FeedAttention.newClient
            return FeedAttention(
                kind: isClient
                    ? .newClient(try row.integer(required: "client"))
                    : .manyNetworks(try row.integer(required: "networks")),
                notedAt: try row.integer(required: "noted_at"))
        }
    }
}

extension WriteTransaction {
    /// Records that a feed's owner has seen its reports; networks seen until now no longer count. Returns false when
    /// there were no reports.
    @discardableResult
    public func clearAttention(of feed: String, now: Int) throws -> Bool {
        try execute(
            """
            UPDATE feed_attention SET cleared_at = $2
            WHERE feed = \(AccessHolder.number) AND cleared_at IS NULL
            """, [.text(feed), .integer(now)]) > 0
    }

    /// Records an access by a client that read the feed for the first time.
    func note(newClient client: Int, of feed: Int, at time: Int) throws {
        try note(FeedAttention.newClient, of: feed, client, networks: nil, at: time)
    }

    /// Records that a feed was read from too many networks in the period before its last access, when it was.
    func noteNetworks(of feed: Int, at time: Int, _ rules: AttentionRules) throws {
        let known = try row(
            "SELECT cleared_at FROM feed_attention WHERE feed = $1 AND kind = $2 AND client = -1",
            [.integer(feed), .text(FeedAttention.manyNetworks)])
        let cleared = known?.integer("cleared_at")
        // It is recorded and not seen yet: there is nothing to add.
        if known != nil, cleared == nil { return }
        let roaming = rules.roaming.sorted().map(String.init).joined(separator: ", ")
        let count = try row(
            """
            WITH RECURSIVE list (previous, accessed_at, client, network) AS (
                SELECT previous, accessed_at, client, network FROM feed_accesses
                WHERE sequence = (SELECT MAX(last_sequence) FROM feed_clients WHERE feed = $1)
                UNION ALL
                SELECT a.previous, a.accessed_at, a.client, a.network
                FROM list JOIN feed_accesses AS a ON a.sequence = list.previous
                WHERE list.accessed_at > $2
            )
            SELECT COUNT(DISTINCT network) AS networks FROM list WHERE accessed_at > $2 AND client NOT IN (\(roaming))
            """, [.integer(feed), .integer(max(time - rules.period, cleared ?? .min))])?.integer("networks")
        guard let count, count > rules.networks else { return }
        try note(FeedAttention.manyNetworks, of: feed, -1, networks: count, at: time)
    }

    private func note(_ kind: String, of feed: Int, _ client: Int, networks: Int?, at time: Int) throws {
        try execute(
            """
            INSERT INTO feed_attention (feed, kind, client, noted_at, networks) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (feed, kind, client) DO UPDATE SET
                noted_at = EXCLUDED.noted_at, networks = EXCLUDED.networks, cleared_at = NULL
            """, [.integer(feed), .text(kind), .integer(client), .integer(time), SQLValue(networks)])
    }
}

extension FeedAttention {
    fileprivate static let newClient = "newClient"
    fileprivate static let manyNetworks = "manyNetworks"
}
