// SPDX-License-Identifier: Apache-2.0

/// An imported event as it is stored, known by its UID and, for one occurrence, its original start.
public struct ImportedEventRecord: Hashable, Sendable {
    /// What an event is known by within its circle.
    public struct Key: Hashable, Sendable {
        public var uid: String
        public var recurrenceID: String

        public init(uid: String, recurrenceID: String) { (self.uid, self.recurrenceID) = (uid, recurrenceID) }
    }

    /// What an INTEGER of RFC 5545 section 3.3.8 can be.
    static let highestSequence = 2_147_483_647

    public var key: Key { Key(uid: uid, recurrenceID: recurrenceID) }

    public var circleID: String
    public var uid: String
    /// Empty for a whole event or series.
    public var recurrenceID: String
    /// The SEQUENCE that feeds show, never lower than the file's.
    public var sequence: Int
    /// Where it lies in time, for look-ups; `endsAt` is nil for a series without an end.
    public var startsAt: Int
    public var endsAt: Int?
    /// Equal for events that are the same but for their UID.
    public var fingerprint: String
    /// The event, without its revision; nobody here looks inside.
    public var content: String
    /// SEQUENCE and LAST-MODIFIED of the file it came from.
    public var fileSequence: Int
    public var fileModifiedAt: Int?
    /// The user who imported it, nil for the host application.
    public var importedBy: String?
    public var createdAt: Int
    public var updatedAt: Int
    public var deletedAt: Int?

    public init(
        circleID: String, uid: String, recurrenceID: String, startsAt: Int, endsAt: Int?, fingerprint: String,
        content: String, fileSequence: Int, fileModifiedAt: Int?, importedBy: String?
    ) {
        self.circleID = circleID
        self.uid = uid
        self.recurrenceID = recurrenceID
        self.sequence = fileSequence
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.fingerprint = fingerprint
        self.content = content
        self.fileSequence = fileSequence
        self.fileModifiedAt = fileModifiedAt
        self.importedBy = importedBy
        self.createdAt = 0
        self.updatedAt = 0
    }

    init(_ row: SQLRow) throws {
        circleID = try row.text(required: "circle_id")
        uid = try row.text(required: "uid")
        recurrenceID = try row.text(required: "recurrence_id")
        sequence = try row.integer(required: "sequence")
        startsAt = try row.integer(required: "starts_at")
        endsAt = row.integer("ends_at")
        fingerprint = try row.text(required: "fingerprint")
        content = try row.text(required: "content")
        fileSequence = try row.integer(required: "file_sequence")
        fileModifiedAt = row.integer("file_modified_at")
        importedBy = row.text("imported_by")
        createdAt = try row.integer(required: "created_at")
        updatedAt = try row.integer(required: "updated_at")
        deletedAt = row.integer("deleted_at")
    }
}

extension ReadTransaction {
    /// An imported event, or its tombstone.
    public func importedEventEverKnown(
        _ uid: String, _ recurrenceID: String, in circle: String
    ) throws -> ImportedEventRecord? {
        try row(
            "SELECT * FROM imported_events WHERE circle_id = $1 AND uid = $2 AND recurrence_id = $3",
            [.text(circle), .text(uid), .text(recurrenceID)]
        ).map(ImportedEventRecord.init)
    }

    /// Imported events of which any component of the series may overlap a span, in order of time.
    public func importedEvents(in circle: String, from: Int, to: Int) throws -> [ImportedEventRecord] {
        try rows(
            """
            SELECT * FROM imported_events
            WHERE circle_id = $1 AND deleted_at IS NULL AND uid IN (
                SELECT uid FROM imported_events
                WHERE circle_id = $1 AND deleted_at IS NULL AND (ends_at IS NULL OR ends_at >= $2) AND starts_at < $3)
            ORDER BY starts_at, uid, recurrence_id
            """, [.text(circle), .integer(from), .integer(to)]
        ).map(ImportedEventRecord.init)
    }
}

extension ReadTransaction {
    /// The UIDs of imported events that changed after the circle had this version, those that went too.
    public func importedUIDs(in circle: String, changedAfter version: Int) throws -> [String] {
        try rows(
            "SELECT DISTINCT uid FROM imported_events WHERE circle_id = $1 AND changed_in > $2 ORDER BY uid",
            [.text(circle), .integer(version)]
        ).map { try $0.text(required: "uid") }
    }

    /// The components of one imported event or series that are not deleted, in order of time.
    public func importedEvents(uid: String, in circle: String) throws -> [ImportedEventRecord] {
        try rows(
            """
            SELECT * FROM imported_events WHERE circle_id = $1 AND uid = $2 AND deleted_at IS NULL
            ORDER BY starts_at, recurrence_id
            """, [.text(circle), .text(uid)]
        ).map(ImportedEventRecord.init)
    }
}

extension WriteTransaction {
    /// Stores imported events of one circle with the revision they have.
    public func putImportedEvents(_ events: [ImportedEventRecord]) throws {
        guard let circle = events.first?.circleID else { return }
        let version = try row("SELECT version FROM circles WHERE id = $1", [.text(circle)])?.integer("version")
        guard let version else { throw StorageError.unexpectedResult("An event's circle is not there.") }
        let rows = events.map { event -> [SQLValue] in
            [
                .text(event.circleID), .text(event.uid), .text(event.recurrenceID),
                .integer(min(event.sequence, ImportedEventRecord.highestSequence)),
                .integer(event.startsAt), SQLValue(event.endsAt), .text(event.fingerprint), .text(event.content),
                .integer(event.fileSequence), SQLValue(event.fileModifiedAt), SQLValue(event.importedBy),
                .integer(event.createdAt), .integer(event.updatedAt), SQLValue(event.deletedAt), .integer(version + 1),
            ]
        }
        try insertRows(
            """
            INSERT INTO imported_events (circle_id, uid, recurrence_id, sequence, starts_at, ends_at, fingerprint,
                content, file_sequence, file_modified_at, imported_by, created_at, updated_at, deleted_at, changed_in)
            """, rows,
            otherwise: """
                ON CONFLICT (circle_id, uid, recurrence_id) DO UPDATE SET sequence = EXCLUDED.sequence,
                    starts_at = EXCLUDED.starts_at, ends_at = EXCLUDED.ends_at, fingerprint = EXCLUDED.fingerprint,
                    content = EXCLUDED.content, file_sequence = EXCLUDED.file_sequence,
                    file_modified_at = EXCLUDED.file_modified_at, imported_by = EXCLUDED.imported_by,
                    created_at = EXCLUDED.created_at, updated_at = EXCLUDED.updated_at,
                    deleted_at = EXCLUDED.deleted_at, changed_in = EXCLUDED.changed_in
                """)
    }
}
