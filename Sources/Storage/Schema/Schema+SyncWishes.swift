// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Runs of connections that are requested in addition to the regular ones, and the connections that once existed.
    static let syncWishes: [String] = [
        // A row remains until the run has ended, so that a server that dies carries it out after its next start.
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

        // The events of these connections have marks with their ids, by which later connections find them again.
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
