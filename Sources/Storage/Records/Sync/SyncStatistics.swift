// SPDX-License-Identifier: Apache-2.0

/// Counters of connections and their runs, without any personal data.
public struct SyncStatistics: Hashable, Sendable {
    /// Runs that ended within some days.
    public struct Runs: Hashable, Sendable {
        public var runs = 0
        public var successes = 0
        public var writes = 0
        public var errors = 0
    }

    /// The number of users who are members of a circle.
    public var users = 0
    /// How many of them have a connection to an account or a phone.
    public var withConnection = 0
    /// How many of them have a connection that adopts moves from the provider.
    public var withTwoWay = 0
    /// How many of them have a feed that has not ended.
    public var withFeed = 0
    /// The numbers of connections by provider and state, in order.
    public var connections: [States] = []

    public struct States: Hashable, Sendable {
        public var provider: String
        public var state: String
        public var count: Int
    }

    /// Returns the day in UTC since 1970-01-01 of a time in milliseconds.
    static func day(_ milliseconds: Int) -> Int {
        Int((Double(milliseconds) / 86_400_000).rounded(.down))
    }
}

extension ReadTransaction {
    /// Counts the users, and those who have connections and feeds.
    ///
    /// - Parameter isTwoWay: whether a connection with this configuration adopts moves.
    public func syncStatistics(now: Int, isTwoWay: (_ config: String) throws -> Bool) throws -> SyncStatistics {
        var statistics = SyncStatistics()
        func count(_ sql: String, _ arguments: [SQLValue] = []) throws -> Int {
            try row(sql, arguments)?.integer("found") ?? 0
        }
        statistics.users = try count("SELECT COUNT(DISTINCT user_id) AS found FROM members WHERE left_at IS NULL")
        statistics.withFeed = try count(
            """
            SELECT COUNT(DISTINCT user_id) AS found FROM feeds
            WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)
            """, [.integer(now)])
        var (connected, twoWay): (Set<[UInt8]>, Set<[UInt8]>) = ([], [])
        var position = ""
        while true {
            let found = try rows(
                """
                SELECT id, user_id, config FROM connections
                WHERE id > $1 AND ending IS NULL AND state <> 'unauthorized' ORDER BY id LIMIT 1000
                """, [.text(position)])
            for row in found {
                let user = Array(try row.text(required: "user_id").utf8)
                connected.insert(user)
                if try isTwoWay(try row.text(required: "config")) { twoWay.insert(user) }
                position = try row.text(required: "id")
            }
            if found.count < 1000 { break }
        }
        (statistics.withConnection, statistics.withTwoWay) = (connected.count, twoWay.count)
        statistics.connections = try rows(
            """
            SELECT provider, state, COUNT(*) AS found FROM connections WHERE ending IS NULL
            GROUP BY provider, state ORDER BY provider, state
            """, []
        ).map {
            SyncStatistics.States(
                provider: try $0.text(required: "provider"), state: try $0.text(required: "state"),
                count: try $0.integer(required: "found"))
        }
        return statistics
    }

    /// Returns the runs of a provider that ended within the last `days` days, including today.
    public func syncRuns(by provider: Connection.Provider, days: Int, now: Int) throws -> SyncStatistics.Runs {
        let row = try row(
            """
            SELECT CAST(COALESCE(SUM(runs), 0) AS BIGINT) AS runs,
                CAST(COALESCE(SUM(successes), 0) AS BIGINT) AS successes,
                CAST(COALESCE(SUM(writes), 0) AS BIGINT) AS writes, CAST(COALESCE(SUM(errors), 0) AS BIGINT) AS errors
            FROM sync_days WHERE provider = $1 AND day > $2 AND day <= $3
            """,
            [
                .text(provider.rawValue), .integer(SyncStatistics.day(now) - days),
                .integer(SyncStatistics.day(now)),
            ])
        return SyncStatistics.Runs(
            runs: row?.integer("runs") ?? 0, successes: row?.integer("successes") ?? 0,
            writes: row?.integer("writes") ?? 0, errors: row?.integer("errors") ?? 0)
    }

    /// Returns the runs of all providers for each of the last days in UTC that had any, in order.
    public func syncDays(_ days: Int, now: Int) throws -> [(day: Int, runs: SyncStatistics.Runs)] {
        try rows(
            """
            SELECT day, CAST(SUM(runs) AS BIGINT) AS runs, CAST(SUM(successes) AS BIGINT) AS successes,
                CAST(SUM(writes) AS BIGINT) AS writes, CAST(SUM(errors) AS BIGINT) AS errors
            FROM sync_days WHERE day > $1 AND day <= $2 GROUP BY day ORDER BY day
            """, [.integer(SyncStatistics.day(now) - days), .integer(SyncStatistics.day(now))]
        ).map { row in
            let runs = SyncStatistics.Runs(
                runs: try row.integer(required: "runs"), successes: try row.integer(required: "successes"),
                writes: try row.integer(required: "writes"), errors: try row.integer(required: "errors"))
            return (try row.integer(required: "day"), runs)
        }
    }

    /// Returns connections that wait for their person or fail, oldest state first.
    public func connectionsInTrouble(limit: Int) throws -> [Connection] {
        try all(
            """
            WHERE ending IS NULL AND (state IN ('needsReconnect', 'calendarGone') OR failures > 0)
            ORDER BY state_at, id LIMIT $1
            """, [.integer(limit)])
    }
}

/// The current state of the connections of one provider, for monitoring.
public struct SyncGauges: Hashable, Sendable {
    /// The numbers of connections by state.
    public var states: [Connection.State: Int] = [:]
    public var openConflicts = 0
    public var heldRuns = 0
}

extension ReadTransaction {
    /// Returns the gauges by provider; a provider without connections is left out.
    public func syncGauges() throws -> [Connection.Provider: SyncGauges] {
        var gauges: [Connection.Provider: SyncGauges] = [:]
        func count(_ sql: String, _ body: (inout SyncGauges, SQLRow, Int) throws -> Void) throws {
            for row in try rows(sql, []) {
                guard let provider = Connection.Provider(rawValue: try row.text(required: "provider")) else { continue }
                try body(&gauges[provider, default: SyncGauges()], row, try row.integer(required: "found"))
            }
        }
        try count(
            """
            SELECT provider, state, COUNT(*) AS found FROM connections WHERE ending IS NULL GROUP BY provider, state
            """
        ) { gauges, row, found in
            if let state = Connection.State(rawValue: try row.text(required: "state")) { gauges.states[state] = found }
        }
        try count(
            """
            SELECT provider, COUNT(*) AS found FROM sync_conflicts
            JOIN connections ON connections.id = sync_conflicts.connection_id
            WHERE sync_conflicts.state = 'open' AND ending IS NULL GROUP BY provider
            """
        ) { gauges, _, found in gauges.openConflicts = found }
        try count(
            """
            SELECT provider, COUNT(*) AS found FROM sync_runs
            JOIN connections ON connections.id = sync_runs.connection_id
            WHERE sync_runs.state = 'held' AND ending IS NULL GROUP BY provider
            """
        ) { gauges, _, found in gauges.heldRuns = found }
        return gauges
    }
}
