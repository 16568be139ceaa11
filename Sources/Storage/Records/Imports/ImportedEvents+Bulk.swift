// SPDX-License-Identifier: Apache-2.0

// Queries and writes of many events at once.

/// An event with the same UID from another source.
public struct SameUIDEvent: Sendable {
    public var uid: ByteString
    public var source: EventSource
    public var visibleTo: String?
    public var shownUID: String?
}

extension ReadTransaction {
    /// Returns the latest version of each of these events that a circle shows or showed, of some sources.
    public func importedVersions(
        _ keys: [(uid: String, recurrenceID: String)], of sources: [EventSource], in circle: Circle
    ) throws -> [ImportedEventRecord.Key: ImportedEventRecord] {
        var found: [ImportedEventRecord.Key: ImportedEventRecord] = [:]
        for row in try versions(keys, of: sources, in: circle, ImportedEventRecord.query) {
            let record = try ImportedEventRecord(row, at: circle.eventsEpoch)
            if let known = found[record.key], known.isLive || known.sequence > record.sequence { continue }
            found[record.key] = record
        }
        return found
    }

    /// Returns how many bytes `importedVersions` reads for each of these events, in their order.
    public func importedSizes(
        _ keys: [(uid: String, recurrenceID: String)], of sources: [EventSource], in circle: Circle
    ) throws -> [Int] {
        let query = "SELECT uid, recurrence_id, \(Self.size) FROM event_versions"
        var sizes: [ImportedEventRecord.Key: Int] = [:]
        func key(_ uid: String, _ recurrenceID: String) -> ImportedEventRecord.Key {
            ImportedEventRecord.Key(.shared, uid: uid, recurrenceID: recurrenceID)
        }
        for row in try versions(keys, of: sources, in: circle, query) {
            let key = key(try row.text(required: "uid"), try row.text(required: "recurrence_id"))
            sizes[key, default: 0] += try row.integer(required: "size")
        }
        return keys.map { sizes[key($0.uid, $0.recurrenceID)] ?? 0 }
    }

    /// The bytes of an event as it is stored.
    private static var size: String { "CAST(length(CAST(content AS BLOB)) AS BIGINT) AS size" }

    private func versions(
        _ wanted: [(uid: String, recurrenceID: String)], of sources: [EventSource], in circle: Circle, _ query: String
    ) throws -> [SQLRow] {
        let keys = sources.flatMap { source in
            Set(wanted.map { ImportedEventRecord.Key(source, uid: $0.uid, recurrenceID: $0.recurrenceID) })
        }
        let length = 50
        var found: [SQLRow] = []
        for start in stride(from: 0, to: keys.count, by: length) {
            // Groups are filled up to one length, so that there is only one statement; a repeated key is found once.
            let group = (0..<length).flatMap { keys[min(start + $0, keys.count - 1)].values }
            found += try rows(
                """
                \(query)
                WHERE circle_id = $1 AND +from_epoch <= $2 AND \(ImportedEventRecord.Key.among(length, from: 3))
                """, [.text(circle.id), .integer(circle.eventsEpoch)] + group)
        }
        return found
    }

    /// Returns how many changed occurrences some sources show of each series, with the bytes of their contents.
    public func importedOccurrences(
        of uids: [String], from sources: [EventSource], in circle: Circle
    ) throws -> [ByteString: Usage] {
        guard !sources.isEmpty else { return [:] }
        let origins = sources.map { SQLValue.text($0.text) }
        let found = try eachGroup(uids, from: 3 + origins.count) { parameters, values in
            try self.values(
                """
                SELECT uid, COUNT(*) AS count, CAST(SUM(length(CAST(content AS BLOB))) AS BIGINT) AS bytes
                FROM event_versions
                WHERE circle_id = $1 AND +from_epoch <= $2 AND until_epoch > $2 AND recurrence_id <> ''
                    AND uid IN (\(parameters)) AND +source IN (\(SQLText.parameters(origins.count, from: 3)))
                GROUP BY uid
                """, [.text(circle.id), .integer(circle.eventsEpoch)] + origins + values
            ) {
                let usage = Usage(count: try $0.integer(required: "count"), bytes: try $0.integer(required: "bytes"))
                return (ByteString(try $0.text(required: "uid")), usage)
            }
        }
        return Dictionary(uniqueKeysWithValues: found)
    }

