// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Users' own events, which their devices send and fetch, and the devices that carry a circle's items.
    static let personal: [String] = [
        // last_at is the highest time that a change of an event was given; events includes deleted ones, and bytes are
        // those of all their texts, so that nobody can fill the server.
        """
        CREATE TABLE personal_calendars (
            user_id TEXT NOT NULL PRIMARY KEY CHECK (length(user_id) BETWEEN 1 AND 128),
            last_at BIGINT NOT NULL,
            events BIGINT NOT NULL,
            bytes BIGINT NOT NULL DEFAULT 0
        ) /* clustered */
        """,
        // updated_at is unique for each user; changed_at is when the content changed, by the clock of whoever changed
        // it. instance_key is empty for anything but a changed occurrence; last_day is null for a series.
        //
        // The columns from connection_id on are null except for an event that shows a circle's item: connection_id is
        // the connection's, or `office-days`. carrier is the device that it is for, and turn that device's fencing
        // number. sent_at is the updated_at of the last change by a device, and earlier the content that a device may
        // still have.
        """
        CREATE TABLE personal_events (
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            id TEXT NOT NULL,
            uid TEXT NOT NULL,
            sequence BIGINT NOT NULL,
            title TEXT NOT NULL,
            date TEXT NOT NULL,
            start_time TEXT,
            end_time TEXT,
            end_date TEXT,
            time_zone TEXT,
            description TEXT,
            location TEXT,
            recurrence TEXT,
            first_day BIGINT NOT NULL,
            last_day BIGINT,
            provider TEXT NOT NULL,
            external_id TEXT,
            external_instance_id TEXT,
            instance_key TEXT NOT NULL,
            external_calendar_id TEXT,
            sync_state TEXT NOT NULL CHECK (sync_state IN ('linked', 'pending', 'conflict', 'ignored')),
            last_synced_at BIGINT,
            source_device TEXT,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            changed_at BIGINT NOT NULL,
            deleted_at BIGINT,
            connection_id TEXT,
            circle_id TEXT,
            collection TEXT,
            item_id TEXT,
            generation BIGINT,
            carrier TEXT,
            turn BIGINT,
            sent_at BIGINT,
            earlier TEXT,
            PRIMARY KEY (user_id, id)
        )
        """,
        "CREATE UNIQUE INDEX personal_events_by_change ON personal_events (user_id, updated_at)",
        "CREATE INDEX personal_events_by_provider ON personal_events (user_id, provider, updated_at)",
        """
        CREATE UNIQUE INDEX personal_events_by_mapping
            ON personal_events (user_id, provider, external_id, instance_key) WHERE external_id IS NOT NULL
        """,
        // These two are in the order in which feeds show their owner's own events, whose texts need not be sorted then.
        """
        CREATE INDEX personal_events_by_day ON personal_events (user_id, first_day, id, last_day)
            WHERE deleted_at IS NULL
        """,
        """
        CREATE INDEX personal_events_by_series ON personal_events (user_id, instance_key, id)
            WHERE instance_key <> ''
        """,
        // One occurrence of an item is found among thousands.
        """
        CREATE INDEX personal_events_by_item
            ON personal_events (connection_id, collection, item_id, generation, instance_key)
            WHERE connection_id IS NOT NULL
        """,
        "CREATE INDEX personal_events_by_sending ON personal_events (connection_id, sent_at) WHERE sent_at IS NOT NULL",

        // The planned events of phones, and their size. Offsets are seconds east of UTC in which the phone wrote the
        // times: whole days have no other zone.
        """
        CREATE TABLE planned_calendars (
            user_id TEXT NOT NULL PRIMARY KEY CHECK (length(user_id) BETWEEN 1 AND 128),
            events BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            version BIGINT NOT NULL
        ) /* clustered */
        """,
        """
        CREATE TABLE planned_events (
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            source TEXT NOT NULL,
            external_id TEXT NOT NULL,
            starts_at BIGINT NOT NULL,
            ends_at BIGINT NOT NULL,
            start_offset BIGINT NOT NULL,
            end_offset BIGINT NOT NULL,
            is_all_day BIGINT NOT NULL,
            title TEXT NOT NULL,
            calendar_name TEXT,
            uid TEXT NOT NULL,
            sequence BIGINT NOT NULL,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            PRIMARY KEY (user_id, source, external_id, starts_at)
        ) /* clustered */
        """,
        "CREATE INDEX planned_events_by_start ON planned_events (user_id, starts_at, source, external_id)",
        "CREATE INDEX planned_events_by_end ON planned_events (user_id, ends_at)",

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
        // The marks of events in phones' calendars, which outlive a connection. mark is the id of the connection that
        // wrote the mark first; connection_id is the one that uses it now, or used it last, and ended_at is when that
        // one ended. A connection without a row uses its own id as the mark.
        """
        CREATE TABLE phone_marks (
            mark TEXT NOT NULL PRIMARY KEY,
            circle_id TEXT NOT NULL,
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            connection_id TEXT NOT NULL UNIQUE,
            ended_at BIGINT
        ) /* clustered */
        """,
        "CREATE INDEX phone_marks_by_user ON phone_marks (user_id, circle_id)",
    ]
}
