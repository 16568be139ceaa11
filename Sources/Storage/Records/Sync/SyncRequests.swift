// SPDX-License-Identifier: Apache-2.0

/// Requests to a provider.
public struct RequestCounts: Hashable, Sendable {
    public var requests = 0
    /// Those that the provider answered with success, for which some providers charge.
    public var successes = 0
    /// Regular runs that ended, and the requests that they took.
    public var looks = 0
    public var lookRequests = 0

    public init(requests: Int = 0, successes: Int = 0, looks: Int = 0, lookRequests: Int = 0) {
        (self.requests, self.successes) = (requests, successes)
        (self.looks, self.lookRequests) = (looks, lookRequests)
    }

    public static func + (one: RequestCounts, other: RequestCounts) -> RequestCounts {
        RequestCounts(
            requests: one.requests + other.requests, successes: one.successes + other.successes,
            looks: one.looks + other.looks, lookRequests: one.lookRequests + other.lookRequests)
    }
}

/// What a provider's day holds: what was sent, by all servers, and what the connections' plans still need.
public struct RequestDay: Hashable, Sendable {
    public var today = RequestCounts()
    public var yesterday = RequestCounts()
    /// The number of connections that run by themselves.
    public var connections = 0
    /// How many of them have a provider that announces changes.
    public var pushed = 0
    /// The regular runs from now to the end of the day, in thousandths: of connections whose interval can be made longer,
    /// and of the others.
    public var polls = 0
    public var rareLooks = 0

    public init() {}
}

/// The requests of one account today.
public struct AccountRequests: Hashable, Sendable {
    /// One of its connections.
    public var connectionID: String
    public var provider: Connection.Provider
    public var connections: Int
    public var requests: Int
}

extension ReadTransaction {
    private func requestCounts(by provider: Connection.Provider, on day: Int) throws -> RequestCounts {
        let row = try row(
            """
            SELECT CAST(COALESCE(SUM(requests), 0) AS BIGINT) AS requests,
                CAST(COALESCE(SUM(successes), 0) AS BIGINT) AS successes,
                CAST(COALESCE(SUM(looks), 0) AS BIGINT) AS looks,
                CAST(COALESCE(SUM(look_requests), 0) AS BIGINT) AS look_requests
            FROM sync_requests WHERE day = $1 AND provider = $2
            """, [.integer(day), .text(provider.rawValue)])
        return RequestCounts(
            requests: row?.integer("requests") ?? 0, successes: row?.integer("successes") ?? 0,
            looks: row?.integer("looks") ?? 0, lookRequests: row?.integer("look_requests") ?? 0)
    }

    /// Returns a provider's requests of the day in UTC, and what is planned of it.
    ///
    /// - Parameters:
    ///   - usual: the interval of connections that have none yet, in milliseconds.
    ///   - longest: the interval from which on a connection is looked at rarely, in milliseconds.
    public func requestDay(
        by provider: Connection.Provider, usual: Int, longest: Int, now: Int
    ) throws -> RequestDay {
        var found = RequestDay()
        let day = SyncStatistics.day(now)
        found.today = try requestCounts(by: provider, on: day)
        found.yesterday = try requestCounts(by: provider, on: day - 1)
        let left = (day + 1) * 86_400_000 - now
        for row in try rows(
            """
            SELECT CASE WHEN COALESCE(look_every, $2) < $3 THEN 1 ELSE 0 END AS polls, COUNT(*) AS found,
                CAST(SUM(CAST($4 AS BIGINT) * 1000 / COALESCE(look_every, $2)) AS BIGINT) AS looks
            FROM connections
            WHERE provider = $1 AND ending IS NULL AND state = 'active' AND next_sync_at IS NOT NULL
            GROUP BY 1
            """, [.text(provider.rawValue), .integer(usual), .integer(longest), .integer(left)])
        {
            let looks = try row.integer(required: "looks")
            found.connections += try row.integer(required: "found")
            if try row.integer(required: "polls") == 1 { found.polls = looks } else { found.rareLooks = looks }
        }
        found.pushed =
            try row(
                """
                SELECT COUNT(DISTINCT connections.id) AS found FROM sync_channels
                JOIN connections ON connections.id = sync_channels.connection_id
                WHERE provider = $1 AND ending IS NULL AND state = 'active' AND last_heard_at IS NOT NULL
                    AND expires_at > $2
                """, [.text(provider.rawValue), .integer(now)])?.integer("found") ?? 0
        return found
    }

    /// Returns the accounts to which most requests were sent today, the busiest first.
    public func busiestAccounts(limit: Int, now: Int) throws -> [AccountRequests] {
        try rows(
            """
            SELECT connections.provider, MIN(connections.id) AS id, COUNT(*) AS found,
                CAST(SUM(requests) AS BIGINT) AS requests
            FROM sync_requests JOIN connections ON connections.id = sync_requests.connection_id
            WHERE day = $1 AND ending IS NULL AND account_id IS NOT NULL
            GROUP BY connections.provider, account_id ORDER BY 4 DESC, 2 LIMIT $2
            """, [.integer(SyncStatistics.day(now)), .integer(limit)]
        ).compactMap { row in
            guard let provider = Connection.Provider(rawValue: try row.text(required: "provider")) else { return nil }
            return AccountRequests(
                connectionID: try row.text(required: "id"), provider: provider,
                connections: try row.integer(required: "found"), requests: try row.integer(required: "requests"))
        }
    }
}

extension WriteTransaction {
    private static var addingRequests: String {
        """
        ON CONFLICT (day, provider, connection_id) DO UPDATE SET requests = sync_requests.requests + EXCLUDED.requests,
            successes = sync_requests.successes + EXCLUDED.successes,
            looks = sync_requests.looks + EXCLUDED.looks,
            look_requests = sync_requests.look_requests + EXCLUDED.look_requests
        """
    }

    /// Adds requests to those of a day in UTC.
    ///
    /// - Parameter connection: empty for requests before an account is connected; one that was deleted is not named.
    public func addRequests(
        _ counts: RequestCounts, of connection: String, by provider: Connection.Provider, now: Int
    ) throws {
        guard counts != RequestCounts() else { return }
        try execute(
            """
            INSERT INTO sync_requests (day, provider, connection_id, requests, successes, looks, look_requests)
            VALUES (
                $1, $2,
                COALESCE(
                    (SELECT id FROM connections WHERE id = $3 AND (ending IS NULL OR ending <> 'records')), ''),
                $4, $5, $6, $7)
            \(Self.addingRequests)
            """,
            [
                .integer(SyncStatistics.day(now)), .text(provider.rawValue), .text(connection),
                .integer(counts.requests), .integer(counts.successes), .integer(counts.looks),
                .integer(counts.lookRequests),
            ])
    }

    /// Keeps the requests of a connection that is deleted, without its id: the provider has counted them, too.
    func forgetRequests(of connection: String) throws {
        try execute(
            """
            INSERT INTO sync_requests (day, provider, connection_id, requests, successes, looks, look_requests)
            SELECT day, provider, '', requests, successes, looks, look_requests FROM sync_requests
            WHERE connection_id = $1 AND connection_id <> ''
            \(Self.addingRequests)
            """, [.text(connection)])
        try execute("DELETE FROM sync_requests WHERE connection_id = $1 AND connection_id <> ''", [.text(connection)])
    }

    /// Removes some counts of days before yesterday; returns false when none is left.
    public func pruneRequests(now: Int, limit: Int) throws -> Bool {
        try deleteSome(
            of: "sync_requests", size: "0", where: "day < $1", [.integer(SyncStatistics.day(now) - 1)], limit: limit
        ) == limit
    }
}
