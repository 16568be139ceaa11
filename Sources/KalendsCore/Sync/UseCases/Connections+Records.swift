// SPDX-License-Identifier: Apache-2.0

package import CalendarSync
import ICalBridge
package import Storage

extension Connections {
    /// A record of the engine with the columns by which it is listed.
    package struct Listed<Row: Sendable, Record: Sendable>: Sendable {
        package let row: Row
        package let record: Record
    }

    package typealias ListedRun = Listed<SyncRunRow, RunRecord>
    package typealias ListedConflict = Listed<SyncConflictRow, ConflictRecord>
    package typealias ListedEntry = Listed<SyncJournalRow, JournalEntry>

    /// Returns a connection's runs, the latest first.
    ///
    /// - Parameter number: the number of the run before which the part begins.
    package func runs(of id: String, before number: Int, limit: Int, for caller: Caller) async throws -> [ListedRun] {
        try await context.store.read { transaction in
            _ = try Rights.connection(id, for: caller.identity, in: transaction)
            return try transaction.syncRuns(of: id, before: number, limit: limit).map { try Listed($0) }
        }
    }

    /// Returns one run; throws 404 for a run of a connection that is not the caller's.
    package func run(_ id: String, for caller: Caller) async throws -> ListedRun {
        try await context.store.read { transaction in
            guard let row = try transaction.syncRun(id) else { throw Refusal.missing(.run) }
            _ = try Rights.connection(row.connectionID, for: caller.identity, of: .run, in: transaction)
            return try Listed(row)
        }
    }

    /// Visits the links between items and provider events, in order of collection, item and occurrence.
    ///
    /// - Parameters:
    ///   - position: the link after which the part begins.
    ///   - show: makes the result with a function that fetches up to a given number of links after a given one, nil for
    ///     the part's first ones; each link holds the full text that both sides agreed on.
    package func mappings<Shown: Sendable>(
        of id: String, after position: (collection: String, item: String, occurrence: String), for caller: Caller,
        _ show:
            @escaping @Sendable (
                (_ last: CalendarSync.Link?, _ count: Int) throws -> [CalendarSync.Link]
            ) throws -> Shown
    ) async throws -> Shown {
        try await context.acts.readPage(for: caller) { transaction in
            _ = try Rights.connection(id, for: caller.identity, in: transaction)
            return try show { last, count in
                try caller.identity.known(after: last, count, where: { caller.identity.mayKnow($0.item) }) {
                    let behind =
                        $0.map { ($0.item.collection.rawValue, $0.item.id, $0.item.occurrence?.basic ?? "") }
                        ?? position
                    return try transaction.syncLinks(of: id, after: behind, limit: $1).map {
                        try SyncContent.record(CalendarSync.Link.self, $0.content)
                    }
                }
            }
        }
    }

    /// Visits a connection's conflicts, the latest first.
    ///
    /// - Parameters:
    ///   - number: the number of the conflict before which the part begins.
    ///   - show: makes the result with a function that fetches up to a given number of conflicts after a given one, nil
    ///     for the part's first ones.
    package func conflicts<Shown: Sendable>(
        of id: String, before number: Int, for caller: Caller,
        _ show: @escaping @Sendable ((_ last: ListedConflict?, _ count: Int) throws -> [ListedConflict]) throws -> Shown
    ) async throws -> Shown {
        try await context.acts.readPage(for: caller) { transaction in
            _ = try Rights.connection(id, for: caller.identity, in: transaction)
            return try show { last, count in
                try caller.identity.known(after: last, count, where: { caller.identity.mayKnow($0.record.item) }) {
                    try transaction.syncConflicts(of: id, before: $0?.row.number ?? number, limit: $1)
                        .map { try Listed($0) }
                }
            }
        }
    }

    /// Returns one conflict; throws 404 for a conflict of a connection that is not the caller's.
    package func conflict(_ id: String, for caller: Caller) async throws -> ListedConflict {
        try await context.store.read { transaction in
            for row in try transaction.syncConflicts(id) {
                let own = try? Rights.connection(row.connectionID, for: caller.identity, in: transaction)
                guard own != nil else { continue }
                let found = try Listed(row)
                if caller.identity.mayKnow(found.record.item) { return found }
            }
            throw Refusal.missing(.conflict)
        }
    }

    /// Visits the journal of what was written for a connection, the latest entry first.
    ///
    /// - Parameters:
    ///   - number: the number of the entry before which the part begins.
    ///   - show: makes the result with a function that fetches up to a given number of entries after a given one, nil
    ///     for the part's first ones.
    package func journal<Shown: Sendable>(
        of id: String, before number: Int, for caller: Caller,
        _ show: @escaping @Sendable ((_ last: ListedEntry?, _ count: Int) throws -> [ListedEntry]) throws -> Shown
    ) async throws -> Shown {
        try await context.acts.readPage(for: caller) { transaction in
            _ = try Rights.connection(id, for: caller.identity, in: transaction)
            return try show { last, count in
                try caller.identity.known(after: last, count, where: { caller.identity.mayKnow($0.record.item) }) {
                    try transaction.syncJournal(of: id, before: $0?.row.number ?? number, limit: $1).map {
                        Listed(row: $0, record: try SyncContent.record(JournalEntry.self, $0.content))
                    }
                }
            }
        }
    }
}

extension Identity {
    /// Whether an item in a connection's records may exist for the caller: a user's office days are not only of a circle.
    func mayKnow(_ item: ItemKey) -> Bool { mayKnow(itemOf: item.collection.rawValue) }

    func mayKnow(itemOf collection: String) -> Bool {
        bound == nil || collection != ItemKey.Collection.officeDays.rawValue
    }
}

extension Connections.ListedRun {
    fileprivate init(_ row: SyncRunRow) throws {
        self.init(row: row, record: try SyncContent.record(RunRecord.self, row.content))
    }
}

extension Connections.ListedConflict {
    fileprivate init(_ row: SyncConflictRow) throws {
        self.init(row: row, record: try SyncContent.record(ConflictRecord.self, row.content))
    }
}

extension AuthorizedCircle {
    /// Returns the runs of one of the circle's connections, the latest first.
    package func runs(of own: Connection, before number: Int = .max, limit: Int) throws -> [Connections.ListedRun] {
        try transaction.syncRuns(of: own.id, before: number, limit: limit).map { try Connections.Listed($0) }
    }

    /// Returns one conflict; throws 404 for a conflict of a connection that is not the caller's, or in another circle.
    package func conflict(_ id: String) throws -> Connections.ListedConflict {
        for row in try transaction.syncConflicts(id) where (try? connection(row.connectionID)) != nil {
            return try Connections.ListedConflict(row)
        }
        throw Refusal.missing(.conflict)
    }

    /// Returns what is made from the latest open or resolved conflicts of some of the circle's connections, the latest
    /// first. Conflicts may be large, so each is read by itself.
    ///
    /// - Parameter show: gets a conflict and the index of its connection.
    package func latestConflicts<Shown>(
        of connections: [Connection], isOpen: Bool, limit: Int,
        _ show: (Connections.ListedConflict, _ connection: Int) throws -> Shown
    ) throws -> [Shown] {
        let positions = try connections.enumerated().flatMap { index, own in
            try transaction.placesOfSyncConflicts(of: own.id, isOpen: isOpen, limit: limit).map {
                (connection: index, id: $0.id, at: $0.at)
            }
        }
        return try positions.sorted { $0.at > $1.at }.prefix(limit).compactMap { position in
            try transaction.syncConflict(position.id, of: connections[position.connection].id).map {
                try show(try Connections.Listed($0), position.connection)
            }
        }
    }
}
