// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// What is wanted of connections besides their regular runs, and which connections there were.
    static let syncWishes: [String] = [
        // Remains until the run has ended, so that a server that dies does it after its next start.
        """
        CREATE TABLE sync_wishes (
            connection_id TEXT NOT NULL PRIMARY KEY REFERENCES connections (id) ON DELETE CASCADE,
            kind TEXT NOT NULL CHECK (kind IN ('manual', 'approved', 'undo', 'push')),
            run_id TEXT,
            undone_run_id TEXT,
            due_at BIGINT NOT NULL
        )
        """,
        "CREATE INDEX sync_wishes_due ON sync_wishes (due_at)",

        // Events that carry their marks are found again by the connections that come after them.
        """
        CREATE TABLE former_connections (
            circle_id TEXT NOT NULL,
            user_id TEXT NOT NULL,
            connection_id TEXT NOT NULL,
            PRIMARY KEY (circle_id, user_id, connection_id)
        ) /* clustered */
        """,
    ]
}
