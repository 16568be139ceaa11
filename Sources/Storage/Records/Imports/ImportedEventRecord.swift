// SPDX-License-Identifier: Apache-2.0

/// One version of an imported event, identified by its source, its UID and, for one occurrence, its original start.
public struct ImportedEventRecord: Hashable, Sendable {
    /// The identity of an event within its circle.
    public struct Key: Hashable, Sendable {
        public var source: EventSource
        public var uid: ByteString
        public var recurrenceID: ByteString

        public init(_ source: EventSource, uid: String, recurrenceID: String) {
            (self.source, self.uid, self.recurrenceID) = (source, ByteString(uid), ByteString(recurrenceID))
        }
    }

    /// The highest INTEGER of RFC 5545 section 3.3.8.
    static let highestSequence = 2_147_483_647

    public var key: Key { Key(source, uid: uid, recurrenceID: recurrenceID) }

    public var circleID = ""
    public var source = EventSource.shared
    public var uid = ""
    /// Empty for a whole event or series.
    public var recurrenceID = ""
    /// Who sees it: nil for everybody, otherwise one user; an empty text for nobody.
    public var visibleTo: String?
    /// The UID that feeds show in place of its own, because another event already had that one.
    public var shownUID: String?
    /// The SEQUENCE that feeds show: our own count, which no file can drive up.
    public var sequence = 0
    /// Its span of time, for look-ups; `endsAt` is nil for a series without an end.
    public var startsAt = 0
    public var endsAt: Int?
    /// A value that is equal for events that are the same except for their UID.
    public var fingerprint = ""
    /// The event without its revision, which this module does not interpret.
    public var content = ""
    /// SEQUENCE and LAST-MODIFIED of its file, which order only the versions of this source.
    public var fileSequence = 0
    public var fileModifiedAt: Int?
    /// The user who imported it; nil for the host application.
    public var importedBy: String?
    public var createdAt = 0
    public var updatedAt = 0
    /// Whether the circle shows this version in the epoch that was read.
    public private(set) var isLive = true

    private var storedSequence: Int {
        get { min(sequence, Self.highestSequence) }
        set { sequence = newValue }
    }

    private var storedEnd: Int {
        get { min(endsAt ?? EventEpoch.open, EventEpoch.open) }
        set { endsAt = newValue == EventEpoch.open ? nil : newValue }
    }
}

extension ImportedEventRecord: StoredRow {
    public init(
        circleID: String, source: EventSource, uid: String, recurrenceID: String, startsAt: Int, endsAt: Int?,
        fingerprint: String, content: String, fileSequence: Int, fileModifiedAt: Int?, importedBy: String?, now: Int
    ) {
        self.init()
        (self.circleID, self.source, self.uid, self.recurrenceID) = (circleID, source, uid, recurrenceID)
        (self.startsAt, self.endsAt, self.fingerprint, self.content) = (startsAt, endsAt, fingerprint, content)
        (self.fileSequence, self.fileModifiedAt, self.importedBy) = (fileSequence, fileModifiedAt, importedBy)
        (createdAt, updatedAt) = (now, now)
    }

    static let table = RecordTable<ImportedEventRecord>(
        "event_versions",
        [
            .init("circle_id", \.circleID), .init("source", \.source), .init("uid", \.uid),
            .init("recurrence_id", \.recurrenceID), .init("visible_to", \.visibleTo), .init("shown_uid", \.shownUID),
            .init("sequence", \.storedSequence, in: ColumnRules.sequences),
            // An imported event may be outside the years that we write.
            .init("starts_at", \.startsAt, in: ColumnRules.numbers),
            .init("ends_at", \.storedEnd, in: ColumnRules.numbers), .init("fingerprint", \.fingerprint),
            .init("content", \.content), .init("file_sequence", \.fileSequence),
            .init("file_modified_at", \.fileModifiedAt, in: ColumnRules.numbers),
            .init("imported_by", \.importedBy), .init("created_at", \.createdAt), .init("updated_at", \.updatedAt),
        ])

    /// - Parameter row: a row of `query`.
    init(_ row: SQLRow, at epoch: Int) throws {
        try self.init(row)
        isLive = try row.integer(required: "until_epoch") > epoch
    }

    /// Selects the columns, and the epoch with which the version ends.
    static let query =
        "SELECT \(columns: ImportedEventRecord.self, of: "event_versions"), until_epoch FROM event_versions"
}

// A plus before a column keeps the search on the key named next to it.

extension ReadTransaction {
    /// Returns imported events in order of time; each belongs to a UID with a component that may overlap a span.
    public func importedEvents(in circle: Circle, from: Int, to: Int) throws -> [ImportedEventRecord] {
        try values(
            """
            \(Self.near)
            ORDER BY starts_at, uid, recurrence_id, source
            """, [.text(circle.id), .integer(circle.eventsEpoch), .integer(from), .integer(to)]
        ) { try ImportedEventRecord($0, at: circle.eventsEpoch) }
    }

