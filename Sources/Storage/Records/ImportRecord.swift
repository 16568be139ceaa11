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

/// What an import did to one event.
public struct ImportChange: Hashable, Sendable {
    public var key: ImportedEventRecord.Key { ImportedEventRecord.Key(uid: uid, recurrenceID: recurrenceID) }
    public var uid: String
    public var recurrenceID: String
    /// Nil when the event was not there before.
    public var contentBefore: String?
    /// Nil when the event was not there afterwards.
    public var contentAfter: String?

    public init(uid: String, recurrenceID: String, contentBefore: String?, contentAfter: String?) {
        self.uid = uid
        self.recurrenceID = recurrenceID
        self.contentBefore = contentBefore
        self.contentAfter = contentAfter
    }
}

extension ReadTransaction {
    public func importRecord(_ id: String) throws -> ImportRecord? {
        try row("SELECT * FROM imports WHERE id = $1", [.text(id)]).map(ImportRecord.init)
    }

    /// What an import changed, the last first, with the place of each in the order it was done.
    public func changes(
        ofImport id: String, before position: Int, limit: Int
    ) throws -> [(change: ImportChange, position: Int)] {
        try rows(
            "SELECT * FROM import_changes WHERE import_id = $1 AND position < $2 ORDER BY position DESC LIMIT $3",
            [.text(id), .integer(position), .integer(limit)]
        ).map { row in
            (
                ImportChange(
                    uid: try row.text(required: "uid"), recurrenceID: try row.text(required: "recurrence_id"),
                    contentBefore: row.text("content_before"), contentAfter: row.text("content_after")),
                try row.integer(required: "position")
            )
        }
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

    /// The items of some blocks, each a JSON array.
    public func importItems(ofImport id: String, blocks: ClosedRange<Int>) throws -> [String] {
        try rows(
            "SELECT items FROM import_items WHERE import_id = $1 AND block >= $2 AND block <= $3 ORDER BY block",
            [.text(id), .integer(blocks.lowerBound), .integer(blocks.upperBound)]
        ).map { try $0.text(required: "items") }
    }

    /// What was read of the file, of one block.
    public func importSource(ofImport id: String, block: Int) throws -> String {
        guard
            let row = try row(
                "SELECT source FROM import_items WHERE import_id = $1 AND block = $2", [.text(id), .integer(block)])
        else { throw StorageError.unexpectedResult("An import has lost a part of what was read.") }
        return try row.text(required: "source")
    }
}

extension WriteTransaction {
    /// Stores an import, new or in its next state.
    public func putImport(_ record: ImportRecord) throws {
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
    }

    /// Stores a block of an import's items, a JSON array, with what was read of the file as long as it is needed.
    public func putItems(ofImport id: String, block: Int, items: String, source: String) throws {
        try execute(
            """
            INSERT INTO import_items (import_id, block, items, source) VALUES ($1, $2, $3, $4)
            ON CONFLICT (import_id, block) DO UPDATE SET items = EXCLUDED.items, source = EXCLUDED.source
            """, [.text(id), .integer(block), .text(items), .text(source)])
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

    /// Keeps the way back from what an import did.
    ///
    /// - Parameter first: the place of the first of these changes in the order of all.
    public func insert(_ changes: [ImportChange], ofImport id: String, from first: Int) throws {
        let rows = changes.enumerated().map { place, change -> [SQLValue] in
            [
                .text(id), .integer(first + place), .text(change.uid), .text(change.recurrenceID),
                SQLValue(change.contentBefore), SQLValue(change.contentAfter),
            ]
        }
        try insertRows(
            "INSERT INTO import_changes (import_id, position, uid, recurrence_id, content_before, content_after)",
            rows)
    }

    /// Forgets previews that nobody committed.
    public func prunePreviews(before time: Int) throws {
        try execute("DELETE FROM imports WHERE state = 'previewed' AND created_at < $1", [.integer(time)])
    }
}
