// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

/// Why a run ends early; the next run finishes or cancels the writes that it had begun.
enum SyncInterruption: Error {
    /// Another server or another run now has the connection.
    case leaseLost
    /// The connection has ended or now has another calendar.
    case superseded
}

/// A connection's state in the database, for one run.
struct DatabaseSyncStore: SyncStore {
    let context: SyncContext
    let parts: ConnectionParts
    /// The holder of the run's lease; nil for a preview, which stores nothing.
    let holder: String?
    /// The person who resolves a conflict; nil when the connection's user changes something through the calendar.
    var person: Caller?

    /// The time in milliseconds after which another server may take over the connection; it is longer than any call to
    /// a provider takes.
    static let leaseTime = 180_000

    private var id: String { parts.connection.id }

    func load(deletionsAfter dayAgo: Instant) async throws -> SyncState {
        let (id, time) = (id, dayAgo.milliseconds)
        return try await context.store.read { transaction in
            SyncState(
                links: try transaction.syncLinks(of: id).map { try storedRecord($0.content) },
                operations: try transaction.syncOperations(of: id).map { try storedRecord($0.content) },
                conflicts: try transaction.openSyncConflicts(of: id).map { try storedRecord($0.content) },
                position: try transaction.syncPosition(of: id).map { try storedRecord($0) },
                deletions: DeletionCount(
                    out: try transaction.syncJournalCount(
                        of: id, JournalEntry.Change.delete.rawValue, direction: Link.Direction.out.rawValue, after: time
                    ),
                    missing: try transaction.syncJournalCount(
                        of: id, JournalEntry.Change.missing.rawValue, after: time)))
        }
    }

    func desired() async throws -> Desired {
        let (now, connection) = (context.now(), parts.connection)
        let window = parts.window(now: now)
        let rows = try await context.store.read { try ConnectionRows(of: connection, window: window, in: $0) }
        return try await parts.desired(rows, now: now)
    }

    func eventsOfOthers(_ items: Set<ItemKey>) async throws -> Set<ByteString> {
        let id = id
        return try await context.store.read { transaction in
            let found = try Dictionary(grouping: items, by: \.collection).flatMap { collection, items in
                try transaction.eventIDs(ofItems: items.map(\.id), in: collection.rawValue, exceptOf: id)
            }
            return Set(found.map { ByteString($0) })
        }
    }

    func commit(_ batch: SyncBatch) async throws {
        // Writes that were sent before the server ended stay open, and are looked up after its next start.
        try Task.checkCancellation()
        let (now, batch) = (context.now(), try StoredBatch(batch, of: id))
        try await context.store.record { transaction in
            try checkTurn(in: transaction, now: now)
            try transaction.keep(batch, of: id, by: person?.actor.text, now: now)
        }
    }

    func journal(of run: String) async throws -> [JournalEntry] {
        let id = id
        return try await context.store.read { transaction in
            try transaction.syncJournal(of: id, run: run).map { try storedRecord($0.content) }
        }
    }

    /// Renews the lease; throws `SyncInterruption` if this run has lost its turn.
    func checkTurn(in transaction: any WriteTransaction, now: Int) throws {
        guard let holder else { throw SyncInterruption.leaseLost }
        guard let own = try transaction.connectionEverKnown(id), own.ending == parts.connection.ending,
            own.calendarID == parts.connection.calendarID
        else { throw SyncInterruption.superseded }
        guard try transaction.takeSyncLease(of: id, for: holder, until: now + Self.leaseTime, now: now) else {
            throw SyncInterruption.leaseLost
        }
    }
}
