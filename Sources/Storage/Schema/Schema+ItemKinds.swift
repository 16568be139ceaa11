// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Items of every kind that the program knows: the database no longer restricts the kinds.
    ///
    /// A column's constraint can only be removed with its table, so both tables are created again.
    static let itemKinds: [String] = [
        "ALTER TABLE occurrences RENAME TO former_occurrences",
        "ALTER TABLE schedule_items RENAME TO former_items",
        "DROP INDEX schedule_items_by_end",
        "DROP INDEX schedule_items_by_update",
        "DROP INDEX schedule_items_by_patient",
        "DROP INDEX schedule_items_by_owner",
        "DROP INDEX schedule_items_by_change",
        """
        CREATE TABLE schedule_items (
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            collection TEXT NOT NULL CHECK (length(collection) BETWEEN 1 AND 64),
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
            changed_in BIGINT NOT NULL DEFAULT 0,
            shown_in BIGINT,
            shown_as TEXT CHECK (shown_as IN ('created', 'updated')),
            PRIMARY KEY (circle_id, collection, id),
            FOREIGN KEY (circle_id, patient_id) REFERENCES patients (circle_id, id),
            FOREIGN KEY (circle_id, owner_id) REFERENCES members (circle_id, user_id)
        )
        """,
        """
        INSERT INTO schedule_items (circle_id, collection, id, uid, sequence, patient_id, owner_id, time_zone,
            is_all_day, starts_at, ends_at, content, created_at, updated_at, deleted_at, changed_in, shown_in, shown_as)
        SELECT circle_id, collection, id, uid, sequence, patient_id, owner_id, time_zone,
            is_all_day, starts_at, ends_at, content, created_at, updated_at, deleted_at, changed_in, shown_in, shown_as
        FROM former_items
        """,
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
        """
        INSERT INTO occurrences (circle_id, collection, item_id, original_start, starts_at, ends_at, content,
            created_at, updated_at)
        SELECT circle_id, collection, item_id, original_start, starts_at, ends_at, content, created_at, updated_at
        FROM former_occurrences
        """,
        "DROP TABLE former_occurrences",
        "DROP TABLE former_items",
        "CREATE INDEX schedule_items_by_end ON schedule_items (circle_id, ends_at)",
        "CREATE INDEX schedule_items_by_update ON schedule_items (circle_id, collection, updated_at)",
        "CREATE INDEX schedule_items_by_patient ON schedule_items (circle_id, patient_id)",
        "CREATE INDEX schedule_items_by_owner ON schedule_items (circle_id, owner_id)",
        "CREATE INDEX schedule_items_by_change ON schedule_items (circle_id, changed_in)",
    ]
}
