// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Where users worked: their settings, their visits to the office, and each day that was decided.
    static let officeDays: [String] = [
        """
        CREATE TABLE office_profiles (
            user_id TEXT NOT NULL PRIMARY KEY,
            settings TEXT NOT NULL,
            seed TEXT NOT NULL,
            counts_from BIGINT,
            nights_through BIGINT,
            next_night_at BIGINT,
            enabled_at BIGINT,
            first_enabled_at BIGINT,
            problem TEXT,
            last_sync_at BIGINT,
            last_sync_status TEXT CHECK (last_sync_status IN ('success', 'partial', 'failed')),
            writes BIGINT NOT NULL,
            errors BIGINT NOT NULL,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL
        )
        """,
        "CREATE INDEX office_profiles_by_night ON office_profiles (next_night_at)",
        """
        CREATE TABLE office_visits (
            user_id TEXT NOT NULL,
            id TEXT NOT NULL,
            starts_at BIGINT NOT NULL,
            ends_at BIGINT NOT NULL,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            PRIMARY KEY (user_id, id)
        ) /* clustered */
        """,
        "CREATE INDEX office_visits_by_time ON office_visits (user_id, starts_at)",
        // The day is counted from 1970-01-01; `word` comes from the person, `decision` is the result with its event.
        """
        CREATE TABLE office_days (
            user_id TEXT NOT NULL,
            day BIGINT NOT NULL,
            word TEXT CHECK (word IN ('inOffice', 'remote', 'none')),
            decision TEXT,
            status TEXT CHECK (status IN ('inOffice', 'remote', 'none')),
            event_state TEXT CHECK (event_state IN ('managed', 'unmanaged', 'removed')),
            event_target TEXT,
            updated_at BIGINT NOT NULL,
            PRIMARY KEY (user_id, day)
        )
        """,
    ]
}
