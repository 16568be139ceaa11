// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// External calendars that a circle follows; their addresses are sealed.
    ///
    /// An imported event belongs to the subscription that brought it first, and is removed with it.
    static let subscriptions: [String] = [
        """
        CREATE TABLE subscriptions (
            id TEXT NOT NULL PRIMARY KEY,
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            sealed_url TEXT NOT NULL,
            url_digest TEXT NOT NULL,
            url_hint TEXT NOT NULL,
            host TEXT NOT NULL,
            label TEXT,
            created_by TEXT,
            refresh_minutes BIGINT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('active', 'paused', 'failed')),
            etag TEXT,
            last_modified TEXT,
            validators_of TEXT,
            next_at BIGINT NOT NULL,
            failures BIGINT NOT NULL DEFAULT 0,
            empty_answers BIGINT NOT NULL DEFAULT 0,
            last_fetched_at BIGINT,
            last_changed_at BIGINT,
            last_problem TEXT,
            created BIGINT NOT NULL DEFAULT 0,
            updated BIGINT NOT NULL DEFAULT 0,
            deleted BIGINT NOT NULL DEFAULT 0,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            UNIQUE (circle_id, url_digest)
        )
        """,
        "CREATE INDEX subscriptions_due ON subscriptions (state, next_at)",
        "ALTER TABLE imported_events ADD COLUMN subscription_id TEXT",
        "CREATE INDEX imported_events_by_subscription ON imported_events (subscription_id)",
    ]
}
