// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// What calendar apps keep in step over CalDAV: people's own calendars, and what they set of collections.
    static let calendars: [String] = [
        // number is that of the latest change; whoever knows an earlier one than first_number cannot be given all
        // removals since. resources and bytes count existing resources only.
        """
        CREATE TABLE own_calendars (
            id TEXT NOT NULL PRIMARY KEY,
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            segment TEXT NOT NULL,
            components TEXT NOT NULL,
            number BIGINT NOT NULL,
            first_number BIGINT NOT NULL,
            resources BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            created_at BIGINT NOT NULL,
            deleted_at BIGINT
        )
        """,
        "CREATE UNIQUE INDEX own_calendars_by_segment ON own_calendars (user_id, segment) WHERE deleted_at IS NULL",
        "CREATE INDEX own_calendars_deleted ON own_calendars (deleted_at) WHERE deleted_at IS NOT NULL",
        // The highest number of a user's deleted calendars, so that none with the same address has one of theirs again.
        """
        CREATE TABLE own_calendar_numbers (
            user_id TEXT NOT NULL PRIMARY KEY CHECK (length(user_id) BETWEEN 1 AND 128),
            last_number BIGINT NOT NULL
        ) /* clustered */
        """,
        // first_second and last_second are when something of it may be, in seconds since 1970; is_long tells apart what
        // is looked for by both, which are few. number is the calendar's at its latest change. shown is what feeds show
        // of it.
        """
        CREATE TABLE own_resources (
            calendar_id TEXT NOT NULL REFERENCES own_calendars (id),
            name TEXT NOT NULL,
            uid TEXT NOT NULL,
            etag TEXT NOT NULL,
            size BIGINT NOT NULL,
            component TEXT NOT NULL CHECK (component IN ('VEVENT', 'VTODO', 'VJOURNAL')),
            first_second BIGINT NOT NULL,
            last_second BIGINT NOT NULL,
            is_long BIGINT NOT NULL,
            number BIGINT NOT NULL,
            sequence BIGINT NOT NULL,
            created_at BIGINT NOT NULL,
            changed_at BIGINT NOT NULL,
            shown TEXT NOT NULL,
            text TEXT NOT NULL,
            PRIMARY KEY (calendar_id, name)
        )
        """,
        "CREATE UNIQUE INDEX own_resources_by_uid ON own_resources (calendar_id, uid)",
        "CREATE UNIQUE INDEX own_resources_by_number ON own_resources (calendar_id, number)",
        """
        CREATE INDEX own_resources_by_time
            ON own_resources (calendar_id, is_long, first_second, last_second, component, name)
        """,
        // Resources that were removed and do not exist again, kept for a while.
        """
        CREATE TABLE own_removals (
            calendar_id TEXT NOT NULL REFERENCES own_calendars (id),
            name TEXT NOT NULL,
            number BIGINT NOT NULL,
            removed_at BIGINT NOT NULL,
            PRIMARY KEY (calendar_id, name)
        ) /* clustered */
        """,
        "CREATE UNIQUE INDEX own_removals_by_number ON own_removals (calendar_id, number)",
        "CREATE INDEX own_removals_by_time ON own_removals (removed_at)",

        // The properties that a person set on a collection for themselves; collection_id is a circle's id, an own
        // calendar's, or the person's for the container of all.
        """
        CREATE TABLE collection_properties (
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            kind TEXT NOT NULL CHECK (kind IN ('events', 'tasks', 'own', 'home')),
            collection_id TEXT NOT NULL,
            namespace TEXT NOT NULL,
            name TEXT NOT NULL,
            xml TEXT NOT NULL,
            PRIMARY KEY (user_id, kind, collection_id, namespace, name)
        )
        """,
        "CREATE INDEX collection_properties_by_collection ON collection_properties (collection_id, kind)",
    ]
}
