// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

@testable import CalendarSync
@testable import KalendsCore

/// Records as the engine stores them, one of each kind.
enum SyncSamples {
    /// Stores a run `run-ID`, a conflict `conflict-ID`, a link and an entry of the journal for the connection ID;
    /// existing rows stay.
    static func put(in server: TestServer, of connection: String, now: Int) async throws {
        let at = Instant(seconds: now / 1000)
        let item = ItemKey(.appointments, "x")
        let entry = Entry(
            title: "CK Appt: Mom - Dr. Lee", notes: "Bring the list", location: "Room 4",
            span: .timed(start: at, end: at.adding(seconds: 3600), zone: "America/Los_Angeles"),
            repetition: Repetition(rrule: "FREQ=WEEKLY;COUNT=4", exdates: [at.adding(seconds: 604_800)]),
            occurrences: [
                at.adding(seconds: 1_209_600): .changed(
                    Entry(
                        title: "CK Appt: Mom - Dr. Lee", notes: "", location: "Room 5",
                        span: .timed(
                            start: at.adding(seconds: 1_213_200), end: at.adding(seconds: 1_216_800),
                            zone: "America/Los_Angeles")))
            ], reminders: [60])
        var run = RunRecord(id: "run-\(connection)", trigger: .first, startedAt: at)
        (run.state, run.status, run.endedAt, run.requests) = (.done, .partial, at.adding(seconds: 2), 3)
        (run.counts.created, run.counts.failed) = (4, 1)
        let conflict = ConflictRecord(
            id: "conflict-\(connection)", item: item, occurrence: at, at: at, kind: .bothChanged,
            fields: [.init(field: .times, base: "9:00", kalends: "10:00", calendar: "11:00", kept: .calendar)],
            ours: entry, theirs: entry, state: .open)
        let link = CalendarSync.Link(
            item: item, externalID: "event-1", etag: "\"1\"", agreed: Agreement(ours: entry, theirs: entry),
            state: .linked, lastSyncedAt: at, since: at)
        let journal = JournalEntry(
            id: "entry", run: run.id, at: at, direction: .out, change: .create, item: item, generation: 0,
            externalID: "event-1", reason: "new", before: nil, after: entry)
        let texts = (
            run: try SyncContent.text(run), conflict: try SyncContent.text(conflict), link: try SyncContent.text(link),
            journal: try SyncContent.text(journal)
        )
        try await server.services.store.record { transaction in
            guard try transaction.syncRun("run-\(connection)") == nil else { return }
            try transaction.putSyncRun(
                SyncRunRow(
                    id: "run-\(connection)", connectionID: connection, state: .done, startedAt: now, content: texts.run),
                RunCounts(isSuccess: false, writes: 4, errors: 1), now: now)
            try transaction.putSyncConflict(
                SyncConflictRow(
                    connectionID: connection, id: "conflict-\(connection)", collection: item.collection.rawValue,
                    itemID: item.id, isOpen: true, at: now, content: texts.conflict), now: now)
            try transaction.putSyncLink(
                SyncLinkRow(
                    connectionID: connection, collection: "appointments", itemID: "x", state: "linked",
                    externalID: "event-1", lastSyncedAt: now, since: now, content: texts.link))
            try transaction.addSyncJournal(
                [
                    SyncJournalRow(
                        connectionID: connection, id: "entry", runID: "run-\(connection)", at: now, direction: "out",
                        change: "create", content: texts.journal)
                ], of: connection)
        }
    }
}
