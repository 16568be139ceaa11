// SPDX-License-Identifier: Apache-2.0

/// One run of a connection, with the engine's own record of it.
public struct SyncRunRow: Hashable, Sendable {
    public enum State: String, Hashable, Sendable, CaseIterable, ColumnValue {
        case running, done, held, failed

        /// Whether the run has ended for good.
        public var isOver: Bool { self == .done || self == .failed }
    }

    public var id = ""
    public var connectionID = ""
    /// The number of the run within its connection; 0 until it is stored.
    public var number = 0
    public var state = State.running
    public var startedAt = 0
    /// When a person approved the changes for which it was held.
    public var approvedAt: Int?
    public var content = ""
}

extension SyncRunRow: StoredRow {
    public init(id: String, connectionID: String, state: State, startedAt: Int, content: String) {
        self.init(
            id: id, connectionID: connectionID, number: 0, state: state, startedAt: startedAt, content: content)
    }

    static let table = RecordTable<SyncRunRow>(
        "sync_runs",
        [
            .init("id", \.id), .once("connection_id", \.connectionID),
            .counted("number", \.number, within: "connection_id"), .init("state", \.state),
            .once("started_at", \.startedAt), .init("approved_at", \.approvedAt), .init("content", \.content),
        ])
}

/// A run that waits for a person.
public struct HeldRun: Hashable, Sendable {
    public var id: String
    public var at: Int
}

/// The result of a run that is added to the counters.
public struct RunCounts: Hashable, Sendable {
    public var isSuccess: Bool
    public var writes: Int
    public var errors: Int

    public init(isSuccess: Bool, writes: Int, errors: Int) {
        (self.isSuccess, self.writes, self.errors) = (isSuccess, writes, errors)
    }
}

extension ReadTransaction {
    public func syncRun(_ id: String) throws -> SyncRunRow? {
        try first("WHERE id = $1", [.text(id)])
    }

    /// Returns a connection's runs, latest first.
    ///
    /// - Parameter number: the number before which the page begins.
    public func syncRuns(of connection: String, before number: Int, limit: Int) throws -> [SyncRunRow] {
        try all(
            "WHERE connection_id = $1 AND number < $2 ORDER BY number DESC LIMIT $3",
            [.text(connection), .integer(number), .integer(limit)])
    }

    /// Returns a connection's runs in a state, latest first.
    public func syncRuns(of connection: String, in state: SyncRunRow.State) throws -> [SyncRunRow] {
        try all(
            "WHERE connection_id = $1 AND state = $2 ORDER BY number DESC", [.text(connection), .text(state.rawValue)])
    }

    /// Returns a connection's latest run in a state.
    public func latestSyncRun(of connection: String, in state: SyncRunRow.State) throws -> SyncRunRow? {
        try first(
            "WHERE connection_id = $1 AND state = $2 ORDER BY number DESC LIMIT 1",
            [.text(connection), .text(state.rawValue)])
    }

    public func heldRun(ofConnection id: String) throws -> HeldRun? {
        try syncRuns(of: id, in: .held).first.map { HeldRun(id: $0.id, at: $0.startedAt) }
    }

    /// Returns the runs of all connections in a state, for a start after a crash.
    public func syncRuns(in state: SyncRunRow.State, limit: Int) throws -> [SyncRunRow] {
        try all("WHERE state = $1 ORDER BY connection_id, number LIMIT $2", [.text(state.rawValue), .integer(limit)])
    }
}

extension WriteTransaction {
    /// Stores a new or changed run, and counts one that has just ended.
    ///
    /// - Parameter counts: its result, which is counted once, when the run has ended.
    public func putSyncRun(_ own: SyncRunRow, _ counts: RunCounts, now: Int) throws {
        try holdConnection(own.connectionID)
        let wasOver = try syncRun(own.id)?.state.isOver ?? false
        try put(own)
        guard own.state.isOver, !wasOver, let connection = try connectionEverKnown(own.connectionID) else { return }
        try execute(
            """
            INSERT INTO sync_days (day, provider, runs, successes, writes, errors) VALUES ($1, $2, 1, $3, $4, $5)
            ON CONFLICT (day, provider) DO UPDATE SET runs = sync_days.runs + 1,
                successes = sync_days.successes + EXCLUDED.successes, writes = sync_days.writes + EXCLUDED.writes,
                errors = sync_days.errors + EXCLUDED.errors
            """,
            [
                .integer(SyncStatistics.day(now)), .text(connection.provider.rawValue),
                .integer(counts.isSuccess ? 1 : 0), .integer(counts.writes), .integer(counts.errors),
            ])
    }

    /// Removes some runs that began before a time; runs that wait for a person stay. Returns false when none is left.
    public func pruneSyncRuns(before time: Int, limit: Int) throws -> Bool {
        try execute(
            """
            DELETE FROM sync_runs WHERE id IN (
                SELECT id FROM sync_runs WHERE started_at < $1 AND state IN ('done', 'failed')
                    AND number < (SELECT MAX(number) FROM sync_runs AS latest
                        WHERE latest.connection_id = sync_runs.connection_id)
                LIMIT $2)
            """, [.integer(time), .integer(limit)]) == limit
    }

    /// Removes some runs that began within a time and wrote nothing on either side, but no connection's latest; returns
    /// false when none is left.
    public func pruneIdleSyncRuns(from first: Int, before time: Int, limit: Int) throws -> Bool {
        try execute(
            """
            DELETE FROM sync_runs WHERE id IN (
                SELECT id FROM sync_runs WHERE started_at >= $1 AND started_at < $2 AND state IN ('done', 'failed')
                    AND number < (SELECT MAX(number) FROM sync_runs AS latest
                        WHERE latest.connection_id = sync_runs.connection_id)
                    AND NOT EXISTS (
                        SELECT 1 FROM sync_journal WHERE sync_journal.connection_id = sync_runs.connection_id
                            AND sync_journal.run_id = sync_runs.id)
                LIMIT $3)
            """, [.integer(first), .integer(time), .integer(limit)]) == limit
    }
}
