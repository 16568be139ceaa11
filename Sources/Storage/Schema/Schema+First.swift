// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Times are milliseconds since 1970 in UTC. Secrets are stored as SHA-256 (hex) or sealed (base64), never in plain
    /// text.
    static let first: [String] = [
        "CREATE TABLE settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",

        // version and changed_at rise with every change that a feed of the circle may show.
        """
        CREATE TABLE circles (
            id TEXT NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 128),
            name TEXT NOT NULL,
            time_zone TEXT NOT NULL,
            version BIGINT NOT NULL,
            changed_at BIGINT NOT NULL,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL
        )
        """,

        // Somebody who has left is kept as a name in old titles.
        """
        CREATE TABLE members (
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            display_name TEXT NOT NULL,
            role TEXT NOT NULL CHECK (role IN ('owner', 'member', 'viewer')),
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            left_at BIGINT,
            PRIMARY KEY (circle_id, user_id)
        )
        """,
        "CREATE INDEX members_by_user ON members (user_id)",
        """
        CREATE TABLE patients (
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            id TEXT NOT NULL CHECK (length(id) BETWEEN 1 AND 128),
            display_name TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            removed_at BIGINT,
            PRIMARY KEY (circle_id, id)
        )
        """,

        // A deleted item is kept as a tombstone, so that its UID and SEQUENCE continue when the id is stored again.
        // ends_at is null when a series never ends.
        """
        CREATE TABLE schedule_items (
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            collection TEXT NOT NULL CHECK (collection IN ('tasks', 'shifts', 'appointments', 'follow-ups')),
            id TEXT NOT NULL CHECK (length(id) BETWEEN 1 AND 128),
            uid TEXT NOT NULL UNIQUE,
            sequence BIGINT NOT NULL CHECK (sequence BETWEEN 0 AND 2147483647),
            patient_id TEXT,
            owner_id TEXT,
            time_zone TEXT,
            is_all_day BIGINT NOT NULL CHECK (is_all_day IN (0, 1)),
            starts_at BIGINT NOT NULL,
            ends_at BIGINT CHECK (ends_at >= starts_at),
            content TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            deleted_at BIGINT,
            PRIMARY KEY (circle_id, collection, id),
            FOREIGN KEY (circle_id, patient_id) REFERENCES patients (circle_id, id),
            FOREIGN KEY (circle_id, owner_id) REFERENCES members (circle_id, user_id)
        )
        """,
        "CREATE INDEX schedule_items_by_end ON schedule_items (circle_id, ends_at)",
        "CREATE INDEX schedule_items_by_update ON schedule_items (circle_id, collection, updated_at)",
        "CREATE INDEX schedule_items_by_patient ON schedule_items (circle_id, patient_id)",
        "CREATE INDEX schedule_items_by_owner ON schedule_items (circle_id, owner_id)",

        // One changed or cancelled occurrence of a repeating appointment, identified by its original start.
        """
        CREATE TABLE occurrences (
            circle_id TEXT NOT NULL,
            collection TEXT NOT NULL CHECK (collection = 'appointments'),
            item_id TEXT NOT NULL,
            original_start TEXT NOT NULL CHECK (length(original_start) IN (8, 16)),
            starts_at BIGINT NOT NULL,
            ends_at BIGINT NOT NULL CHECK (ends_at >= starts_at),
            content TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            PRIMARY KEY (circle_id, collection, item_id, original_start),
            FOREIGN KEY (circle_id, collection, item_id)
                REFERENCES schedule_items (circle_id, collection, id) ON DELETE CASCADE
        )
        """,

        // sequence_offset and shown_changed_at rise when the configuration changes the part that only this feed shows.
        """
        CREATE TABLE feeds (
            id TEXT NOT NULL PRIMARY KEY,
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            user_id TEXT NOT NULL,
            label TEXT,
            config TEXT NOT NULL,
            sequence_offset BIGINT NOT NULL DEFAULT 0,
            shown_changed_at BIGINT NOT NULL,
            config_changed_at BIGINT NOT NULL,
            token_hint TEXT NOT NULL,
            sealed_token TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            expires_at BIGINT,
            revoked_at BIGINT,
            access_count BIGINT NOT NULL DEFAULT 0,
            last_accessed_at BIGINT,
            last_revealed_at BIGINT,
            FOREIGN KEY (circle_id, user_id) REFERENCES members (circle_id, user_id)
        )
        """,
        """
        CREATE UNIQUE INDEX feeds_by_label ON feeds (circle_id, user_id, COALESCE(label, ''))
            WHERE revoked_at IS NULL
        """,
        "CREATE INDEX feeds_by_user ON feeds (circle_id, user_id, id)",

        // Hashes outlive their feeds: a URL that once worked answers 410 and never 404.
        """
        CREATE TABLE feed_tokens (
            hash TEXT NOT NULL PRIMARY KEY CHECK (length(hash) = 64),
            feed_id TEXT REFERENCES feeds (id) ON DELETE SET NULL,
            created_at BIGINT NOT NULL,
            ends_at BIGINT
        )
        """,
        "CREATE INDEX feed_tokens_by_feed ON feed_tokens (feed_id)",
        """
        CREATE TABLE feed_clients (
            feed_id TEXT NOT NULL REFERENCES feeds (id) ON DELETE CASCADE,
            client TEXT NOT NULL,
            access_count BIGINT NOT NULL,
            last_seen_at BIGINT NOT NULL,
            PRIMARY KEY (feed_id, client)
        )
        """,
        // number is the feed's access_count at that access, so that the count and the list can be checked against each
        // other.
        """
        CREATE TABLE feed_accesses (
            feed_id TEXT NOT NULL REFERENCES feeds (id) ON DELETE CASCADE,
            number BIGINT NOT NULL,
            accessed_at BIGINT NOT NULL,
            client TEXT NOT NULL,
            status BIGINT NOT NULL,
            network TEXT NOT NULL,
            PRIMARY KEY (feed_id, number)
        )
        """,
        "CREATE INDEX feed_accesses_by_time ON feed_accesses (accessed_at)",

        """
        CREATE TABLE service_keys (
            id TEXT NOT NULL PRIMARY KEY,
            name TEXT NOT NULL,
            hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
            hint TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            last_used_at BIGINT,
            revoked_at BIGINT
        )
        """,

        // An imported event, identified as in RFC 5545: by its UID and, for one occurrence, its RECURRENCE-ID.
        """
        CREATE TABLE imported_events (
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            uid TEXT NOT NULL,
            recurrence_id TEXT NOT NULL DEFAULT '',
            sequence BIGINT NOT NULL,
            starts_at BIGINT NOT NULL,
            ends_at BIGINT,
            fingerprint TEXT NOT NULL,
            content TEXT NOT NULL,
            file_sequence BIGINT NOT NULL,
            file_modified_at BIGINT,
            imported_by TEXT,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            deleted_at BIGINT,
            PRIMARY KEY (circle_id, uid, recurrence_id)
        )
        """,
        "CREATE INDEX imported_events_by_end ON imported_events (circle_id, ends_at)",
        "CREATE INDEX imported_events_by_fingerprint ON imported_events (circle_id, fingerprint)",
        """
        CREATE TABLE imports (
            id TEXT NOT NULL PRIMARY KEY,
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            state TEXT NOT NULL CHECK (state IN ('previewed', 'committed', 'undone')),
            imported_by TEXT,
            report TEXT NOT NULL,
            source TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            committed_at BIGINT,
            undone_at BIGINT
        )
        """,
        // The changes of an import, with the content before and after each, so that they can be undone.
        """
        CREATE TABLE import_changes (
            import_id TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
            position BIGINT NOT NULL,
            uid TEXT NOT NULL,
            recurrence_id TEXT NOT NULL,
            content_before TEXT,
            content_after TEXT,
            PRIMARY KEY (import_id, position)
        )
        """,
    ]
}
