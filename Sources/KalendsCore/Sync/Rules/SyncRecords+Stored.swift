// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

// The engine's records as rows: the searchable values are in columns, the record itself is JSON.

/// Reads a record of the engine; throws `StorageError` if this version does not understand it.
func storedRecord<Record: Decodable>(_ text: String) throws -> Record { try SyncContent.record(Record.self, text) }

extension SyncLinkRow {
    init(_ link: Link, of connection: String) throws {
        self.init(
            connectionID: connection, collection: link.item.collection.rawValue, itemID: link.item.id,
            occurrence: link.item.occurrence?.basic ?? "", state: link.state.rawValue, externalID: link.externalID,
            lastSyncedAt: link.lastSyncedAt?.milliseconds, since: link.since.milliseconds,
            content: try SyncContent.text(link))
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

extension RunCounts {
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
            connectionID: connection, id: conflict.id, collection: conflict.item.collection.rawValue,
            itemID: conflict.item.id, isOpen: conflict.state == .open, at: conflict.at.milliseconds,
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
