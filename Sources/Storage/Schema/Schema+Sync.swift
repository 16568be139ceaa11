// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The engine's records of each connection.
    ///
    /// `content` is a record of the engine as JSON, which this module does not interpret; the columns beside it serve
    /// searches and lists. `number` counts within a connection, from 1 on. Each lookup that happens every second, every
    /// hour or at every scrape has its own index, so that its cost does not grow with all stored rows.
    static let sync: [String] = [
        """
        CREATE TABLE sync_links (
            connection_id TEXT NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
            collection TEXT NOT NULL,
            item_id TEXT NOT NULL,
            occurrence TEXT NOT NULL DEFAULT '',
            state TEXT NOT NULL,
            external_id TEXT,
            last_synced_at BIGINT,
            since_at BIGINT NOT NULL,
            content TEXT NOT NULL,
            PRIMARY KEY (connection_id, collection, item_id, occurrence)
        ) /* clustered */
        """,
        "CREATE INDEX sync_links_by_state ON sync_links (connection_id, state)",
        "CREATE INDEX sync_links_by_item ON sync_links (collection, item_id)",
        "CREATE INDEX sync_links_gone ON sync_links (since_at) WHERE state = 'deleted'",
        """
        CREATE TABLE sync_operations (
            connection_id TEXT NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
            key TEXT NOT NULL,
            content TEXT NOT NULL,
            PRIMARY KEY (connection_id, key)
        ) /* clustered */
        """,
        """
        CREATE TABLE sync_positions (
            connection_id TEXT NOT NULL PRIMARY KEY REFERENCES connections (id) ON DELETE CASCADE,
            content TEXT NOT NULL
        )
        """,
        """
        CREATE TABLE sync_runs (
            id TEXT NOT NULL PRIMARY KEY,
            connection_id TEXT NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
            number BIGINT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('running', 'done', 'held', 'failed')),
            started_at BIGINT NOT NULL,
            approved_at BIGINT,
            content TEXT NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX sync_runs_by_connection ON sync_runs (connection_id, number)",
        "CREATE INDEX sync_runs_by_state ON sync_runs (state, connection_id)",
        "CREATE INDEX sync_runs_by_time ON sync_runs (started_at)",
        // Runs that are requested in addition to the regular ones. A row remains until the run has ended, so that a
        // server that dies carries it out after its next start.
        """
        CREATE TABLE sync_wishes (
            connection_id TEXT NOT NULL PRIMARY KEY REFERENCES connections (id) ON DELETE CASCADE,
            kind TEXT NOT NULL CHECK (kind IN ('manual', 'approved', 'undo', 'push', 'change')),
            run_id TEXT,
            undone_run_id TEXT,
            due_at BIGINT NOT NULL
        )
        """,
        "CREATE INDEX sync_wishes_due ON sync_wishes (due_at)",

        // The bytes of a conflict and of an entry of the journal are those of its content, so that the records of a
        // connection can be kept small. SQLite reads what comes before a large text without the text.
        """
        CREATE TABLE sync_conflicts (
            connection_id TEXT NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
            id TEXT NOT NULL,
            collection TEXT NOT NULL,
            item_id TEXT NOT NULL,
            number BIGINT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('open', 'resolved')),
            at BIGINT NOT NULL,
            resolved_by TEXT,
            bytes BIGINT NOT NULL DEFAULT 0,
            content TEXT NOT NULL,
            PRIMARY KEY (connection_id, id)
        )
        """,
        "CREATE UNIQUE INDEX sync_conflicts_by_number ON sync_conflicts (connection_id, number)",
        "CREATE INDEX sync_conflicts_by_id ON sync_conflicts (id)",
        "CREATE INDEX sync_conflicts_by_state ON sync_conflicts (connection_id, state)",
        """
        CREATE INDEX sync_conflicts_open ON sync_conflicts (connection_id, collection, item_id) WHERE state = 'open'
        """,
        "CREATE INDEX sync_conflicts_resolved ON sync_conflicts (at) WHERE state = 'resolved'",
        "CREATE INDEX sync_conflicts_sizes ON sync_conflicts (connection_id, state, number, bytes)",
        """
        CREATE TABLE sync_journal (
            connection_id TEXT NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
            number BIGINT NOT NULL,
            id TEXT NOT NULL,
            run_id TEXT NOT NULL,
            at BIGINT NOT NULL,
            direction TEXT NOT NULL,
            change TEXT NOT NULL,
            bytes BIGINT NOT NULL DEFAULT 0,
            content TEXT NOT NULL,
            PRIMARY KEY (connection_id, number)
        ) /* clustered */
        """,
        "CREATE UNIQUE INDEX sync_journal_by_id ON sync_journal (connection_id, id)",
        "CREATE INDEX sync_journal_by_run ON sync_journal (connection_id, run_id, number)",
        "CREATE INDEX sync_journal_by_change ON sync_journal (connection_id, change, direction, at)",
        "CREATE INDEX sync_journal_by_time ON sync_journal (at)",
        "CREATE INDEX sync_journal_sizes ON sync_journal (connection_id, number, bytes)",

        // The channels through which a provider reports changes; only the hash of the secret that comes back with each
        // report is stored.
        """
        CREATE TABLE sync_channels (
            id TEXT NOT NULL PRIMARY KEY,
            connection_id TEXT NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
            secret_hash TEXT NOT NULL CHECK (length(secret_hash) = 64),
            expires_at BIGINT NOT NULL,
            renew_at BIGINT NOT NULL,
            last_heard_at BIGINT,
            content TEXT NOT NULL
        )
        """,
        "CREATE INDEX sync_channels_by_connection ON sync_channels (connection_id)",
        "CREATE INDEX sync_channels_due ON sync_channels (renew_at)",

        // The server that runs a connection now; a holder loses the lease when its time has passed.
        """
        CREATE TABLE sync_leases (
            connection_id TEXT NOT NULL PRIMARY KEY REFERENCES connections (id) ON DELETE CASCADE,
            holder TEXT NOT NULL,
            expires_at BIGINT NOT NULL
        )
        """,

        // Counters only, which outlive the connections; day is in UTC, since 1970-01-01.
        """
        CREATE TABLE sync_days (
            day BIGINT NOT NULL,
            provider TEXT NOT NULL,
            runs BIGINT NOT NULL,
            successes BIGINT NOT NULL,
            writes BIGINT NOT NULL,
            errors BIGINT NOT NULL,
            PRIMARY KEY (day, provider)
        ) /* clustered */
        """,
        // Requests to providers; connection_id is empty before an account is connected, and of deleted connections.
        """
        CREATE TABLE sync_requests (
            day BIGINT NOT NULL,
            provider TEXT NOT NULL,
            connection_id TEXT NOT NULL,
            requests BIGINT NOT NULL,
            successes BIGINT NOT NULL,
            looks BIGINT NOT NULL,
            look_requests BIGINT NOT NULL,
            PRIMARY KEY (day, provider, connection_id)
        ) /* clustered */
        """,
    ]
}
