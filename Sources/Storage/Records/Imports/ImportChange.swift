// SPDX-License-Identifier: Apache-2.0

/// What an import did to one event, with what is needed to undo it.
public struct ImportChange: Hashable, Sendable {
    /// The properties that undoing restores besides the content.
    public struct Origin: Hashable, Sendable {
        public var fileSequence: Int
        public var fileModifiedAt: Int?
        public var importedBy: String?
        public var shownUID: String?

        public init(_ event: ImportedEventRecord) {
            fileSequence = event.fileSequence
            fileModifiedAt = event.fileModifiedAt
            importedBy = event.importedBy
            shownUID = event.shownUID
        }

        fileprivate init(fileSequence: Int, _ row: SQLRow) {
            self.fileSequence = fileSequence
            fileModifiedAt = row.integer("file_modified_before")
            importedBy = row.text("imported_by_before")
            shownUID = row.text("shown_uid_before")
        }
    }

    /// The state of the event afterwards.
    public enum After: Hashable, Sendable {
        case gone
        /// Base64 of a hash.
        case digest(String)
    }

    public var source: EventSource
    public var uid: String
    public var recurrenceID: String
    /// Nil when the event did not exist before.
    public var contentBefore: String?
    /// Nil when the event did not exist before.
    public var before: Origin?
    public var after: After

    public init(_ key: ImportedEventRecord.Key, before: ImportedEventRecord?, after: After) {
        source = key.source
        uid = key.uid.string
        recurrenceID = key.recurrenceID.string
        contentBefore = before?.content
        self.before = before.map(Origin.init)
        self.after = after
    }

    init(_ row: SQLRow) throws {
        source = EventSource(stored: try row.text(required: "source"))
        uid = try row.text(required: "uid")
        recurrenceID = try row.text(required: "recurrence_id")
        contentBefore = row.text("content_before")
        before = row.integer("file_sequence_before").map { Origin(fileSequence: $0, row) }
        after = row.text("digest_after").map(After.digest) ?? .gone
    }
}

extension ReadTransaction {
    /// Returns the changes of an import, last first, each with its place in their order.
    ///
    /// - Parameter bytes: about how much is returned at once, but at least one change.
    public func changes(
        ofImport id: String, before position: Int, limit: Int, bytes: Int = 1 << 20
    ) throws -> [(change: ImportChange, position: Int)] {
        let sizes = try rows(
            """
            SELECT position, COALESCE(LENGTH(content_before), 0) AS size
            FROM import_changes WHERE import_id = $1 AND position < $2 ORDER BY position DESC LIMIT $3
            """, [.text(id), .integer(position), .integer(limit)])
        var (lowest, total) = (Int?.none, 0)
        for row in sizes {
            total += try row.integer(required: "size")
            if lowest != nil, total > bytes { break }
            lowest = try row.integer(required: "position")
        }
        guard let lowest else { return [] }
        return try rows(
            "\(select: .importChanges) WHERE import_id = $1 AND position < $2 AND position >= $3 ORDER BY position DESC",
            [.text(id), .integer(position), .integer(lowest)]
        ).map { (try ImportChange($0), try $0.integer(required: "position")) }
    }
}

extension WriteTransaction {
    /// Stores what is needed to undo an import's changes.
    ///
    /// - Parameter first: the place of the first of these changes among all.
    public func insert(_ changes: [ImportChange], ofImport id: String, from first: Int) throws {
        let rows = changes.enumerated().map { index, change -> [SQLValue] in
            var digest: String?
            if case .digest(let text) = change.after { digest = text }
            return [
                .text(id), .integer(first + index), .text(change.source.text), .text(change.uid),
                .text(change.recurrenceID), SQLValue(change.contentBefore), SQLValue(digest),
                SQLValue(change.before?.fileSequence), SQLValue(change.before?.fileModifiedAt),
                SQLValue(change.before?.importedBy), SQLValue(change.before?.shownUID),
            ]
        }
        try insertRows(
            into: """
                import_changes (import_id, position, source, uid, recurrence_id, content_before, digest_after,
                    file_sequence_before, file_modified_before, imported_by_before, shown_uid_before)
                """, rows)
    }
}
