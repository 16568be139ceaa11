// SPDX-License-Identifier: Apache-2.0

extension ReadTransaction {
    /// Returns items that a connection's events show and that are outside a span, and deleted items, wherever they were.
    public func linkedItems(
        of connection: String, in circle: String, notFrom from: Int, to: Int
    ) throws -> [ScheduleItem] {
        try rows(
            """
            SELECT \(columns: ScheduleItem.self, of: "schedule_items") FROM (
                SELECT DISTINCT collection, item_id FROM sync_links WHERE connection_id = $1 AND state <> 'deleted'
            ) AS linked
            JOIN schedule_items ON schedule_items.circle_id = $2 AND schedule_items.collection = linked.collection
                AND schedule_items.id = linked.item_id
            WHERE (schedule_items.deleted_at IS NOT NULL OR schedule_items.ends_at < $3
                    OR schedule_items.starts_at >= $4)
            ORDER BY schedule_items.starts_at, schedule_items.collection, schedule_items.id
            """, [.text(connection), .text(circle), .integer(from), .integer(to)]
        ).map(ScheduleItem.init)
    }
}
