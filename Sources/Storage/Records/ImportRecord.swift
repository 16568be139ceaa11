// SPDX-License-Identifier: Apache-2.0

/// One import of a file: what it said, what it did, and the way back.
public struct ImportRecord: Hashable, Sendable {
    public enum State: String, Hashable, Sendable {
        case previewed, committed, undone
    }

    public var id: String
    public var circleID: String
    public var state: State
    /// The user who imports, nil for the host application.
    public var importedBy: String?
    /// The report as JSON; nobody here looks inside.
    public var report: String
    /// What was read of the file as JSON, to commit a preview from; empty once it is committed.
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

    /// What an import changed, in the order it was done.
    public func changes(ofImport id: String) throws -> [ImportChange] {
        try rows("SELECT * FROM import_changes WHERE import_id = $1 ORDER BY position", [.text(id)]).map { row in
            ImportChange(
                uid: try row.text(required: "uid"), recurrenceID: try row.text(required: "recurrence_id"),
                contentBefore: row.text("content_before"), contentAfter: row.text("content_after"))
        }
    }
}

extension WriteTransaction {
    /// Stores an import, new or in its next state.
    public func putImport(_ record: ImportRecord) throws {
        try execute(
            """
            INSERT INTO imports (id, circle_id, state, imported_by, report, source, created_at, committed_at, undone_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            ON CONFLICT (id) DO UPDATE SET state = EXCLUDED.state, report = EXCLUDED.report, source = EXCLUDED.source,
                committed_at = EXCLUDED.committed_at, undone_at = EXCLUDED.undone_at
            """,
            [
                .text(record.id), .text(record.circleID), .text(record.state.rawValue), SQLValue(record.importedBy),
                .text(record.report), .text(record.source), .integer(record.createdAt), SQLValue(record.committedAt),
                SQLValue(record.undoneAt),
            ])
    }

    /// Keeps the way back from what an import did.
    public func insert(_ changes: [ImportChange], ofImport id: String) throws {
        for (position, change) in changes.enumerated() {
            try execute(
                """
                INSERT INTO import_changes (import_id, position, uid, recurrence_id, content_before, content_after)
                VALUES ($1, $2, $3, $4, $5, $6)
                """,
                [
                    .text(id), .integer(position), .text(change.uid), .text(change.recurrenceID),
                    SQLValue(change.contentBefore), SQLValue(change.contentAfter),
                ])
        }
    }

    /// Forgets previews that nobody committed.
    public func prunePreviews(before time: Int) throws {
        try execute("DELETE FROM imports WHERE state = 'previewed' AND created_at < $1", [.integer(time)])
    }
}
