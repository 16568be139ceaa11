// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Imported events by their source, in versions that a circle shows from one of its epochs to another.
    ///
    /// Nobody sees what is written for the next epoch until one short transaction raises the circle's epoch. No foreign
    /// key leads from events to circles: the events of a deleted circle are removed in small steps.
    static let eventVersions: [String] = [
        // Versions that ended before the floor may have been removed. Nobody sees a circle with deleted_at.
        "ALTER TABLE circles ADD COLUMN events_epoch BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE circles ADD COLUMN events_floor BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE circles ADD COLUMN deleted_at BIGINT",
        "CREATE INDEX circles_deleted ON circles (deleted_at) WHERE deleted_at IS NOT NULL",

        // visible_to is null when everybody sees the event, otherwise the only user who does, or empty when nobody
        // does. ends_at is far in the future for a series without an end, and until_epoch for a version that is not
        // replaced.
        """
        CREATE TABLE event_versions (
            circle_id TEXT NOT NULL,
            uid TEXT NOT NULL,
            recurrence_id TEXT NOT NULL,
            source TEXT NOT NULL,
            from_epoch BIGINT NOT NULL,
            until_epoch BIGINT NOT NULL,
            visible_to TEXT,
            shown_uid TEXT,
            sequence BIGINT NOT NULL,
            starts_at BIGINT NOT NULL,
            ends_at BIGINT NOT NULL,
            fingerprint TEXT NOT NULL,
            content TEXT NOT NULL,
            file_sequence BIGINT NOT NULL,
            file_modified_at BIGINT,
            imported_by TEXT,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            PRIMARY KEY (circle_id, uid, recurrence_id, source, from_epoch)
        )
        """,
        // How many events of a source are shown, and the lowest SEQUENCE that a new one may have.
        """
        CREATE TABLE event_sources (
            circle_id TEXT NOT NULL,
            source TEXT NOT NULL,
            events BIGINT NOT NULL,
            sequence_floor BIGINT NOT NULL,
            PRIMARY KEY (circle_id, source)
        ) /* clustered */
        """,
        // The epoch that is being written; the row remains when the process ended before it was finished.
        "CREATE TABLE event_stagings (circle_id TEXT NOT NULL PRIMARY KEY, epoch BIGINT NOT NULL)",
        // Events of earlier versions that have not been checked yet for being private.
        """
        CREATE TABLE unsorted_events (
            circle_id TEXT NOT NULL, uid TEXT NOT NULL, PRIMARY KEY (circle_id, uid)
        ) /* clustered */
        """,

        """
        INSERT INTO event_versions (circle_id, uid, recurrence_id, source, from_epoch, until_epoch, sequence, starts_at,
            ends_at, fingerprint, content, file_sequence, file_modified_at, imported_by, created_at, updated_at)
        SELECT circle_id, uid, recurrence_id, \(formerSource), 0, \(EventEpoch.open), sequence, starts_at,
            COALESCE(ends_at, \(EventEpoch.open)), fingerprint, content, file_sequence, file_modified_at, imported_by,
            created_at, updated_at
        FROM imported_events WHERE deleted_at IS NULL
        """,
        """
        INSERT INTO unsorted_events (circle_id, uid)
        SELECT DISTINCT circle_id, uid FROM imported_events
        WHERE deleted_at IS NULL AND (content LIKE '%PRIVATE%' OR content LIKE '%CONFIDENTIAL%')
        """,
        """
        INSERT INTO event_sources (circle_id, source, events, sequence_floor)
        SELECT circle_id, \(formerSource), SUM(CASE WHEN deleted_at IS NULL THEN 1 ELSE 0 END),
            COALESCE(MAX(CASE WHEN deleted_at IS NULL OR sequence > \(EventEpoch.highestFloor) THEN 0
                ELSE sequence + 1 END), 0)
        FROM imported_events GROUP BY circle_id, \(formerSource)
        """,
        "DROP TABLE imported_events",
        "CREATE INDEX event_versions_by_start ON event_versions (circle_id, from_epoch)",
        """
        CREATE INDEX event_versions_by_end ON event_versions (circle_id, until_epoch)
            WHERE until_epoch < \(EventEpoch.open)
        """,
        "CREATE INDEX event_versions_by_time ON event_versions (circle_id, ends_at)",
        "CREATE INDEX event_versions_by_fingerprint ON event_versions (circle_id, fingerprint, uid)",

        // An import's items begin at its item_base: a commit writes its own after those of the preview.
        "ALTER TABLE imports ADD COLUMN item_base BIGINT NOT NULL DEFAULT 0",
        "CREATE INDEX imports_by_stage ON imports (stage) WHERE stage IS NOT NULL",
        "CREATE INDEX imports_previewed ON imports (created_at) WHERE state = 'previewed'",
        """
        CREATE TABLE import_sources (
            import_id TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
            block BIGINT NOT NULL,
            part BIGINT NOT NULL,
            source TEXT NOT NULL,
            PRIMARY KEY (import_id, block, part)
        )
        """,
        // The row before the change; source is null in changes of earlier versions, which store the content afterwards.
        "ALTER TABLE import_changes ADD COLUMN source TEXT",
        "ALTER TABLE import_changes ADD COLUMN digest_after TEXT",
        "ALTER TABLE import_changes ADD COLUMN file_sequence_before BIGINT",
        "ALTER TABLE import_changes ADD COLUMN file_modified_before BIGINT",
        "ALTER TABLE import_changes ADD COLUMN imported_by_before TEXT",
        "ALTER TABLE import_changes ADD COLUMN shown_uid_before TEXT",

        // Items whose SEQUENCE has to rise because a name or a zone that they show has changed, and how far that has
        // got.
        """
        CREATE TABLE revisions_due (
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            number BIGINT NOT NULL,
            reason TEXT NOT NULL CHECK (reason IN ('patient', 'owner', 'zone')),
            subject TEXT NOT NULL,
            after_collection TEXT NOT NULL,
            after_id TEXT NOT NULL,
            PRIMARY KEY (circle_id, number)
        ) /* clustered */
        """,
    ]

    private static let formerSource = "CASE WHEN subscription_id IS NULL THEN 'f' ELSE 's:' || subscription_id END"
}
