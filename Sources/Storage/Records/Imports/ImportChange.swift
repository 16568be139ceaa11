// SPDX-License-Identifier: Apache-2.0

/// What an import did to one event, with what is needed to undo it.
public struct ImportChange: Hashable, Sendable {
    /// The properties that undoing restores besides the content.
    public struct Origin: Hashable, Sendable {
        public var fileSequence = 0
        public var fileModifiedAt: Int?
        public var importedBy: String?
        public var shownUID: String?
    }

    /// The state of the event afterwards.
    public enum After: Hashable, Sendable {
        case gone
        /// Base64 of a hash.
        case digest(String)
    }

    public var source = EventSource.shared
    public var uid = ""
    public var recurrenceID = ""
    /// Nil when the event did not exist before.
    public var contentBefore: String?
    /// Nil when the event did not exist before.
    public var before: Origin?
    public var after = After.gone

    private var sequenceBefore: Int? {
        get { before?.fileSequence }
        set { before = newValue.map { Origin(fileSequence: $0) } }
    }

    private var digestAfter: String? {
        get { if case .digest(let text) = after { text } else { nil } }
        set { after = newValue.map(After.digest) ?? .gone }
    }
}

extension ImportChange: StoredRow {
    public init(_ key: ImportedEventRecord.Key, before: ImportedEventRecord?, after: After) {
        self.init(
            source: key.source, uid: key.uid.string, recurrenceID: key.recurrenceID.string,
            contentBefore: before?.content,
            before: before.map {
                Origin(
                    fileSequence: $0.fileSequence, fileModifiedAt: $0.fileModifiedAt, importedBy: $0.importedBy,
                    shownUID: $0.shownUID)
            }, after: after)
    }

    static let table = RecordTable<ImportChange>(
        "import_changes",
        [
            .init("source", \.source), .init("uid", \.uid), .init("recurrence_id", \.recurrenceID),
            .init("content_before", \.contentBefore), .init("digest_after", \.digestAfter),
            .init("file_sequence_before", \.sequenceBefore), .part("file_modified_before", \.before, \.fileModifiedAt),
            .part("imported_by_before", \.before, \.importedBy), .part("shown_uid_before", \.before, \.shownUID),
        ])
}

extension ReadTransaction {
    /// Returns the changes of an import, last first, each with its place in their order.
    ///
    /// - Parameter bytes: the approximate size of what is returned at once, but at least one change.
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
            """
            SELECT \(columns: ImportChange.self, of: "import_changes"), position FROM import_changes
            WHERE import_id = $1 AND position < $2 AND position >= $3 ORDER BY position DESC
            """, [.text(id), .integer(position), .integer(lowest)]
        ).map { (try ImportChange($0), try $0.integer(required: "position")) }
    }
}

extension WriteTransaction {
    /// Stores what is needed to undo an import's changes.
    ///
    /// - Parameter first: the place of the first of these changes among all.
    public func insert(_ changes: [ImportChange], ofImport id: String, from first: Int) throws {
        try insert(all: changes, with: "import_id, position", { [.text(id), .integer(first + $0)] })
    }
}
