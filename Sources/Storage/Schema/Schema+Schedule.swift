// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Circles with who belongs to them, and their items.
    static let schedule: [String] = [
        // version and changed_at rise with every change that a feed of the circle may show. A circle shows the versions
        // of imported events that its events_epoch is in; versions that ended before the floor may have been removed.
        // zone_version is the version with which its zone last changed. Nobody sees a circle with deleted_at.
        """
        CREATE TABLE circles (
            id TEXT NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 128),
            name TEXT NOT NULL,
            time_zone TEXT NOT NULL,
            version BIGINT NOT NULL,
            changed_at BIGINT NOT NULL,
            events_epoch BIGINT NOT NULL DEFAULT 0,
            events_floor BIGINT NOT NULL DEFAULT 0,
            zone_version BIGINT NOT NULL DEFAULT 0,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            deleted_at BIGINT
        )
        """,
        "CREATE INDEX circles_deleted ON circles (deleted_at) WHERE deleted_at IS NOT NULL",

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

        // A UID is one item's within its circle: the same invitation may be in two families' circles. A deleted item is
        // kept as a tombstone, so that its UID and SEQUENCE continue when the id is stored again. The
        // program knows the kinds of items, and the database does not restrict them. ends_at is null when a series
        // never ends. changed_in is the version of the circle with the last change, so that a feed reads only what
        // changed; shown_in is the version with the latest change that calendars show, null when that is changed_in,
        // and shown_as whether that change was a creation or an update, null when the item itself shows it.
        """
        CREATE TABLE schedule_items (
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            collection TEXT NOT NULL CHECK (length(collection) BETWEEN 1 AND 64),
            id TEXT NOT NULL CHECK (length(id) BETWEEN 1 AND 128),
            uid TEXT NOT NULL,
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
            changed_in BIGINT NOT NULL DEFAULT 0,
            shown_in BIGINT,
            shown_as TEXT CHECK (shown_as IN ('created', 'updated')),
            PRIMARY KEY (circle_id, collection, id),
            UNIQUE (uid, circle_id),
            FOREIGN KEY (circle_id, patient_id) REFERENCES patients (circle_id, id),
            FOREIGN KEY (circle_id, owner_id) REFERENCES members (circle_id, user_id)
        )
        """,
        "CREATE INDEX schedule_items_by_end ON schedule_items (circle_id, ends_at)",
        "CREATE INDEX schedule_items_by_update ON schedule_items (circle_id, collection, updated_at)",
        "CREATE INDEX schedule_items_by_change ON schedule_items (circle_id, changed_in)",
        // Most items have neither a patient nor an owner, and an entry of each would cost a batch.
        "CREATE INDEX schedule_items_by_patient ON schedule_items (circle_id, patient_id) WHERE patient_id IS NOT NULL",
        "CREATE INDEX schedule_items_by_owner ON schedule_items (circle_id, owner_id) WHERE owner_id IS NOT NULL",

        // One changed or cancelled occurrence of a repeating item, identified by its original start.
        """
        CREATE TABLE occurrences (
            circle_id TEXT NOT NULL,
            collection TEXT NOT NULL,
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

        // The items that were ever stored in a circle, and the bytes of their content: nobody has to count everything for one
        // more item. The same holds for the bytes of imported events' contents and of contents kept from before changes; those
        // up to a number were given up for later ones.
        """
        CREATE TABLE circle_usage (
            circle_id TEXT NOT NULL PRIMARY KEY REFERENCES circles (id) ON DELETE CASCADE,
            items BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            event_bytes BIGINT NOT NULL DEFAULT 0,
            kept_bytes BIGINT NOT NULL DEFAULT 0,
            kept_after BIGINT NOT NULL DEFAULT 0
        ) /* clustered */
        """,
    ]
}
