// SPDX-License-Identifier: Apache-2.0

extension ReadTransaction {
    /// Returns items that a connection's events show and that lie outside a span, and deleted items, wherever they lay.
    public func linkedItems(
        of connection: String, in circle: String, notFrom from: Int, to: Int
    ) throws -> [ScheduleItem] {
        try rows(
            """
            SELECT \(columns: .scheduleItems, of: "schedule_items") FROM sync_links
            JOIN schedule_items ON schedule_items.circle_id = $2 AND schedule_items.collection = sync_links.collection
                AND schedule_items.id = sync_links.item_id
            WHERE sync_links.connection_id = $1 AND sync_links.state <> 'deleted'
                AND (schedule_items.deleted_at IS NOT NULL OR schedule_items.ends_at < $3
                    OR schedule_items.starts_at >= $4)
            ORDER BY schedule_items.starts_at, schedule_items.collection, schedule_items.id
            """, [.text(connection), .text(circle), .integer(from), .integer(to)]
        ).map(ScheduleItem.init)
    }
}
