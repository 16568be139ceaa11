// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The changes of each circle, for host applications that follow them or have them sent, and the audit trail.
    static let changes: [String] = [
        // number counts a circle's changes, sequence those of all circles, and is empty for those that have no place
        // among them yet; the newest of each circle is never removed, so that no number is used twice. No foreign key refers to circles: the deletion of a circle is a change as
        // well. author and way say who made a change and how, undoes which change it undid.
        """
        CREATE TABLE changes (
            sequence BIGINT,
            circle_id TEXT NOT NULL,
            number BIGINT NOT NULL,
            at BIGINT NOT NULL,
            type TEXT NOT NULL,
            collection TEXT,
            item_id TEXT,
            part TEXT,
            user_id TEXT,
            change TEXT NOT NULL CHECK (change IN ('created', 'updated', 'deleted')),
            author TEXT,
            way TEXT NOT NULL,
            undoes BIGINT,
            PRIMARY KEY (circle_id, number)
        ) /* clustered */
        """,
        "CREATE UNIQUE INDEX changes_in_order ON changes (sequence)",
        "CREATE INDEX changes_without_place ON changes (circle_id, number) WHERE sequence IS NULL",
        "CREATE INDEX changes_by_time ON changes (at)",
        "CREATE INDEX changes_by_undone ON changes (circle_id, undoes) WHERE undoes IS NOT NULL",
        // What an item or an occurrence held before a change, for thirty days; nothing is stored for one that did not
        // exist before, unless its creation is a part of another change. part is empty for the item itself. cause is the
        // change that is undone with this one: for occurrences that went with their series, and came back with it.
        // bytes is what the row takes of the circle's share.
        """
        CREATE TABLE kept_contents (
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            collection TEXT NOT NULL,
            item_id TEXT NOT NULL,
            part TEXT NOT NULL,
            number BIGINT NOT NULL,
            cause BIGINT NOT NULL,
            at BIGINT NOT NULL,
            content TEXT,
            bytes BIGINT NOT NULL,
            PRIMARY KEY (circle_id, collection, item_id, part, number)
        ) /* clustered */
        """,
        "CREATE INDEX kept_contents_by_number ON kept_contents (circle_id, number)",
        "CREATE INDEX kept_contents_by_time ON kept_contents (at)",
        // A counter for each circle, as in `counters`. Rows are never removed, like a circle's newest change.
        """
        CREATE TABLE change_numbers (
            circle_id TEXT NOT NULL PRIMARY KEY,
            last_number BIGINT NOT NULL
        ) /* clustered */
        """,

        // The addresses to which changes are sent. Addresses and secrets are sealed. last_ordinal counts the messages.
        """
        CREATE TABLE webhooks (
            id TEXT NOT NULL PRIMARY KEY,
            sealed_url TEXT NOT NULL,
            circles TEXT,
            types TEXT,
            state TEXT NOT NULL CHECK (state IN ('active', 'disabled')),
            disabled_reason TEXT,
            sealed_secret TEXT NOT NULL,
            secret_hint TEXT NOT NULL,
            sealed_former TEXT,
            former_ends_at BIGINT,
            position BIGINT NOT NULL,
            last_ordinal BIGINT NOT NULL DEFAULT 0,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            failing_since BIGINT,
            last_delivered_at BIGINT
        )
        """,
        // Every message with its attempts. circle_id is empty for a test message; messages of one circle are sent in
        // the order of their ordinal.
        """
        CREATE TABLE webhook_deliveries (
            id TEXT NOT NULL PRIMARY KEY,
            webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
            ordinal BIGINT NOT NULL,
            circle_id TEXT NOT NULL,
            first_number BIGINT NOT NULL,
            last_number BIGINT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
            attempts BIGINT NOT NULL DEFAULT 0,
            next_at BIGINT NOT NULL,
            created_at BIGINT NOT NULL,
            failing_since BIGINT,
            last_attempt_at BIGINT,
            last_status BIGINT,
            last_problem TEXT,
            finished_at BIGINT,
            shard BIGINT NOT NULL CHECK (shard BETWEEN 0 AND 63)
        )
        """,
        "CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (webhook_id, state, shard, circle_id, ordinal)",
        "CREATE INDEX webhook_deliveries_by_ordinal ON webhook_deliveries (webhook_id, ordinal)",
        "CREATE INDEX webhook_deliveries_due ON webhook_deliveries (state, next_at)",

        // The audit trail references no other table, because its rows outlive what they describe. hash covers names_hash
        // in place of the actor, the subject and the detail, so that these can be taken out with their salt.
        """
        CREATE TABLE audit_trail (
            number BIGINT NOT NULL PRIMARY KEY,
            at BIGINT NOT NULL,
            actor TEXT NOT NULL,
            action TEXT NOT NULL,
            subject TEXT NOT NULL,
            circle_id TEXT,
            detail TEXT NOT NULL,
            salt TEXT NOT NULL,
            names_hash TEXT NOT NULL,
            previous_hash TEXT NOT NULL,
            hash TEXT NOT NULL
        ) /* clustered */
        """,
        "CREATE INDEX audit_trail_by_circle ON audit_trail (circle_id, number)",
        // Acts of servers that share the database, until they get their places in the trail; written_in is the number that
        // the database gave the transaction of the act.
        """
        CREATE TABLE audit_waiting (
            written_in BIGINT NOT NULL,
            place BIGINT NOT NULL,
            at BIGINT NOT NULL,
            actor TEXT NOT NULL,
            action TEXT NOT NULL,
            subject TEXT NOT NULL,
            circle_id TEXT,
            detail TEXT NOT NULL,
            PRIMARY KEY (written_in, place)
        ) /* clustered */
        """,
    ]
}