    /// Returns events that other sources brought under these UIDs: those for everybody, and those only for this user.
    ///
    /// The result has one entry for each UID and source that feeds distinguish, and not one for each component.
    public func sameUIDEvents(
        _ uids: [String], of source: EventSource, visibleTo user: String?, in circle: Circle
    ) throws -> [SameUIDEvent] {
        // Without a user, no private event matches.
        let audience = user ?? ""
        func named(_ parameters: String, _ values: [SQLValue]) throws -> [SQLRow] {
            try rows(
                """
                SELECT DISTINCT uid, source, visible_to, shown_uid FROM event_versions
                WHERE circle_id = $1 AND +source <> $2 AND +from_epoch <= $3 AND until_epoch > $3
                    AND (visible_to IS NULL OR visible_to = $4) AND uid IN (\(parameters))
                """, [.text(circle.id), .text(source.text), .integer(circle.eventsEpoch), .text(audience)] + values)
        }
        return try eachGroup(uids, from: 5, named).map {
            SameUIDEvent(
                uid: ByteString(try $0.text(required: "uid")),
                source: EventSource(stored: try $0.text(required: "source")), visibleTo: $0.text("visible_to"),
                shownUID: $0.text("shown_uid"))
        }
    }

    /// Returns the UIDs for which a source has components, with their number.
    public func componentCounts(
        _ uids: [String], of source: EventSource, in circle: Circle
    ) throws -> [(uid: ByteString, count: Int, importers: Int, importer: String?)] {
        try eachGroup(uids, from: 4) { parameters, values in
            try rows(
                """
                SELECT uid, COUNT(*) AS count, COUNT(DISTINCT COALESCE(imported_by, '')) AS importers,
                    MIN(imported_by) AS importer FROM event_versions
                WHERE circle_id = $1 AND +source = $2 AND +from_epoch <= $3 AND until_epoch > $3
                    AND uid IN (\(parameters))
                GROUP BY uid
                """, [.text(circle.id), .text(source.text), .integer(circle.eventsEpoch)] + values
            ).map {
                (
                    ByteString(try $0.text(required: "uid")), try $0.integer(required: "count"),
                    try $0.integer(required: "importers"), $0.text("importer")
                )
            }
        }
    }

    /// The identity of an imported event that is the same as another except for its UID, who sees it (nil for everybody,
    /// empty for nobody), and its bytes as it is stored.
    public typealias DuplicateEvent = (
        key: ImportedEventRecord.Key, fingerprint: ByteString, visibleTo: ByteString?, size: Int
    )

    /// Returns events of some sources with one of these fingerprints, in order of UID; nil when there are more than
    /// `limit`.
    public func twins(
        _ fingerprints: [String], of sources: [EventSource], in circle: Circle, limit: Int
    ) throws -> [DuplicateEvent]? {
        let origins = sources.map { SQLValue.text($0.text) }
        let found = try eachGroup(fingerprints, from: 4 + origins.count) { parameters, values in
            try rows(
                """
                SELECT uid, recurrence_id, source, fingerprint, visible_to, \(Self.size) FROM event_versions
                WHERE circle_id = $1 AND +from_epoch <= $2 AND until_epoch > $2 AND fingerprint IN (\(parameters))
                    AND +source IN (\(SQLText.parameters(origins.count, from: 4)))
                ORDER BY fingerprint, uid LIMIT $3
                """, [.text(circle.id), .integer(circle.eventsEpoch), .integer(limit + 1)] + origins + values)
        }
        return found.count > limit ? nil : try found.map(Self.twin)
    }

