// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage

extension Connections {
    /// A record of the engine, with the columns that it is listed by.
    struct Listed<Row: Sendable, Record: Sendable>: Sendable {
        let row: Row
        let record: Record
    }

    typealias ListedRun = Listed<SyncRunRow, RunRecord>
    typealias ListedConflict = Listed<SyncConflictRow, ConflictRecord>

    /// A connection's runs, the latest first.
    ///
    /// - Parameter number: of the run that the part begins before.
    func runs(of id: String, before number: Int, limit: Int, for caller: Caller) async throws -> [ListedRun] {
        try await services.store.read { transaction in
            _ = try Rights.connection(id, for: caller.identity, in: transaction)
            return try transaction.syncRuns(of: id, before: number, limit: limit).map { try Self.listed($0) }
        }
    }

    /// One run; throws 404 for one of a connection that is not the caller's.
    func run(_ id: String, for caller: Caller) async throws -> ListedRun {
        try await services.store.read { transaction in
            guard let row = try transaction.syncRun(id) else { throw Refusal.missing(.run) }
            _ = try Rights.connection(row.connectionID, for: caller.identity, of: .run, in: transaction)
            return try Self.listed(row)
        }
    }

    /// The ties between items and events elsewhere, in order of collection and item.
    func mappings(
        of id: String, after place: (collection: String, item: String), limit: Int, for caller: Caller
    ) async throws -> [CalendarSync.Link] {
        try await services.store.read { transaction in
            _ = try Rights.connection(id, for: caller.identity, in: transaction)
            return try transaction.syncLinks(of: id, after: place, limit: limit).map {
                try SyncContent.record(CalendarSync.Link.self, $0.content)
            }
        }
    }

    /// A connection's conflicts, the latest first.
    ///
    /// - Parameter number: of the conflict that the part begins before.
    func conflicts(
        of id: String, before number: Int, limit: Int, for caller: Caller
    ) async throws -> [ListedConflict] {
        try await services.store.read { transaction in
            _ = try Rights.connection(id, for: caller.identity, in: transaction)
            return try transaction.syncConflicts(of: id, before: number, limit: limit).map { try Self.listed($0) }
        }
    }

    /// One conflict; throws 404 for one of a connection that is not the caller's.
    func conflict(_ id: String, for caller: Caller) async throws -> ListedConflict {
        try await services.store.read { transaction in
            for row in try transaction.syncConflicts(id) {
                let own = try? Rights.connection(row.connectionID, for: caller.identity, in: transaction)
                if own != nil { return try Self.listed(row) }
            }
            throw Refusal.missing(.conflict)
        }
    }

    /// What was written for a connection, the latest first.
    ///
    /// - Parameter number: of the entry that the part begins before.
    func journal(
        of id: String, before number: Int, limit: Int, for caller: Caller
    ) async throws -> [Listed<SyncJournalRow, JournalEntry>] {
        try await services.store.read { transaction in
            _ = try Rights.connection(id, for: caller.identity, in: transaction)
            return try transaction.syncJournal(of: id, before: number, limit: limit).map {
                Listed(row: $0, record: try SyncContent.record(JournalEntry.self, $0.content))
            }
        }
    }

    private static func listed(_ row: SyncRunRow) throws -> ListedRun {
        Listed(row: row, record: try SyncContent.record(RunRecord.self, row.content))
    }

    private static func listed(_ row: SyncConflictRow) throws -> ListedConflict {
        Listed(row: row, record: try SyncContent.record(ConflictRecord.self, row.content))
    }
}
