// SPDX-License-Identifier: Apache-2.0

/// One import of a file: its report, its changes, and what is needed to undo them.
public struct ImportRecord: Hashable, Sendable {
    public enum State: String, Hashable, Sendable, ColumnValue {
        case previewed, committed, undone
    }

    /// The step of an import that is under way, or that failed.
    public enum Stage: String, Hashable, Sendable, ColumnValue {
        case reading, committing
        /// Reading failed, and no part of the file is stored.
        case readFailed
        /// The commit failed, and the preview still exists.
        case commitFailed
        /// The import was discarded: nobody sees it any more, and the rest of it is removed in small steps.
        case forgotten
    }

    /// The distance between the blocks of a preview's items and those of its commit.
    public static let span = 1 << 32

    public var id = ""
    public var circleID = ""
    public var state = State.previewed
    /// Nil when nothing is under way and nothing failed.
    public var stage: Stage?
    /// The problem that is reported to the caller after a failure, as a JSON object.
    public var problem: String?
    /// The user who imports; nil for the host application.
    public var importedBy: String?
    /// The report as JSON without its items, which this module does not interpret.
    public var report = ""
    /// The part of the report that a list shows; nil while there is no report.
    public var outline: String?
    /// The part of the file that a commit of the preview needs besides its events; empty once that is committed.
    public var source = ""
    public var createdAt = 0
    public var committedAt: Int?
    public var undoneAt: Int?
    /// The number of the block with which its items begin.
    public var itemBase = 0
}

extension ImportRecord: StoredRow {
    public init(
        id: String, circleID: String, state: State, importedBy: String?, report: String, source: String, createdAt: Int,
        committedAt: Int? = nil
    ) {
        self.init(
            id: id, circleID: circleID, state: state, importedBy: importedBy, report: report, source: source,
            createdAt: createdAt, committedAt: committedAt, itemBase: 0)
    }

    static let table = RecordTable<ImportRecord>(
        "imports",
        [
            .init("id", \.id), .once("circle_id", \.circleID), .init("state", \.state), .init("stage", \.stage),
            .init("problem", \.problem), .once("imported_by", \.importedBy), .init("report", \.report),
            .init("outline", \.outline), .init("source", \.source), .init("item_base", \.itemBase),
            .once("created_at", \.createdAt), .init("committed_at", \.committedAt), .init("undone_at", \.undoneAt),
        ])
}

extension ReadTransaction {
    public func importRecord(_ id: String) throws -> ImportRecord? {
        try first("WHERE id = $1 AND COALESCE(stage, '') <> 'forgotten'", [.text(id)])
    }

    /// Returns imports of a circle, latest first, after the one that `cursor` names.
    ///
    /// - Parameter user: the user for whom imports of others that are not committed are left out; nil for all imports.
    public func imports(
        in circle: String, for user: String?, after cursor: (createdAt: Int, id: String)?, limit: Int
    ) throws -> [ImportRecord] {
        let last = cursor ?? (Int.max, "")
        return try rows(
            """
            SELECT id, circle_id, state, stage, problem, imported_by, created_at, committed_at, undone_at, outline,
                '' AS report, '' AS source, item_base
            FROM imports WHERE circle_id = $1 AND (created_at < $2 OR (created_at = $2 AND id < $3))
                AND COALESCE(stage, '') <> 'forgotten'
                AND (state <> 'previewed' OR $5 = '' OR imported_by = $5)
            ORDER BY created_at DESC, id DESC LIMIT $4
            """, [.text(circle), .integer(last.createdAt), .text(last.id), .integer(limit), .text(user ?? "")]
        ).map(ImportRecord.init)
    }

    /// Returns imports that were discarded and that are not completely removed.
    public func forgottenImports(limit: Int) throws -> [String] {
        try rows("SELECT id FROM imports WHERE stage = 'forgotten' LIMIT $1", [.integer(limit)]).map {
            try $0.text(required: "id")
        }
    }
}

