// SPDX-License-Identifier: Apache-2.0

/// How many events of a source a circle shows, and where new ones begin.
public struct EventSourceState: Hashable, Sendable {
    public var events = 0
    /// The lowest SEQUENCE of a new event: above those of all events that were removed.
    public var sequenceFloor = 0
}

extension ReadTransaction {
    /// Returns the sources of a circle's imported events.
    public func eventSources(in circle: String) throws -> [EventSource: EventSourceState] {
        let found = try rows(
            "SELECT source, events, sequence_floor FROM event_sources WHERE circle_id = $1", [.text(circle)])
        return try found.reduce(into: [:]) { sources, row in
            sources[EventSource(stored: try row.text(required: "source"))] = EventSourceState(
                events: try row.integer(required: "events"),
                sequenceFloor: try row.integer(required: "sequence_floor"))
        }
    }

    /// Returns how many events of a source the circle shows.
    public func eventCount(of source: EventSource, in circle: String) throws -> Int {
        try row(
            "SELECT events FROM event_sources WHERE circle_id = $1 AND source = $2",
            [.text(circle), .text(source.text)])?
            .integer("events") ?? 0
    }

    /// Counts what a circle shows of each calendar that it follows.
    public func shownEventsOfSubscriptions(in circle: Circle) throws -> [EventSource: Int] {
        let known = try eventSources(in: circle.id).keys.filter(\.isSubscription)
        guard !known.isEmpty else { return [:] }
        let found = try rows(
            """
            SELECT source, COUNT(*) AS events FROM event_versions
            WHERE circle_id = $1 AND from_epoch <= $2 AND until_epoch > $2 GROUP BY source
            """, [.text(circle.id), .integer(circle.eventsEpoch)])
        return try found.reduce(into: Dictionary(uniqueKeysWithValues: known.map { ($0, 0) })) { counts, row in
            let source = EventSource(stored: try row.text(required: "source"))
            if source.isSubscription { counts[source] = try row.integer(required: "events") }
        }
    }

    /// Returns circles that show events of a source, in order of id, after one.
    public func circles(withEventsOf source: EventSource, after id: String, limit: Int) throws -> [String] {
        try rows(
            """
            SELECT circle_id FROM event_sources WHERE source = $1 AND events > 0 AND circle_id > $2
            ORDER BY circle_id LIMIT $3
            """, [.text(source.text), .text(id), .integer(limit)]
        ).map { try $0.text(required: "circle_id") }
    }

    /// Returns the circles that have staged events which are neither published nor discarded.
    public func circlesWithStagedEvents(limit: Int) throws -> [String] {
        try rows("SELECT circle_id FROM event_stagings ORDER BY circle_id LIMIT $1", [.integer(limit)]).map {
            try $0.text(required: "circle_id")
        }
    }

    /// Whether a circle has staged events, which nobody sees yet.
    public func hasStagedEvents(in circle: String) throws -> Bool {
        try row("SELECT 1 AS found FROM event_stagings WHERE circle_id = $1", [.text(circle)]) != nil
    }
}

extension WriteTransaction {
    /// Begins to write a circle's next epoch; only one writer at a time may.
    public func beginStaging(in circle: Circle) throws {
        try execute(
            "INSERT INTO event_stagings (circle_id, epoch) VALUES ($1, $2)",
            [.text(circle.id), .integer(circle.eventsEpoch + 1)])
    }

    /// Writes events that appear with the next epoch.
    public func stage(_ events: [ImportedEventRecord], in circle: Circle) throws {
        let epochs: [SQLValue] = [.integer(circle.eventsEpoch + 1), .integer(EventEpoch.open)]
        try insert(all: events, with: "from_epoch, until_epoch", { _ in epochs })
        try addStaged(bytes: events.reduce(0) { $0 + $1.content.utf8.count }, in: circle)
    }

    private func addStaged(bytes: Int, in circle: Circle) throws {
        try execute(
            "UPDATE event_stagings SET bytes = bytes + $2 WHERE circle_id = $1", [.text(circle.id), .integer(bytes)])
    }

    /// Ends events with the current epoch.
    public func stageEnd(of keys: [ImportedEventRecord.Key], in circle: Circle) throws {
        var bytes = 0
        for group in keys.groups(of: 25) {
            bytes += try rows(
                """
                UPDATE event_versions SET until_epoch = $2
                WHERE circle_id = $1 AND \(ImportedEventRecord.Key.among(group.count, from: 4))
                    AND until_epoch = $3 AND +from_epoch < $2
                RETURNING CAST(length(CAST(content AS BLOB)) AS BIGINT) AS bytes
                """,
                [.text(circle.id), .integer(circle.eventsEpoch + 1), .integer(EventEpoch.open)]
                    + group.flatMap(\.values)
            ).reduce(0) { $0 + (try $1.integer(required: "bytes")) }
        }
        try addStaged(bytes: -bytes, in: circle)
    }

