// SPDX-License-Identifier: Apache-2.0

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
}

extension WriteTransaction {
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
}