extension WriteTransaction {
    /// Stores an import, either new or with its next state.
    public func putImport(_ record: ImportRecord) throws {
        let before = try row("SELECT state FROM imports WHERE id = $1", [.text(record.id)])?.text("state")
        try put(record)
        // A preview does not change anything that anybody sees.
        guard record.state.rawValue != before else { return }
        if record.state == .committed {
            try note(
                .fileImport, .created, in: record.circleID, id: record.id, now: record.committedAt ?? record.createdAt)
        } else if record.state == .undone {
            try note(
                .fileImport, .deleted, in: record.circleID, id: record.id, now: record.undoneAt ?? record.createdAt)
        }
    }

    /// Records which step of an import is under way.
    public func setStage(_ stage: ImportRecord.Stage?, ofImport id: String) throws {
        try execute(
            "UPDATE imports SET stage = $2, problem = NULL WHERE id = $1 AND COALESCE(stage, '') <> 'forgotten'",
            [.text(id), SQLValue(stage?.rawValue)])
    }

    /// Discards an import that did not complete; its stored parts are removed in small steps.
    public func forgetImport(_ id: String) throws {
        try execute("UPDATE imports SET stage = 'forgotten' WHERE id = $1", [.text(id)])
    }

    /// Records that an import failed.
    ///
    /// - Parameter problem: the problem that is reported to the caller, as JSON.
    public func failImport(_ id: String, problem: String) throws {
        try execute(
            """
            UPDATE imports SET problem = $2,
                stage = CASE WHEN stage = 'committing' AND source <> '' THEN 'commitFailed' ELSE 'readFailed' END
            WHERE id = $1 AND stage IN ('reading', 'committing')
            """, [.text(id), .text(problem)])
    }

    /// Records the failure of some imports that were under way when the process ended.
    ///
    /// - Returns: their ids; the list is empty when no import is left.
    public func failInterruptedImports(problem: String, limit: Int) throws -> [String] {
        let interrupted = try rows(
            "SELECT id FROM imports WHERE stage IN ('reading', 'committing') LIMIT $1", [.integer(limit)]
        ).map { try $0.text(required: "id") }
        for id in interrupted { try failImport(id, problem: problem) }
        return interrupted
    }

    /// Like `failInterruptedImports`, for imports for which no server holds a lease.
    public func failAbandonedImports(problem: String, limit: Int) throws -> [String] {
        let abandoned = try rows(
            """
            SELECT id FROM imports WHERE stage IN ('reading', 'committing') AND NOT EXISTS (
                SELECT 1 FROM leases WHERE leases.name = $1 || imports.id AND leases.ends_at > $2) LIMIT $3
            """, [.text(ImportRecord.leaseName("")), .integer(try sharedTime()), .integer(limit)]
        ).map { try $0.text(required: "id") }
        for id in abandoned { try failImport(id, problem: problem) }
        return abandoned
    }

    /// Discards some previews that nobody committed; returns false when none is left.
    public func prunePreviews(before time: Int, limit: Int) throws -> Bool {
        try execute(
            """
            UPDATE imports SET stage = 'forgotten' WHERE id IN (
                SELECT id FROM imports WHERE state = 'previewed' AND created_at < $1
                    AND COALESCE(stage, '') NOT IN ('forgotten', 'reading', 'committing') LIMIT $2)
            """, [.integer(time), .integer(limit)]) == limit
    }

    /// Forgets some imports that were committed before a time, undone or not; returns false when none is left. The events that
    /// they brought stay.
    public func pruneImports(before time: Int, limit: Int) throws -> Bool {
        try execute(
            """
            UPDATE imports SET stage = 'forgotten' WHERE id IN (
                SELECT id FROM imports WHERE committed_at < $1 AND state <> 'previewed' AND stage IS NULL LIMIT $2)
            """, [.integer(time), .integer(limit)]) == limit
    }
}

extension ImportRecord {
    /// Returns the name of the lease that a server holds while it works on an import, where several share the database.
    public static func leaseName(_ id: String) -> String { "import/\(id)" }
}
