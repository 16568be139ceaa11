// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// People's calendars that are kept in step with a circle, their credentials, and sign-ins under way.
    static let connections: [String] = [
        // No foreign key refers to circles: a connection outlives its circle until its events at the provider are
        // cleared away. ending says which: `all` events or the `future` ones; with `records`, only its stored data has
        // yet to be removed. Nobody sees such a connection any more.
        """
        CREATE TABLE connections (
            id TEXT NOT NULL PRIMARY KEY,
            circle_id TEXT NOT NULL,
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            provider TEXT NOT NULL CHECK (provider IN ('google', 'outlook', 'caldav', 'apple')),
            label TEXT,
            account_id TEXT,
            account_name TEXT,
            calendar_id TEXT,
            calendar_name TEXT,
            calendar_time_zone TEXT,
            state TEXT NOT NULL CHECK (state IN (
                'unauthorized', 'choosing', 'active', 'paused', 'needsReconnect', 'calendarGone')),
            state_at BIGINT NOT NULL,
            config TEXT NOT NULL,
            last_sync_at BIGINT,
            last_sync_status TEXT CHECK (last_sync_status IN ('success', 'partial', 'failed')),
            last_sync_error TEXT,
            failures BIGINT NOT NULL DEFAULT 0,
            next_sync_at BIGINT,
            look_every BIGINT CHECK (look_every > 0),
            missing_since_at BIGINT,
            ending TEXT CHECK (ending IN ('all', 'future', 'records')),
            ending_at BIGINT,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL
        )
        """,
        """
        CREATE UNIQUE INDEX connections_by_label ON connections (circle_id, user_id, provider, COALESCE(label, ''))
            WHERE ending IS NULL
        """,
        "CREATE INDEX connections_ending ON connections (id) WHERE ending IS NOT NULL",
        "CREATE INDEX connections_by_user ON connections (user_id, id)",
        "CREATE INDEX connections_due ON connections (state, next_sync_at)",
        "CREATE INDEX connections_by_next ON connections (provider, next_sync_at) WHERE next_sync_at IS NOT NULL",
        // The connections that once existed: their events have marks with their ids, by which later connections find
        // them again.
        """
        CREATE TABLE former_connections (
            circle_id TEXT NOT NULL,
            user_id TEXT NOT NULL,
            connection_id TEXT NOT NULL,
            PRIMARY KEY (circle_id, user_id, connection_id)
        ) /* clustered */
        """,

        // account is a digest of the provider's account, by which two connections of one account find each other.
        // version rises with each renewal.
        """
        CREATE TABLE connection_credentials (
            connection_id TEXT NOT NULL PRIMARY KEY REFERENCES connections (id) ON DELETE CASCADE,
            sealed TEXT NOT NULL,
            account TEXT NOT NULL,
            version BIGINT NOT NULL,
            updated_at BIGINT NOT NULL
        )
        """,
        "CREATE INDEX connection_credentials_by_account ON connection_credentials (account)",
        // sealed_code is what the provider returned in a browser that cannot be told to be the beginner's, until the
        // beginner redeems it.
        """
        CREATE TABLE connection_authorizations (
            state_hash TEXT NOT NULL PRIMARY KEY CHECK (length(state_hash) = 64),
            connection_id TEXT NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
            user_id TEXT NOT NULL,
            session_id TEXT,
            sealed_verifier TEXT NOT NULL,
            sealed_code TEXT,
            return_to TEXT NOT NULL,
            expires_at BIGINT NOT NULL
        )
        """,
        "CREATE INDEX connection_authorizations_by_connection ON connection_authorizations (connection_id)",
        "CREATE INDEX connection_authorizations_by_time ON connection_authorizations (expires_at)",
    ]
}
