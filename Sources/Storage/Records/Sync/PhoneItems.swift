// SPDX-License-Identifier: Apache-2.0

// Events that show the items of a circle, or office days, on the device that carries them.

extension ReadTransaction {
    /// Returns the events of one item of every generation, including deleted ones and changed occurrences, series
    /// first.
    public func phoneItems(
        of source: String, of user: String, _ collection: String, _ item: String
    ) throws -> [PersonalEvent] {
        try all(
            """
            WHERE connection_id = $1 AND collection = $2 AND item_id = $3 AND user_id = $4
            ORDER BY generation, instance_key
            """, [.text(source), .text(collection), .text(item), .text(user)])
    }

    /// Returns the events of one item of every generation, including deleted ones, without changed occurrences.
    public func phoneSeries(
        of source: String, of user: String, _ collection: String, _ item: String
    ) throws -> [PersonalEvent] {
        try all(
            """
            WHERE connection_id = $1 AND collection = $2 AND item_id = $3 AND user_id = $4 AND instance_key = ''
            ORDER BY generation
            """, [.text(source), .text(collection), .text(item), .text(user)])
    }

    /// Returns one event of an item, even a deleted one.
    ///
    /// - Parameter instance: the key of a changed occurrence, otherwise empty.
    public func phoneItem(
        of source: String, of user: String, _ collection: String, _ item: String, generation: Int, instance: String
    ) throws -> PersonalEvent? {
        try first(
            """
            WHERE connection_id = $1 AND collection = $2 AND item_id = $3 AND user_id = $4 AND generation = $5
                AND instance_key = $6
            """, [.text(source), .text(collection), .text(item), .text(user), .integer(generation), .text(instance)])
    }

    /// Returns how many events one item has in all generations, including deleted ones and changed occurrences.
    public func phoneItemCount(of source: String, _ collection: String, _ item: String) throws -> Int {
        try row(
            """
            SELECT COUNT(*) AS found FROM personal_events
            WHERE connection_id = $1 AND collection = $2 AND item_id = $3
            """, [.text(source), .text(collection), .text(item)])?.integer("found") ?? 0
    }

    /// Returns all existing events of a source, by item, series first.
    public func livingPhoneItems(of source: String) throws -> [PersonalEvent] {
        try all(
            """
            WHERE connection_id = $1
                AND EXISTS (SELECT 1 FROM personal_events AS master
                    WHERE master.connection_id = $1 AND master.collection = personal_events.collection
                        AND master.item_id = personal_events.item_id
                        AND master.generation = personal_events.generation AND master.instance_key = ''
                        AND master.deleted_at IS NULL)
            ORDER BY collection, item_id, generation, instance_key
            """, [.text(source)])
    }

    /// Returns the items of a source that a device has changed after a time.
    public func phoneItemsSent(
        of source: String, after time: Int
    ) throws -> [(collection: String, item: String)] {
        try rows(
            """
            SELECT DISTINCT collection, item_id FROM personal_events WHERE connection_id = $1 AND sent_at > $2
            ORDER BY collection, item_id
            """, [.text(source), .integer(time)]
        ).map { (try $0.text(required: "collection"), try $0.text(required: "item_id")) }
    }

    /// Returns when a device last changed something of a source; 0 when no device did.
    public func lastSendingOfPhoneItems(of source: String) throws -> Int {
        try row(
            "SELECT COALESCE(MAX(sent_at), 0) AS last FROM personal_events WHERE connection_id = $1 AND sent_at > 0",
            [.text(source)])?.integer("last") ?? 0
    }

    /// Returns events of a source that a device reported as in conflict.
    public func phoneItemsInConflict(of source: String) throws -> [PersonalEvent] {
        try all("WHERE connection_id = $1 AND sync_state = 'conflict'", [.text(source)])
    }

    /// Whether a user has events that show items, including deleted ones.
    public func hasPhoneItems(_ user: String) throws -> Bool {
        try row(
            "SELECT 1 AS found FROM personal_events WHERE user_id = $1 AND connection_id IS NOT NULL LIMIT 1",
            [.text(user)]) != nil
    }
}
