// SPDX-License-Identifier: Apache-2.0

/// One import of a file: what it said, what it did, and the way back.
public struct ImportRecord: Hashable, Sendable {
    public enum State: String, Hashable, Sendable {
        case previewed, committed, undone
    }

    /// What is under way with an import, or was broken off.
    public enum Stage: String, Hashable, Sendable {
        case reading, committing
        /// Nothing of the file is there.
        case readFailed
        /// The preview is there still.
        case commitFailed
    }

    public var id: String
    public var circleID: String
    public var state: State
    /// Nil when nothing is under way and nothing failed.
    public var stage: Stage?
    /// What the caller is told of a failure, as JSON.
    public var problem: String?
    /// The user who imports, nil for the host application.
    public var importedBy: String?
    /// The report as JSON, without its items; nobody here looks inside. Earlier versions kept the items in it.
    public var report: String
    /// The part of the report that a list shows, nil when an earlier version made it.
    public var outline: String?
    /// What is told of the file besides its events, to commit a preview from; empty once it is committed.
    public var source: String
    public var createdAt: Int
    public var committedAt: Int?
    public var undoneAt: Int?

    public init(
        id: String, circleID: String, state: State, importedBy: String?, report: String, source: String, createdAt: Int,
        committedAt: Int? = nil
    ) {
        self.id = id
        self.circleID = circleID
        self.state = state
        self.importedBy = importedBy
        self.report = report
        self.source = source
        self.createdAt = createdAt
        self.committedAt = committedAt
    }

    init(_ row: SQLRow) throws {
        id = try row.text(required: "id")
        circleID = try row.text(required: "circle_id")
        guard let state = State(rawValue: try row.text(required: "state")) else {
            throw StorageError.unexpectedResult("An import is in an unknown state.")
        }
        self.state = state
        stage = row.text("stage").flatMap(Stage.init)
        problem = row.text("problem")
        outline = row.text("outline")
        importedBy = row.text("imported_by")
        report = try row.text(required: "report")
        source = try row.text(required: "source")
        createdAt = try row.integer(required: "created_at")
        committedAt = row.integer("committed_at")
        undoneAt = row.integer("undone_at")
    }
}

extension ReadTransaction {
    public func importRecord(_ id: String) throws -> ImportRecord? {
        try row("SELECT * FROM imports WHERE id = $1", [.text(id)]).map(ImportRecord.init)
    }

    /// Imports of a circle, the latest first, from behind the one that `cursor` tells.
    public func imports(
        in circle: String, after cursor: (createdAt: Int, id: String)?, limit: Int
    ) throws -> [ImportRecord] {
        let last = cursor ?? (Int.max, "")
        return try rows(
            """
            SELECT id, circle_id, state, stage, problem, imported_by, created_at, committed_at, undone_at, outline,
                CASE WHEN outline IS NULL THEN report ELSE '' END AS report, '' AS source
            FROM imports WHERE circle_id = $1 AND (created_at < $2 OR (created_at = $2 AND id < $3))
            ORDER BY created_at DESC, id DESC LIMIT $4
            """, [.text(circle), .integer(last.createdAt), .text(last.id), .integer(limit)]
        ).map(ImportRecord.init)
    }

}

extension WriteTransaction {
    /// Stores an import, new or in its next state.
    public func putImport(_ record: ImportRecord) throws {
        let before = try row("SELECT state FROM imports WHERE id = $1", [.text(record.id)])?.text("state")
        try execute(
            """
            INSERT INTO imports (id, circle_id, state, imported_by, report, source, created_at, committed_at, undone_at,
                stage, problem, outline)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            ON CONFLICT (id) DO UPDATE SET state = EXCLUDED.state, report = EXCLUDED.report, source = EXCLUDED.source,
                committed_at = EXCLUDED.committed_at, undone_at = EXCLUDED.undone_at, stage = EXCLUDED.stage,
                problem = EXCLUDED.problem, outline = EXCLUDED.outline
            """,
            [
                .text(record.id), .text(record.circleID), .text(record.state.rawValue), SQLValue(record.importedBy),
                .text(record.report), .text(record.source), .integer(record.createdAt), SQLValue(record.committedAt),
                SQLValue(record.undoneAt), SQLValue(record.stage?.rawValue), SQLValue(record.problem),
                SQLValue(record.outline),
            ])
        // A preview changes nothing that anybody sees.
        guard record.state.rawValue != before else { return }
        if record.state == .committed {
            try note(
                .fileImport, .created, in: record.circleID, id: record.id, now: record.committedAt ?? record.createdAt)
        } else if record.state == .undone {
            try note(
                .fileImport, .deleted, in: record.circleID, id: record.id, now: record.undoneAt ?? record.createdAt)
        }
    }

    /// Forgets an import that never came to be.
    public func deleteImport(_ id: String) throws {
        try execute("DELETE FROM imports WHERE id = $1", [.text(id)])
    }

    /// Notes that an import failed, and forgets what there was of its file when it was not read to its end.
    ///
    /// - Parameter problem: what the caller is told, as JSON.
    public func failImport(_ id: String, problem: String) throws {
        try execute(
            """
            UPDATE imports SET problem = $2,
                stage = CASE WHEN stage = 'committing' THEN 'commitFailed' ELSE 'readFailed' END
            WHERE id = $1 AND stage IN ('reading', 'committing')
            """, [.text(id), .text(problem)])
        try forgetFailedItems()
    }

    /// Notes that whatever was under way when the process ended has failed.
    public func failInterruptedImports(problem: String) throws {
        let interrupted = try execute(
            """
            UPDATE imports SET problem = $1,
                stage = CASE WHEN stage = 'committing' THEN 'commitFailed' ELSE 'readFailed' END
            WHERE stage IN ('reading', 'committing')
            """, [.text(problem)])
        if interrupted > 0 { try forgetFailedItems() }
    }

    private func forgetFailedItems() throws {
        try execute(
            "DELETE FROM import_items WHERE import_id IN (SELECT id FROM imports WHERE stage = 'readFailed')", [])
    }

    /// Forgets previews that nobody committed.
    public func prunePreviews(before time: Int) throws {
        try execute("DELETE FROM imports WHERE state = 'previewed' AND created_at < $1", [.integer(time)])
    }
}
