// SPDX-License-Identifier: Apache-2.0

package import CalendarSync
package import Storage

extension Connections {
    /// A record of the engine, with the columns that it is listed by.
    package struct Listed<Row: Sendable, Record: Sendable>: Sendable {
        package let row: Row
        package let record: Record
    }

    package typealias ListedRun = Listed<SyncRunRow, RunRecord>
    package typealias ListedConflict = Listed<SyncConflictRow, ConflictRecord>
    package typealias ListedEntry = Listed<SyncJournalRow, JournalEntry>

    /// A connection's runs, the latest first.
    ///
    /// - Parameter number: of the run that the part begins before.
    package func runs(of id: String, before number: Int, limit: Int, for caller: Caller) async throws -> [ListedRun] {
        try await services.store.read { transaction in
            _ = try Rights.connection(id, for: caller.identity, in: transaction)
            return try transaction.syncRuns(of: id, before: number, limit: limit).map { try Self.listed($0) }
        }
    }

    /// One run; throws 404 for one of a connection that is not the caller's.
    package func run(_ id: String, for caller: Caller) async throws -> ListedRun {
        try await services.store.read { transaction in
            guard let row = try transaction.syncRun(id) else { throw Refusal.missing(.run) }
            _ = try Rights.connection(row.connectionID, for: caller.identity, of: .run, in: transaction)
            return try Self.listed(row)
        }
    }

    /// Goes over the ties between items and events elsewhere, in order of collection and item.
    ///
    /// - Parameters:
    ///   - place: that of the link that the part begins behind.
    ///   - show: takes pieces of the list behind a link, nil for the first, as long as it asks for more: each holds
    ///     what both sides agreed on, with all its text.
    package func mappings<Shown: Sendable>(
        of id: String, after place: (collection: String, item: String), for caller: Caller,
        _ show:
            @escaping @Sendable (
                (_ last: CalendarSync.Link?, _ count: Int) throws -> [CalendarSync.Link]
            ) throws -> Shown
    ) async throws -> Shown {
        try await services.store.read { transaction in
            _ = try Rights.connection(id, for: caller.identity, in: transaction)
            return try show { last, count in
                let behind = last.map { (collection: $0.item.collection.rawValue, item: $0.item.id) } ?? place
                return try transaction.syncLinks(of: id, after: behind, limit: count).map {
                    try SyncContent.record(CalendarSync.Link.self, $0.content)
                }
            }
        }
    }

    /// Goes over a connection's conflicts, the latest first.
    ///
    /// - Parameters:
    ///   - number: of the conflict that the part begins before.
    ///   - show: takes pieces of the list behind a conflict, nil for the first, as long as it asks for more.
    package func conflicts<Shown: Sendable>(
        of id: String, before number: Int, for caller: Caller,
        _ show: @escaping @Sendable ((_ last: ListedConflict?, _ count: Int) throws -> [ListedConflict]) throws -> Shown
    ) async throws -> Shown {
        try await services.store.read { transaction in
            _ = try Rights.connection(id, for: caller.identity, in: transaction)
            return try show { last, count in
                try transaction.syncConflicts(of: id, before: last?.row.number ?? number, limit: count).map {
                    try Self.listed($0)
                }
            }
        }
    }

    /// One conflict; throws 404 for one of a connection that is not the caller's.
    package func conflict(_ id: String, for caller: Caller) async throws -> ListedConflict {
        try await services.store.read { transaction in
            for row in try transaction.syncConflicts(id) {
                let own = try? Rights.connection(row.connectionID, for: caller.identity, in: transaction)
                if own != nil { return try Self.listed(row) }
            }
            throw Refusal.missing(.conflict)
        }
    }

    /// Goes over what was written for a connection, the latest first.
    ///
    /// - Parameters:
    ///   - number: of the entry that the part begins before.
    ///   - show: takes pieces of the list behind an entry, nil for the first, as long as it asks for more.
    package func journal<Shown: Sendable>(
        of id: String, before number: Int, for caller: Caller,
        _ show: @escaping @Sendable ((_ last: ListedEntry?, _ count: Int) throws -> [ListedEntry]) throws -> Shown
    ) async throws -> Shown {
        try await services.store.read { transaction in
            _ = try Rights.connection(id, for: caller.identity, in: transaction)
            return try show { last, count in
                try transaction.syncJournal(of: id, before: last?.row.number ?? number, limit: count).map {
                    Listed(row: $0, record: try SyncContent.record(JournalEntry.self, $0.content))
                }
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
