// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Feeds that show their owner's own entries beside the circle's, and the planned events of phones.
    static let ownEntries: [String] = [
        // own_version rises with every change of the owner's entries in such a feed.
        "ALTER TABLE feeds ADD COLUMN shows_own BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE feeds ADD COLUMN own_version BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE feeds ADD COLUMN own_changed_at BIGINT NOT NULL DEFAULT 0",
        "CREATE INDEX feeds_showing_own ON feeds (user_id) WHERE shows_own = 1",

        // Offsets are seconds east of UTC in which the phone wrote the times: whole days have no other zone.
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
        "CREATE INDEX personal_events_by_series ON personal_events (user_id) WHERE instance_key <> ''",
    ]
}
