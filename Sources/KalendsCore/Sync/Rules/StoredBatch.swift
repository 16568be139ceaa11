// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import OfficeDays
import Storage

/// A batch of a connection as rows. Its records are made into text before the transaction that stores them, because
/// that takes longer than storing them and everybody else who writes would wait for it.
struct StoredBatch: Sendable {
    fileprivate var links: [SyncLinkRow]
    /// Operations by their keys; nil for one that is closed.
    fileprivate var operations: [(key: String, content: String?)]
    fileprivate var conflicts: [SyncConflictRow]
    fileprivate var journal: [SyncJournalRow]
    fileprivate var position: String?
    fileprivate var run: (row: SyncRunRow, counts: RunCounts)?
    fileprivate var handedOver: [EventTakenByPerson]
    /// How many events of office days were written.
    fileprivate var written: Int

    init(_ batch: SyncBatch, of connection: String) throws {
        links = try batch.links.map { try SyncLinkRow($0, of: connection) }
        operations = try batch.operations.map { ($0.key, $0.state == .open ? try SyncContent.text($0) : nil) }
        conflicts = try batch.conflicts.map { try SyncConflictRow($0, of: connection) }
        journal = try batch.journal.map { try SyncJournalRow($0, of: connection) }
        position = try batch.position.map { try SyncContent.text($0) }
        run = try batch.run.map { (try SyncRunRow($0, of: connection), RunCounts($0)) }
        handedOver = batch.handedOver
        written = batch.journal.count {
            $0.item.collection == .officeDays && $0.direction == .out
                && [.create, .update, .delete].contains($0.change)
        }
    }
}

extension WriteTransaction {
    /// Stores a whole batch of a connection.
    ///
    /// - Parameter resolver: who resolves the batch's conflicts; nil for the engine.
    func keep(_ batch: StoredBatch, of connection: String, by resolver: String? = nil, now: Int) throws {
        for link in batch.links { try putSyncLink(link) }
        for (key, content) in batch.operations {
            if let content {
                try putSyncOperation(key, of: connection, content: content)
            } else {
                try deleteSyncOperation(key, of: connection)
            }
        }
        for var conflict in batch.conflicts {
            conflict.resolvedBy = resolver
            try putSyncConflict(conflict, now: now)
        }
        try addSyncJournal(batch.journal, of: connection)
        if let position = batch.position { try putSyncPosition(of: connection, content: position) }
        try noteOfficeDays(of: batch, of: connection, now: now)
        if let (row, counts) = batch.run {
            var row = row
            // A run that is held again contains more than what was approved.
            row.approvedAt = row.state == .held ? nil : try syncRun(row.id)?.approvedAt
            try putSyncRun(row, counts, now: now)
        }
    }

    /// Stores the state of a run.
    func keep(_ run: RunRecord, of connection: String, now: Int) throws {
        var batch = SyncBatch()
        batch.run = run
        try keep(try StoredBatch(batch, of: connection), of: connection, now: now)
    }

    /// Reports to office days which of their events were written, and which are now a person's own.
    private func noteOfficeDays(of batch: StoredBatch, of connection: String, now: Int) throws {
        guard batch.written > 0 || !batch.handedOver.isEmpty, let own = try connectionEverKnown(connection) else {
            return
        }
        let reports = batch.handedOver.compactMap { one in
            CivilDate(iso: one.item.id).map {
                OfficeDayEvents.Report(date: $0, kind: one.kind == .edited ? .edited : .deleted)
            }
        }
        // Only the phone can say what prevents it from writing.
        let problem = own.provider == .apple ? try officeProfile(of: own.userID)?.problem : nil
        try OfficeDayEvents.note(
            reports, written: batch.written, failed: 0, problem: problem.flatMap { OfficeProblem(text: $0) },
            of: own.userID, now: now, in: self)
    }
}
