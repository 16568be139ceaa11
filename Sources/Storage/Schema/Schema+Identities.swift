// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The callers besides the host application: users with passwords and sessions, and their devices.
    static let identities: [String] = [
        // Null means all permissions; otherwise these are names separated by spaces.
        "ALTER TABLE service_keys ADD COLUMN scopes TEXT",

        // hash includes its algorithm and parameters, so that they can be raised.
        """
        CREATE TABLE passwords (
            user_id TEXT NOT NULL PRIMARY KEY CHECK (length(user_id) BETWEEN 1 AND 128),
            hash TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            changed_at BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE sessions (
            id TEXT NOT NULL PRIMARY KEY,
            hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            client TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            last_used_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL
        )
        """,
        "CREATE INDEX sessions_by_user ON sessions (user_id, id)",
        """
        CREATE TABLE devices (
            id TEXT NOT NULL PRIMARY KEY,
            hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            device_id TEXT NOT NULL CHECK (length(device_id) BETWEEN 1 AND 128),
            name TEXT,
            platform TEXT,
            created_at BIGINT NOT NULL,
            registered_at BIGINT NOT NULL,
            last_used_at BIGINT,
            UNIQUE (user_id, device_id)
        )
        """,
    ]
}
