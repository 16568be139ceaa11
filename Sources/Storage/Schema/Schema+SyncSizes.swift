// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The bytes of what is recorded of a connection, so that it can be kept small; what was recorded before counts as
    /// nothing until it goes. And an index by which one occurrence of an item is found among thousands.
    ///
    /// This is an expansion: an earlier program records nothing in the new columns.
    static let syncSizes: [String] = [
        "ALTER TABLE sync_journal ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE sync_conflicts ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0",
        "CREATE INDEX sync_journal_sizes ON sync_journal (connection_id, number, bytes)",
        "CREATE INDEX sync_conflicts_sizes ON sync_conflicts (connection_id, state, number, bytes)",
        "DROP INDEX personal_events_by_item",
        """
        CREATE INDEX personal_events_by_item
            ON personal_events (connection_id, collection, item_id, generation, instance_key)
            WHERE connection_id IS NOT NULL
        """,
    ]
}
