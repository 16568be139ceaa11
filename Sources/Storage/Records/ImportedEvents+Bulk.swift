// SPDX-License-Identifier: Apache-2.0

// What is asked of many events at once, and stored of them.

extension ReadTransaction {
    /// Imported events with one of these UIDs, and tombstones.
    public func importedEventsEverKnown(_ uids: [String], in circle: String) throws -> [ImportedEventRecord] {
        try eachGroup(uids) { parameters, values in
            try rows(
                "SELECT * FROM imported_events WHERE circle_id = $1 AND uid IN (\(parameters))",
                [.text(circle)] + values
            ).map(ImportedEventRecord.init)
        }
    }

    /// What is told of an imported event that is the same as another but for its UID.
    public typealias Twin = (uid: String, key: ImportedEventRecord.Key, fingerprint: String)

    /// Imported events with one of these fingerprints, oldest first.
    public func importedEvents(fingerprints: [String], in circle: String) throws -> [Twin] {
        try eachGroup(fingerprints) { parameters, values in
            try rows(
                """
                SELECT uid, recurrence_id, fingerprint FROM imported_events
                WHERE circle_id = $1 AND fingerprint IN (\(parameters)) AND deleted_at IS NULL
                ORDER BY created_at, uid
                """, [.text(circle)] + values
            ).map { row in
                let uid = try row.text(required: "uid")
                return (
                    uid,
                    ImportedEventRecord.Key(uid: uid, recurrenceID: try row.text(required: "recurrence_id")),
                    try row.text(required: "fingerprint")
                )
            }
        }
    }

    /// Those of these UIDs that are our own items'.
    public func ownedUIDs(_ uids: [String]) throws -> Set<String> {
        let found = try eachGroup(uids, from: 1) { parameters, values in
            try rows("SELECT uid FROM schedule_items WHERE uid IN (\(parameters))", values).map {
                try $0.text(required: "uid")
            }
        }
        return Set(found)
    }

    /// Asks for a list in groups of one length, so that there is one statement: what is left over is filled up.
    private func eachGroup<Found>(
        _ values: [String], from first: Int = 2, _ ask: (String, [SQLValue]) throws -> [Found]
    ) throws -> [Found] {
        let length = 100
        let parameters = SQLText.parameters(length, from: first)
        // Each is asked for once, or what it finds would be found in two groups.
        let distinct = Array(Set(values))
        var found: [Found] = []
        for start in stride(from: 0, to: distinct.count, by: length) {
            var group = distinct[start...].prefix(length).map(SQLValue.text)
            while group.count < length { group.append(group[0]) }
            found += try ask(parameters, group)
        }
        return found
    }
}

extension WriteTransaction {
    /// Inserts rows, several with a statement where there are many.
    func insertRows(_ insert: String, _ rows: [[SQLValue]], otherwise: String = "") throws {
        let together = 25
        var start = 0
        while start < rows.count {
            let count = rows.count - start >= together ? together : 1
            let group = rows[start..<start + count]
            try execute(
                "\(insert) VALUES \(SQLText.tuples(count, of: rows[start].count)) \(otherwise)", group.flatMap { $0 })
            start += count
        }
    }
}