    /// Returns the UIDs of a circle's imported events that may overlap a span, in order of time, then of text; a UID is
    /// repeated when sources give it different times.
    ///
    /// - Returns: each UID with the start of the source's earliest component, in milliseconds since 1970.
    public func importedPlaces(in circle: Circle, from: Int, to: Int) throws -> [(uid: String, startsAt: Int)] {
        try values(
            """
            SELECT DISTINCT uid, first FROM (
                SELECT uid, source, MIN(starts_at) AS first FROM event_versions
                WHERE circle_id = $1 AND +from_epoch <= $2 AND until_epoch > $2 AND uid IN (
                    SELECT uid FROM event_versions
                    WHERE circle_id = $1 AND +from_epoch <= $2 AND until_epoch > $2
                        AND ends_at >= $3 AND starts_at < $4)
                GROUP BY uid, source) AS places
            ORDER BY first, uid
            """, [.text(circle.id), .integer(circle.eventsEpoch), .integer(from), .integer(to)]
        ) { (uid: try $0.text(required: "uid"), startsAt: try $0.integer(required: "first")) }
    }

    /// Returns the bytes of what a circle shows of imported events by UID.
    public func importedBytes(of uids: [String], in circle: String) throws -> [ByteString: Int] {
        let found = try eachGroup(uids, from: 2) { parameters, values in
            try self.values(
                """
                SELECT uid, CAST(SUM(length(CAST(content AS BLOB))) AS BIGINT) AS bytes FROM event_versions
                WHERE circle_id = $1 AND uid IN (\(parameters)) AND until_epoch = \(EventEpoch.open) GROUP BY uid
                """, [.text(circle)] + values
            ) { (ByteString(try $0.text(required: "uid")), try $0.integer(required: "bytes")) }
        }
        return Dictionary(uniqueKeysWithValues: found)
    }

    /// Passes on the events of `importedEvents(in:from:to:)` UID by UID, each UID's in order of time.
    ///
    /// - Parameter body: must not query the database.
    public func eachImportedUID(
        in circle: Circle, from: Int, to: Int, _ body: ([ImportedEventRecord]) throws -> Void
    ) throws {
        var group: [ImportedEventRecord] = []
        try eachRow(
            """
            \(Self.near)
            ORDER BY uid, starts_at, recurrence_id, source
            """, [.text(circle.id), .integer(circle.eventsEpoch), .integer(from), .integer(to)]
        ) { row in
            let record = try ImportedEventRecord(row, at: circle.eventsEpoch)
            if let first = group.first, !first.uid.isSameText(as: record.uid) {
                try body(group)
                group.removeAll(keepingCapacity: true)
            }
            group.append(record)
        }
        if !group.isEmpty { try body(group) }
    }

    private static var near: String {
        """
        \(ImportedEventRecord.query)
        WHERE circle_id = $1 AND +from_epoch <= $2 AND until_epoch > $2 AND uid IN (
            SELECT uid FROM event_versions
            WHERE circle_id = $1 AND +from_epoch <= $2 AND until_epoch > $2 AND ends_at >= $3 AND starts_at < $4)
        """
    }

    /// Returns the UIDs of imported events that changed after this epoch of the circle, including removed ones.
    ///
    /// - Returns: nil when there are more than `limit`, or when removed events are not known any more.
    public func importedUIDs(in circle: Circle, changedAfter epoch: Int, limit: Int) throws -> [String]? {
        guard epoch >= circle.eventsFloor else { return nil }
        if epoch == circle.eventsEpoch { return [] }
        let found = try rows(
            """
            SELECT uid FROM event_versions WHERE circle_id = $1 AND from_epoch > $2 AND from_epoch <= $3
            UNION
            SELECT uid FROM event_versions
            WHERE circle_id = $1 AND until_epoch > $2 AND until_epoch <= $3 AND until_epoch < \(EventEpoch.open)
            LIMIT $4
            """, [.text(circle.id), .integer(epoch), .integer(circle.eventsEpoch), .integer(limit + 1)])
        guard found.count <= limit else { return nil }
        return try found.map { try $0.text(required: "uid") }
    }

    /// Returns the components with some UIDs, of all sources; those of each UID are in order of time.
    public func importedEvents(uids: [String], in circle: Circle) throws -> [ImportedEventRecord] {
        try eachGroup(uids, from: 3) { parameters, values in
            try rows(
                """
                \(ImportedEventRecord.query)
                WHERE circle_id = $1 AND +from_epoch <= $2 AND until_epoch > $2 AND uid IN (\(parameters))
                ORDER BY uid, starts_at, recurrence_id, source
                """, [.text(circle.id), .integer(circle.eventsEpoch)] + values
            ).map { try ImportedEventRecord($0, at: circle.eventsEpoch) }
        }
    }
}