    /// Returns events with one fingerprint after a UID: those that were examined before are not visited again.
    public func twins(
        _ fingerprint: String, behind uid: String, of sources: [EventSource], in circle: Circle, limit: Int
    ) throws -> [DuplicateEvent] {
        let origins = sources.map { SQLValue.text($0.text) }
        return try rows(
            """
            SELECT uid, recurrence_id, source, fingerprint, visible_to, \(Self.size) FROM event_versions
            WHERE circle_id = $1 AND +from_epoch <= $2 AND until_epoch > $2 AND fingerprint = $3 AND uid > $4
                AND +source IN (\(SQLText.parameters(origins.count, from: 6)))
            ORDER BY uid LIMIT $5
            """,
            [.text(circle.id), .integer(circle.eventsEpoch), .text(fingerprint), .text(uid), .integer(limit)] + origins
        ).map(Self.twin)
    }

    private static func twin(_ row: SQLRow) throws -> DuplicateEvent {
        (
            ImportedEventRecord.Key(
                EventSource(stored: try row.text(required: "source")), uid: try row.text(required: "uid"),
                recurrenceID: try row.text(required: "recurrence_id")),
            ByteString(try row.text(required: "fingerprint")), row.text("visible_to").map { ByteString($0) },
            try row.integer(required: "size")
        )
    }

    /// Returns a source's events in order of UID and occurrence, after a given one.
    public func importedKeys(
        of source: EventSource, in circle: Circle, after key: ImportedEventRecord.Key?, limit: Int
    ) throws -> [ImportedEventRecord.Key] {
        try rows(
            """
            SELECT uid, recurrence_id FROM event_versions
            WHERE circle_id = $1 AND (uid, recurrence_id) > ($2, $3) AND source = $4 AND +from_epoch <= $5
                AND until_epoch > $5
            ORDER BY uid, recurrence_id LIMIT $6
            """,
            [
                .text(circle.id), .text(key?.uid.string ?? ""), .text(key?.recurrenceID.string ?? ""),
                .text(source.text), .integer(circle.eventsEpoch), .integer(limit),
            ]
        ).map {
            ImportedEventRecord.Key(
                source, uid: try $0.text(required: "uid"), recurrenceID: try $0.text(required: "recurrence_id"))
        }
    }

    /// Returns those UIDs that belong to items of a circle, deleted or not.
    public func ownedUIDs(_ uids: [String], in circle: String) throws -> Set<ByteString> {
        let found = try eachGroup(uids) { parameters, values in
            try rows(
                "SELECT uid FROM schedule_items WHERE circle_id = $1 AND uid IN (\(parameters))",
                [.text(circle)] + values
            ).map { ByteString(try $0.text(required: "uid")) }
        }
        return Set(found)
    }

    /// Queries a list in groups of one length, so that there is only one statement; the last group is filled up.
    ///
    /// - Parameter first: the number of the list's first parameter.
    func eachGroup<Found>(
        _ values: [String], from first: Int = 2, _ ask: (String, [SQLValue]) throws -> [Found]
    ) throws -> [Found] {
        let length = 100
        let parameters = SQLText.parameters(length, from: first)
        // Each value is asked for once; otherwise its rows could be found in two groups.
        let distinct = Array(Set(values.map { ByteString($0) }))
        var found: [Found] = []
        for start in stride(from: 0, to: distinct.count, by: length) {
            var group = distinct[start...].prefix(length).map { SQLValue.text($0.string) }
            while group.count < length { group.append(group[0]) }
            found += try ask(parameters, group)
        }
        return found
    }
}

extension ImportedEventRecord.Key {
    var values: [SQLValue] { [.text(uid.string), .text(recurrenceID.string), .text(source.text)] }
}

extension WriteTransaction {
    /// Inserts rows, several with one statement when there are many; when this fails, the whole transaction must.
    func insertRows(into table: String, _ rows: [[SQLValue]], otherwise: String = "") throws {
        let together = 25
        var start = 0
        while start < rows.count {
            let count = rows.count - start >= together ? together : 1
            let group = rows[start..<start + count]
            try execute(
                "\(insertMany) INTO \(table) VALUES \(SQLText.tuples(count, of: rows[start].count)) \(otherwise)",
                group.flatMap { $0 })
            start += count
        }
    }
}
