// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import KalendsCore
import Pages
import Storage

// Converts runs and conflicts for the pages.

extension ConnectionSummary {
    /// - Parameter runs: the runs, the latest first.
    init(_ shown: Connections.Shown, _ runs: [Connections.ListedRun], _ settings: ConnectionSettings) {
        self.init(
            shown, settings, hasRun: !runs.isEmpty, isRunning: runs.contains { $0.record.state == .running })
    }
}

extension ConnectionPage.Run {
    init(_ run: Connections.ListedRun) {
        let record = run.record
        let isOver = record.state == .done || record.state == .failed
        let counts = record.counts
        self.init(
            id: run.row.id, state: State(text: record.state.rawValue) ?? .failed,
            outcome: record.status.flatMap { Pages.SyncOutcome(text: $0.rawValue) },
            trigger: Trigger(text: record.trigger.rawValue) ?? .schedule, startedAt: record.startedAt.milliseconds,
            counts: Pages.SyncCounts(counts), problem: record.problem.flatMap { ConnectionProblem(text: $0.rawValue) },
            canUndo: isOver && counts.created + counts.updated + counts.deleted + counts.pulled > 0)
        // For a held run the page shows what the run would delete.
        if let held = record.held, record.state == .held { self.counts.deleted = held.deletions }
    }
}

extension Pages.SyncCounts {
    init(_ counts: RunRecord.Counts) {
        self.init(
            created: counts.created, updated: counts.updated, deleted: counts.deleted, pulled: counts.pulled,
            conflicts: counts.conflicts, failed: counts.failed)
    }

    /// A text such as "3 added, 1 changed"; empty when nothing was changed.
    func text(in language: Language) -> String {
        let words = Words.of(language)
        let all = [
            ("count_created", created), ("count_updated", updated), ("count_deleted", deleted),
            ("count_pulled", pulled), ("count_conflicts", conflicts), ("count_failed", failed),
        ]
        return all.filter { $0.1 > 0 }.map { words($0.0, count: $0.1) }.joined(separator: ", ")
    }
}

extension RunDay {
    /// The results of runs, day by day, up to thirty days back.
    ///
    /// - Parameter runs: the runs, the latest first.
    static func days(of runs: [Connections.ListedRun], in zone: TimeZoneReference) -> [RunDay] {
        let local = PageZone(zone)
        var days: [RunDay] = []
        for run in runs.reversed() {
            guard let status = run.record.status else { continue }
            let day = local.local(run.record.startedAt.milliseconds).day
            if days.last?.day != day { days.append(RunDay(day: day, succeeded: 0)) }
            switch status {
            case .success: days[days.count - 1].succeeded += 1
            case .partial: days[days.count - 1].partial += 1
            case .failed: days[days.count - 1].failed += 1
            }
        }
        return Array(days.suffix(30))
    }
}

extension ConflictsPage.Conflict {
    init(_ listed: Connections.ListedConflict, of connection: ConnectionSummary) {
        let record = listed.record
        let (ours, theirs) = (
            ConflictsPage.Side(record.ours, at: record.occurrence),
            ConflictsPage.Side(record.theirs, at: record.occurrence)
        )
        let gone = ConflictsPage.Side(title: ours?.title ?? theirs?.title ?? "", span: nil)
        let kept = record.fields.map(\.kept)
        let isOneSided = !kept.isEmpty && kept.allSatisfy { $0 == kept[0] }
        self.init(
            id: listed.row.id, kind: ConflictsPage.Kind(text: record.kind.rawValue) ?? .unreadable,
            connection: connection, at: record.at.milliseconds, ours: ours ?? gone, theirs: theirs ?? gone,
            kept: isOneSided ? (kept[0] == .kalends ? .ours : .theirs) : .nothing,
            occurrences: max(1, record.starts.count), occurrence: record.onlyStart?.milliseconds,
            offersBoth: record.starts.count <= Resolution.mostCopies,
            outcome: record.state == .open
                ? nil : record.outcome.flatMap { Outcome(text: $0.rawValue) } ?? .automatic,
            resolvedAt: record.resolvedAt?.milliseconds)
    }
}

extension ConflictRecord {
    /// The original start of the only occurrence concerned. A day of a series of whole days begins in no zone.
    fileprivate var onlyStart: Instant? {
        if let single = item.occurrence { return single }
        guard starts.count == 1, case .timed? = (ours ?? theirs)?.span else { return nil }
        return starts.first
    }
}

extension ConflictsPage.Side {
    /// Nil for a side on which the event was deleted.
    ///
    /// - Parameter occurrence: the occurrence of a series that is in conflict.
    fileprivate init?(_ entry: Entry?, at occurrence: Instant?) {
        guard let entry else { return nil }
        guard let occurrence else {
            self.init(
                title: entry.title, span: entry.span, place: entry.location.nonEmpty,
                notes: entry.notes.nonEmpty)
            return
        }
        let own = entry.canonical.effective(at: occurrence)
        self.init(
            title: own?.title ?? entry.title, span: own?.span, place: own?.location.nonEmpty,
            notes: own?.notes.nonEmpty)
    }
}

extension String {
    /// The text; nil when it is empty.
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
