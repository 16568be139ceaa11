// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Imported events by their source, the imports of files, and the calendars that circles follow.
    static let imports: [String] = [
        // An imported event, identified as in RFC 5545: by its UID and, for one occurrence, its RECURRENCE-ID. It is
        // stored in versions that a circle shows from one of its epochs to another: nobody sees what is written for the
        // next epoch until one short transaction raises the circle's epoch. No foreign key leads from events to
        // circles: the events of a deleted circle are removed in small steps.
        //
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
        "CREATE INDEX event_versions_by_start ON event_versions (circle_id, from_epoch)",
        """
        CREATE INDEX event_versions_by_end ON event_versions (circle_id, until_epoch)
            WHERE until_epoch < \(EventEpoch.open)
        """,
        "CREATE INDEX event_versions_by_time ON event_versions (circle_id, ends_at)",
        "CREATE INDEX event_versions_by_fingerprint ON event_versions (circle_id, fingerprint, uid)",
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
        // The epoch that is being written, and by how many bytes of contents it has more; the row remains when the process
        // ended before it was finished.
        """
        CREATE TABLE event_stagings (
            circle_id TEXT NOT NULL PRIMARY KEY,
            epoch BIGINT NOT NULL,
            bytes BIGINT NOT NULL DEFAULT 0
        )
        """,

        // stage is the step that is under way or failed; the state itself changes when it is done. An import's items
        // begin at its item_base: a commit writes its own after those of the preview.
        """
        CREATE TABLE imports (
            id TEXT NOT NULL PRIMARY KEY,
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            state TEXT NOT NULL CHECK (state IN ('previewed', 'committed', 'undone')),
            stage TEXT,
            problem TEXT,
            imported_by TEXT,
            report TEXT NOT NULL,
            outline TEXT,
            source TEXT NOT NULL,
            item_base BIGINT NOT NULL DEFAULT 0,
            created_at BIGINT NOT NULL,
            committed_at BIGINT,
            undone_at BIGINT
        )
        """,
        "CREATE INDEX imports_by_circle ON imports (circle_id, created_at, id)",
        "CREATE INDEX imports_by_stage ON imports (stage) WHERE stage IS NOT NULL",
        "CREATE INDEX imports_committed ON imports (committed_at) WHERE committed_at IS NOT NULL",
        "CREATE INDEX imports_previewed ON imports (created_at) WHERE state = 'previewed'",
        // The items of an import in blocks, so that a page of a report reads little.
        """
        CREATE TABLE import_items (
            import_id TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
            block BIGINT NOT NULL,
            items TEXT NOT NULL,
            PRIMARY KEY (import_id, block)
        )
        """,
        // The data that was read from the file, for a commit.
        """
        CREATE TABLE import_sources (
            import_id TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
            block BIGINT NOT NULL,
            part BIGINT NOT NULL,
            source TEXT NOT NULL,
            PRIMARY KEY (import_id, block, part)
        )
        """,
        // The changes of an import, each with the row before it and a digest of the content after it, so that they can
        // be undone.
        """
        CREATE TABLE import_changes (
            import_id TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
            position BIGINT NOT NULL,
            source TEXT NOT NULL,
            uid TEXT NOT NULL,
            recurrence_id TEXT NOT NULL,
            content_before TEXT,
            digest_after TEXT,
            file_sequence_before BIGINT,
            file_modified_before BIGINT,
            imported_by_before TEXT,
            shown_uid_before TEXT,
            PRIMARY KEY (import_id, position)
        )
        """,
        // The files that were imported into a circle on a day (in UTC, since 1970-01-01), and their bytes.
        """
        CREATE TABLE import_usage (
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            day BIGINT NOT NULL,
            files BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            PRIMARY KEY (circle_id, day)
        ) /* clustered */
        """,

        // External calendars that a circle follows; their addresses are sealed. An imported event belongs to the
        // subscription that brought it, and is removed with it.
        """
        CREATE TABLE subscriptions (
            id TEXT NOT NULL PRIMARY KEY,
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            sealed_url TEXT NOT NULL,
            url_digest TEXT NOT NULL,
            url_hint TEXT NOT NULL,
            host TEXT NOT NULL,
            label TEXT,
            created_by TEXT,
            refresh_minutes BIGINT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('active', 'paused', 'failed')),
            etag TEXT,
            last_modified TEXT,
            validators_of TEXT,
            next_at BIGINT NOT NULL,
            failures BIGINT NOT NULL DEFAULT 0,
            empty_answers BIGINT NOT NULL DEFAULT 0,
            last_fetched_at BIGINT,
            last_changed_at BIGINT,
            last_problem TEXT,
            problem TEXT,
            created BIGINT NOT NULL DEFAULT 0,
            updated BIGINT NOT NULL DEFAULT 0,
            deleted BIGINT NOT NULL DEFAULT 0,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            UNIQUE (circle_id, url_digest)
        )
        """,
        "CREATE INDEX subscriptions_due ON subscriptions (state, next_at)",
    ]
}
