// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import OfficeDays
import Storage

// The engine's records as rows: the searchable values are in columns, the record itself is JSON.

/// Reads a record of the engine; throws `StorageError` if this version does not understand it.
func storedRecord<Record: Decodable>(_ text: String) throws -> Record { try SyncContent.record(Record.self, text) }

extension SyncLinkRow {
    init(_ link: Link, of connection: String) throws {
        self.init(
            connectionID: connection, collection: link.item.collection.rawValue, itemID: link.item.id,
            state: link.state.rawValue, externalID: link.externalID, lastSyncedAt: link.lastSyncedAt?.milliseconds,
            since: link.since.milliseconds, content: try SyncContent.text(link))
    }
}

extension SyncRunRow {
    init(_ run: RunRecord, of connection: String) throws {
        let state: State =
            switch run.state {
            case .running: .running
            case .done: .done
            case .held: .held
            case .failed: .failed
            }
        self.init(
            id: run.id, connectionID: connection, state: state, startedAt: run.startedAt.milliseconds,
            content: try SyncContent.text(run))
    }
}

extension RunTally {
    init(_ run: RunRecord) {
        let counts = run.counts
        self.init(
            isSuccess: run.status == .success, writes: counts.created + counts.updated + counts.deleted + counts.pulled,
            errors: counts.failed + (run.state == .failed && counts.failed == 0 ? 1 : 0))
    }
}

extension SyncConflictRow {
    init(_ conflict: ConflictRecord, of connection: String) throws {
        self.init(
            connectionID: connection, id: conflict.id, isOpen: conflict.state == .open, at: conflict.at.milliseconds,
            content: try SyncContent.text(conflict))
    }
}

extension SyncJournalRow {
    init(_ entry: JournalEntry, of connection: String) throws {
        self.init(
            connectionID: connection, id: entry.id, runID: entry.run, at: entry.at.milliseconds,
            direction: entry.direction.rawValue, change: entry.change.rawValue, content: try SyncContent.text(entry))
    }
}

extension WriteTransaction {
    /// Stores a whole batch of a connection.
    ///
    /// - Parameter resolver: who resolves the batch's conflicts; nil for the engine.
    func keep(_ batch: SyncBatch, of connection: String, by resolver: String? = nil, now: Int) throws {
        for link in batch.links { try putSyncLink(SyncLinkRow(link, of: connection)) }
        for operation in batch.operations {
            if operation.state == .open {
                try putSyncOperation(operation.key, of: connection, content: try SyncContent.text(operation))
            } else {
                try deleteSyncOperation(operation.key, of: connection)
            }
        }
        for conflict in batch.conflicts {
            var row = try SyncConflictRow(conflict, of: connection)
            row.resolvedBy = resolver
            try putSyncConflict(row, now: now)
        }
        try addSyncJournal(try batch.journal.map { try SyncJournalRow($0, of: connection) }, of: connection)
        if let position = batch.position {
            try putSyncPosition(of: connection, content: try SyncContent.text(position))
        }
        try noteOfficeDays(of: batch, of: connection, now: now)
        if let run = batch.run {
            var row = try SyncRunRow(run, of: connection)
            // A run that is held again contains more than what was approved.
            row.approvedAt = run.state == .held ? nil : try syncRun(run.id)?.approvedAt
            try putSyncRun(row, RunTally(run), now: now)
        }
    }

    /// Reports to office days which of their events were written, and which are now a person's own.
    private func noteOfficeDays(of batch: SyncBatch, of connection: String, now: Int) throws {
        let written = batch.journal.count {
            $0.item.collection == .officeDays && $0.direction == .out
                && [.create, .update, .delete].contains($0.change)
        }
        guard written > 0 || !batch.handedOver.isEmpty, let own = try connectionEverKnown(connection) else { return }
        let reports = batch.handedOver.compactMap { one in
            OfficeDate(one.item.id).map {
                OfficeDayEvents.Report(date: $0, kind: one.kind == .edited ? .edited : .deleted)
            }
        }
        // Only the phone can say what prevents it from writing.
        let problem = own.provider == .apple ? try officeProfile(of: own.userID)?.problem : nil
        try OfficeDayEvents.note(
            reports, written: written, failed: 0, problem: problem.flatMap { OfficeProblem(text: $0) }, of: own.userID,
            now: now, in: self)
    }
}
