// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Users' own events, which their devices send and fetch.
    static let personalEvents: [String] = [
        // Only users with stored properties have a row.
        """
        CREATE TABLE users (
            id TEXT NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 128),
            time_zone TEXT,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL
        ) /* clustered */
        """,
        // last_at is the highest time that a change of an event was given; events includes deleted ones.
        """
        CREATE TABLE personal_calendars (
            user_id TEXT NOT NULL PRIMARY KEY CHECK (length(user_id) BETWEEN 1 AND 128),
            last_at BIGINT NOT NULL,
            events BIGINT NOT NULL
        ) /* clustered */
        """,
        // updated_at is unique for each user; changed_at is when the content changed, by the clock of whoever changed
        // it. instance_key is empty for anything but a changed occurrence; last_day is null for a series.
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
            PRIMARY KEY (user_id, id)
        )
        """,
        "CREATE UNIQUE INDEX personal_events_by_change ON personal_events (user_id, updated_at)",
        "CREATE INDEX personal_events_by_provider ON personal_events (user_id, provider, updated_at)",
        """
        CREATE UNIQUE INDEX personal_events_by_mapping
            ON personal_events (user_id, provider, external_id, instance_key) WHERE external_id IS NOT NULL
        """,
        "CREATE INDEX personal_events_by_day ON personal_events (user_id, last_day) WHERE deleted_at IS NULL",
    ]
}
