// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// A circle's items among the events that phones fetch, and the devices that carry them.
    static let phoneItems: [String] = [
        // Null except for an event that shows an item: connection_id is the connection's, or `office-days`. carrier is
        // the device that it is for, and turn that device's fencing number. sent_at is the updated_at of the last
        // change by a device, and earlier the content that a device may still have.
        "ALTER TABLE personal_events ADD COLUMN connection_id TEXT",
        "ALTER TABLE personal_events ADD COLUMN circle_id TEXT",
        "ALTER TABLE personal_events ADD COLUMN collection TEXT",
        "ALTER TABLE personal_events ADD COLUMN item_id TEXT",
        "ALTER TABLE personal_events ADD COLUMN generation BIGINT",
        "ALTER TABLE personal_events ADD COLUMN carrier TEXT",
        "ALTER TABLE personal_events ADD COLUMN turn BIGINT",
        "ALTER TABLE personal_events ADD COLUMN sent_at BIGINT",
        "ALTER TABLE personal_events ADD COLUMN earlier TEXT",
        """
        CREATE INDEX personal_events_by_item ON personal_events (connection_id, collection, item_id)
            WHERE connection_id IS NOT NULL
        """,
        "CREATE INDEX personal_events_by_sending ON personal_events (connection_id, sent_at) WHERE sent_at IS NOT NULL",

        // source is a connection's id, or `office-days`; turn rises whenever another device carries it. delivered_at is
        // the latest `since` with which the carrier asked, and shown the state that the items were last made from.
        """
        CREATE TABLE phone_carriers (
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            source TEXT NOT NULL,
            carrier TEXT,
            turn BIGINT NOT NULL,
            seen_at BIGINT,
            delivered_at BIGINT NOT NULL,
            shown TEXT,
            PRIMARY KEY (user_id, source)
        ) /* clustered */
        """,
        // The ids by which an earlier carrier of a source knew its events.
        """
        CREATE TABLE phone_former_events (
            user_id TEXT NOT NULL,
            external_id TEXT NOT NULL,
            instance_key TEXT NOT NULL,
            source TEXT NOT NULL,
            event_id TEXT NOT NULL,
            PRIMARY KEY (user_id, external_id, instance_key)
        ) /* clustered */
        """,
        "CREATE INDEX phone_former_events_by_source ON phone_former_events (source)",
        "ALTER TABLE connections DROP COLUMN carrier",
        "ALTER TABLE connections DROP COLUMN carrier_turn",
        "ALTER TABLE connections DROP COLUMN carrier_seen_at",
    ]
}