    /// Publishes all staged events at once.
    ///
    /// - Parameter changes: by how many events each source grows.
    /// - Returns: by how many bytes of contents the circle has more, and how many it then has.
    @discardableResult
    public func publishEvents(
        in circle: Circle, _ changes: [EventSource: Int], now: Int
    ) throws -> (added: Int, bytes: Int) {
        let raised = try execute(
            "UPDATE circles SET events_epoch = $2 WHERE id = $1 AND events_epoch = $2 - 1 AND deleted_at IS NULL",
            [.text(circle.id), .integer(circle.eventsEpoch + 1)])
        let staging = try row("DELETE FROM event_stagings WHERE circle_id = $1 RETURNING bytes", [.text(circle.id)])
        guard raised == 1, let added = try staging?.integer(required: "bytes") else {
            throw StorageError.unexpectedResult("A circle's events changed while others were brought in.")
        }
        for (source, count) in changes {
            try execute(
                """
                INSERT INTO event_sources (circle_id, source, events, sequence_floor) VALUES ($1, $2, $3, 0)
                ON CONFLICT (circle_id, source) DO UPDATE SET events = event_sources.events + EXCLUDED.events
                """, [.text(circle.id), .text(source.text), .integer(count)])
        }
        let usage = try row(
            """
            INSERT INTO circle_usage (circle_id, items, bytes, event_bytes) VALUES ($1, 0, 0, $2)
            ON CONFLICT (circle_id) DO UPDATE SET event_bytes = circle_usage.event_bytes + EXCLUDED.event_bytes
            RETURNING event_bytes
            """, [.text(circle.id), .integer(added)])
        try touchCircle(circle.id, now: now)
        return (added, try usage?.integer(required: "event_bytes") ?? 0)
    }

    /// Stores how many events of some sources a circle shows.
    public func setEventCounts(_ counts: [EventSource: Int], in circle: String) throws {
        for (source, count) in counts {
            try execute(
                "UPDATE event_sources SET events = $3 WHERE circle_id = $1 AND source = $2 AND events <> $3",
                [.text(circle), .text(source.text), .integer(count)])
        }
    }

    /// Removes the source of a subscription that was deleted.
    public func forgetSource(_ source: EventSource, in circle: String) throws {
        try execute(
            "DELETE FROM event_sources WHERE circle_id = $1 AND source = $2", [.text(circle), .text(source.text)])
    }

    /// Discards a part of a circle's staged events; returns false when nothing is left.
    public func discardStaged(in circle: String, limit: Int) throws -> Bool {
        guard let staging = try row("SELECT epoch FROM event_stagings WHERE circle_id = $1", [.text(circle)]) else {
            return false
        }
        let epoch = try staging.integer(required: "epoch")
        let added = try versionKeys(
            "circle_id = $1 AND from_epoch = $2", [.text(circle), .integer(epoch)], limit: limit)
        try deleteVersions(added, from: epoch, in: circle)
        if added.count == limit { return true }
        let ended = try versionKeys(
            "circle_id = $1 AND until_epoch = $2 AND until_epoch < \(EventEpoch.open)",
            [.text(circle), .integer(epoch)], limit: limit)
        for group in ended.groups(of: 25) {
            try execute(
                """
                UPDATE event_versions SET until_epoch = $3
                WHERE circle_id = $1 AND \(ImportedEventRecord.Key.among(group.count, from: 4))
                    AND until_epoch = $2
                """, [.text(circle), .integer(epoch), .integer(EventEpoch.open)] + group.flatMap(\.values))
        }
        if ended.count == limit { return true }
        try execute("DELETE FROM event_stagings WHERE circle_id = $1", [.text(circle)])
        return false
    }

    /// Returns the keys of some versions; the last column keeps the search on the index that the condition names.
    func versionKeys(
        _ condition: String, _ arguments: [SQLValue], limit: Int
    ) throws -> [ImportedEventRecord.Key] {
        try rows(
            """
            SELECT uid, recurrence_id, source, sequence FROM event_versions WHERE \(condition)
            LIMIT $\(arguments.count + 1)
            """, arguments + [.integer(limit)]
        ).map {
            ImportedEventRecord.Key(
                EventSource(stored: try $0.text(required: "source")), uid: try $0.text(required: "uid"),
                recurrenceID: try $0.text(required: "recurrence_id"))
        }
    }

    private func deleteVersions(_ keys: [ImportedEventRecord.Key], from epoch: Int, in circle: String) throws {
        for group in keys.groups(of: 25) {
            try execute(
                """
                DELETE FROM event_versions
                WHERE circle_id = $1 AND \(ImportedEventRecord.Key.among(group.count, from: 3))
                    AND +from_epoch = $2
                """, [.text(circle), .integer(epoch)] + group.flatMap(\.values))
        }
    }
}

extension ImportedEventRecord.Key {
    /// Returns the condition that a row has one of several keys, whose values are consecutive parameters from `first`
    /// on.
    ///
    /// UIDs and occurrences appear twice: SQLite does not look up triples in an index, and would read the whole circle, or
    /// a whole series, for each group.
    static func among(_ count: Int, from first: Int) -> String {
        SQLText.keys(count, from: first) {
            let numbers = (0..<count).map { 3 * $0 + first }
            let triples = numbers.map { "($\($0), $\($0 + 1), $\($0 + 2))" }.joined(separator: ", ")
            func all(_ offset: Int) -> String { numbers.map { "$\($0 + offset)" }.joined(separator: ", ") }
            return "(uid, recurrence_id, source) IN (VALUES \(triples)) AND uid IN (\(all(0))) "
                + "AND recurrence_id IN (\(all(1)))"
        }
    }
}

extension Array {
    /// Returns the elements in slices of one length, and the rest one by one: few different lengths need few
    /// statements.
    func groups(of length: Int) -> [ArraySlice<Element>] {
        var groups: [ArraySlice<Element>] = []
        var rest = self[...]
        while !rest.isEmpty {
            let size = rest.count >= length ? length : 1
            groups.append(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return groups
    }
}
