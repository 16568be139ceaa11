// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// App passwords; their hashes are among the tokens of feeds, and their accesses among those of feeds.
    static let appPasswords: [String] = [
        // number is counted together with those of feeds. circles is null for all of the person's circles, and otherwise
        // their ids, separated by spaces.
        """
        CREATE TABLE app_passwords (
            id TEXT NOT NULL PRIMARY KEY,
            number BIGINT NOT NULL UNIQUE,
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            label TEXT NOT NULL,
            may_write BIGINT NOT NULL,
            circles TEXT,
            reaches_own BIGINT NOT NULL,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            expires_at BIGINT,
            ended_at BIGINT
        )
        """,
        "CREATE INDEX app_passwords_by_user ON app_passwords (user_id, id)",
        "CREATE INDEX app_passwords_by_end ON app_passwords (ended_at) WHERE ended_at IS NOT NULL",
        // A password that one device will fetch with a secret of its own; sealed is null once that was done.
        """
        CREATE TABLE password_handouts (
            hash TEXT NOT NULL PRIMARY KEY CHECK (length(hash) = 64),
            password_id TEXT NOT NULL REFERENCES app_passwords (id) ON DELETE CASCADE,
            sealed TEXT,
            expires_at BIGINT NOT NULL
        )
        """,
        "CREATE INDEX password_handouts_by_password ON password_handouts (password_id)",
        "CREATE INDEX password_handouts_by_end ON password_handouts (expires_at)",
        // Where calendar apps want to hear of changes; told_number and told_epoch are the state of the circle or the
        // own calendar that they heard of last.
        """
        CREATE TABLE push_registrations (
            id TEXT NOT NULL PRIMARY KEY,
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            password_id TEXT NOT NULL REFERENCES app_passwords (id) ON DELETE CASCADE,
            kind TEXT NOT NULL CHECK (kind IN ('events', 'tasks', 'own')),
            collection_id TEXT NOT NULL,
            resource_hash TEXT NOT NULL CHECK (length(resource_hash) = 64),
            sealed TEXT NOT NULL,
            wants_content BIGINT NOT NULL,
            wants_properties BIGINT NOT NULL,
            told_number BIGINT NOT NULL,
            told_epoch BIGINT NOT NULL,
            property_changes BIGINT NOT NULL,
            told_property_changes BIGINT NOT NULL,
            shown TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,
            next_at BIGINT NOT NULL,
            attempts BIGINT NOT NULL,
            shard BIGINT NOT NULL CHECK (shard BETWEEN 0 AND 63)
        )
        """,
        "CREATE INDEX push_registrations_by_shard ON push_registrations (shard, id)",
        """
        CREATE UNIQUE INDEX push_registrations_by_resource
            ON push_registrations (collection_id, kind, user_id, resource_hash)
        """,
        "CREATE INDEX push_registrations_by_user ON push_registrations (user_id)",
        "CREATE INDEX push_registrations_by_password ON push_registrations (password_id)",
        "CREATE INDEX push_registrations_by_end ON push_registrations (expires_at)",
    ]
}
