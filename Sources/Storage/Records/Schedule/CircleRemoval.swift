// SPDX-License-Identifier: Apache-2.0

// Deleting a circle takes one short transaction, after which nobody sees it; its contents are removed in small steps.

extension ReadTransaction {
    /// Whether a circle of this id was deleted and has not been removed completely.
    public func isBeingRemoved(circle id: String) throws -> Bool {
        try row("SELECT 1 AS found FROM circles WHERE id = $1 AND deleted_at IS NOT NULL", [.text(id)]) != nil
    }

    /// Returns circles that were deleted and have not been removed completely.
    public func circlesBeingRemoved(limit: Int) throws -> [String] {
        try rows("SELECT id FROM circles WHERE deleted_at IS NOT NULL LIMIT $1", [.integer(limit)]).map {
            try $0.text(required: "id")
        }
    }
}

extension WriteTransaction {
    /// Deletes a circle for everybody: nothing in it is found any more, and its feeds' tokens open nothing.
    public func deleteCircle(_ id: String, now: Int) throws -> Bool {
        let deleted = try execute(
            "UPDATE circles SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL", [.text(id), .integer(now)])
        guard deleted > 0 else { return false }
        try endConnections(in: id, now: now)
        try note(.circle, .deleted, in: id, now: now)
        return true
    }

    /// Removes a part of a deleted circle; returns false when no part of it is left.
    ///
    /// The hashes of its feeds' tokens stay stored and are ended.
    public func purgeCircle(_ id: String, limit: Int) throws -> Bool {
        guard
            let deletedAt = try row("SELECT deleted_at FROM circles WHERE id = $1", [.text(id)])?.integer("deleted_at")
        else { return false }
        if let feed = try row("SELECT id, number FROM feeds WHERE circle_id = $1 LIMIT 1", [.text(id)]) {
            _ = try removeFeed(feed, endedAt: deletedAt, limit: limit)
            return true
        }
        if let owned = try row("SELECT id FROM imports WHERE circle_id = $1 LIMIT 1", [.text(id)]) {
            _ = try purgeForgottenImport(try owned.text(required: "id"), limit: limit)
            return true
        }
        let tables: [SchemaTable] = [
            "kept_contents", "occurrences", "schedule_items", "event_versions", "event_sources", "subscriptions",
            "resource_names", "former_resource_names", "personal_parts", "patients", "members",
        ]
        for table in tables where try delete(from: table, with: "circle_id", id, limit: limit) > 0 { return true }
        for kind in [CollectionProperty.Kind.events, .tasks] { try deleteCollectionProperties(of: kind, id: id) }
        try execute("DELETE FROM event_stagings WHERE circle_id = $1", [.text(id)])
        try execute("DELETE FROM circles WHERE id = $1", [.text(id)])
        return false
    }

    /// Removes a feed that has ended, by the id and the number of its row, with all that was counted; the hashes of its
    /// tokens stay. Returns false while it has more tokens than the limit.
    func removeFeed(_ feed: SQLRow, endedAt time: Int, limit: Int) throws -> Bool {
        let id = try feed.text(required: "id")
        guard try releaseTokens(of: id, endedAt: time, limit: limit) < limit else { return false }
        try forgetAccesses(of: try feed.integer(required: "number"))
        try execute("DELETE FROM feeds WHERE id = $1", [.text(id)])
        return true
    }

    /// Ends some of a feed's tokens and detaches them from the feed; returns how many.
    func releaseTokens(of feed: String, endedAt time: Int, limit: Int) throws -> Int {
        try execute(
            """
            UPDATE feed_tokens SET feed_id = NULL,
                ends_at = CASE WHEN ends_at IS NULL OR ends_at > $2 THEN $2 ELSE ends_at END
            WHERE hash IN (SELECT hash FROM feed_tokens WHERE feed_id = $1 LIMIT $3)
            """, [.text(feed), .integer(time), .integer(limit)])
    }
}
