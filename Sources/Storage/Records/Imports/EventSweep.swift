// SPDX-License-Identifier: Apache-2.0

extension ReadTransaction {
    /// Counts the versions of events that a circle no longer shows, up to a limit.
    public func endedVersions(in circle: String, limit: Int) throws -> Int {
        try row(
            """
            SELECT COUNT(*) AS count FROM (
                SELECT 1 FROM event_versions WHERE circle_id = $1 AND until_epoch < \(EventEpoch.open) LIMIT $2) AS ended
            """, [.text(circle), .integer(limit)])?.integer("count") ?? 0
    }

    /// Returns the next circle after `circle` that has versions which are no longer shown.
    public func circleWithEndedVersions(after circle: String) throws -> String? {
        // The index leads from circle to circle: the rows of one circle are skipped in one step.
        try row(
            """
            SELECT MIN(circle_id) AS id FROM event_versions
            WHERE circle_id > $1 AND until_epoch < \(EventEpoch.open)
            """, [.text(circle)])?.text("id")
    }
}

extension WriteTransaction {
    /// Removes some versions that a circle no longer shows; returns false when none is left.
    ///
    /// Events that a source brings again later get a higher SEQUENCE, so that no reader takes them for older ones.
    public func sweepEvents(in circle: String, limit: Int) throws -> Bool {
        guard
            let epoch = try row("SELECT events_epoch FROM circles WHERE id = $1", [.text(circle)])?
                .integer("events_epoch")
        else { return false }
        let found = try rows(
            """
            SELECT uid, recurrence_id, source, from_epoch, until_epoch, sequence FROM event_versions
            WHERE circle_id = $1 AND until_epoch <= $2 AND until_epoch < \(EventEpoch.open) LIMIT $3
            """, [.text(circle), .integer(epoch), .integer(limit)])
        guard !found.isEmpty else { return false }
        try execute(
            "UPDATE circles SET events_floor = $2 WHERE id = $1 AND events_floor < $2",
            [.text(circle), .integer(epoch)])
        var floors: [EventSource: Int] = [:]
        for row in found {
            let sequence = try row.integer(required: "sequence")
            if sequence < EventEpoch.highestFloor {
                let source = EventSource(stored: try row.text(required: "source"))
                // A replaced version has a successor, which continues its SEQUENCE.
                let isReplaced =
                    try self.row(
                        """
                        SELECT 1 AS found FROM event_versions
                        WHERE circle_id = $1 AND uid = $2 AND recurrence_id = $3 AND source = $4 AND from_epoch >= $5
                        """,
                        [
                            .text(circle), .text(try row.text(required: "uid")),
                            .text(try row.text(required: "recurrence_id")), .text(source.text),
                            .integer(try row.integer(required: "until_epoch")),
                        ]) != nil
                if !isReplaced { floors[source] = max(floors[source] ?? 0, sequence + 1) }
            }
            try execute(
                """
                DELETE FROM event_versions
                WHERE circle_id = $1 AND uid = $2 AND recurrence_id = $3 AND source = $4 AND from_epoch = $5
                """,
                [
                    .text(circle), .text(try row.text(required: "uid")),
                    .text(try row.text(required: "recurrence_id")), .text(try row.text(required: "source")),
                    .integer(try row.integer(required: "from_epoch")),
                ])
        }
        for (source, floor) in floors {
            try execute(
                "UPDATE event_sources SET sequence_floor = $3 WHERE circle_id = $1 AND source = $2 AND sequence_floor < $3",
                [.text(circle), .text(source.text), .integer(floor)])
        }
        return true
    }
}
