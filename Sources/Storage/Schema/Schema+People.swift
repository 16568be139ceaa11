// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Users, with what they sign in by, and the callers besides them: devices and host applications.
    static let people: [String] = [
        // Only users with stored properties have a row. A null language means the browser's preference; reads_phone is
        // whether the person allows their phone's calendar to be read, and null for somebody who has not chosen.
        """
        CREATE TABLE users (
            id TEXT NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 128),
            time_zone TEXT,
            language TEXT,
            reads_phone BIGINT,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL
        ) /* clustered */
        """,

        // Null scopes mean all permissions; otherwise these are names separated by spaces. A key is bound to circles, ids
        // separated by spaces, or to those whose ids begin with circle_prefix; with neither, to none. Null limits nothing.
        """
        CREATE TABLE service_keys (
            id TEXT NOT NULL PRIMARY KEY,
            name TEXT NOT NULL,
            hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
            hint TEXT NOT NULL,
            scopes TEXT,
            circles TEXT,
            circle_prefix TEXT CHECK (circle_prefix IS NULL OR circles IS NULL),
            requests_per_minute BIGINT,
            most_feeds BIGINT,
            most_circles BIGINT,
            created_at BIGINT NOT NULL,
            last_used_at BIGINT,
            revoked_at BIGINT
        )
        """,

        // hash includes its algorithm and parameters, so that they can be raised.
        """
        CREATE TABLE passwords (
            user_id TEXT NOT NULL PRIMARY KEY CHECK (length(user_id) BETWEEN 1 AND 128),
            hash TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            changed_at BIGINT NOT NULL
        )
        """,
        // sealed is the secret that the user's app has too. confirmed_at is null until a code has shown that it does.
        // last_step is the latest time step whose code was used, so that no code is accepted twice.
        """
        CREATE TABLE second_factors (
            user_id TEXT NOT NULL PRIMARY KEY CHECK (length(user_id) BETWEEN 1 AND 128),
            sealed TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            confirmed_at BIGINT,
            last_step BIGINT NOT NULL DEFAULT 0
        )
        """,
        // The codes that are left; a used code is removed.
        """
        CREATE TABLE recovery_codes (
            user_id TEXT NOT NULL REFERENCES second_factors (user_id) ON DELETE CASCADE,
            hash TEXT NOT NULL CHECK (length(hash) = 64),
            PRIMARY KEY (user_id, hash)
        ) /* clustered */
        """,

        // sealed_id_token is the ID token of a session that a provider's sign-in began, which its sign-out takes; proved_at
        // is when the provider asked the person for proof, 0 if it did not say. Both are null for other sessions.
        """
        CREATE TABLE sessions (
            id TEXT NOT NULL PRIMARY KEY,
            hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            client TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            last_used_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,
            sealed_id_token TEXT,
            proved_at BIGINT
        )
        """,
        "CREATE INDEX sessions_by_user ON sessions (user_id, id)",
        // The accounts at a provider of OpenID Connect with which users sign in; a user has one at each issuer.
        """
        CREATE TABLE joined_accounts (
            issuer TEXT NOT NULL,
            subject TEXT NOT NULL CHECK (length(subject) BETWEEN 1 AND 255),
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            created_at BIGINT NOT NULL,
            PRIMARY KEY (issuer, subject),
            UNIQUE (user_id, issuer)
        ) /* clustered */
        """,
        // The sessions of the operator's pages.
        """
        CREATE TABLE operator_sessions (
            id TEXT NOT NULL PRIMARY KEY,
            hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
            created_at BIGINT NOT NULL,
            last_used_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL
        )
        """,
        // Links that sign in once; a null user_id is the operator. A link that was used or has ended is kept for a
        // while, so that its page can say so.
        """
        CREATE TABLE sign_in_links (
            id TEXT NOT NULL PRIMARY KEY,
            hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
            user_id TEXT CHECK (length(user_id) BETWEEN 1 AND 128),
            leads_to TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            expires_at BIGINT NOT NULL,
            used_at BIGINT
        )
        """,
        "CREATE INDEX sign_in_links_by_user ON sign_in_links (user_id, created_at)",
        "CREATE INDEX sign_in_links_by_end ON sign_in_links (expires_at)",

        // Records that stop guesses at passwords without locking the user out, even after a restart. Networks are
        // shortened, as everywhere. name is `user`, `user network` or ` network`: neither part contains a space.
        """
        CREATE TABLE sign_in_homes (
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            network TEXT NOT NULL,
            used_at BIGINT NOT NULL,
            PRIMARY KEY (user_id, network)
        ) /* clustered */
        """,
        "CREATE INDEX sign_in_homes_by_use ON sign_in_homes (used_at)",
        """
        CREATE TABLE sign_in_failures (
            name TEXT NOT NULL PRIMARY KEY,
            count BIGINT NOT NULL,
            last_at BIGINT NOT NULL,
            until_at BIGINT NOT NULL
        ) /* clustered */
        """,
        "CREATE INDEX sign_in_failures_by_time ON sign_in_failures (last_at)",

        // The answers to requests with a key, which are kept for a day. name is a hash of the caller, the operation and
        // the key; sealed has the answer, which may show a secret, and a hash of the request.
        """
        CREATE TABLE kept_answers (
            name TEXT NOT NULL PRIMARY KEY CHECK (length(name) = 64),
            caller TEXT NOT NULL CHECK (length(caller) = 64),
            sealed TEXT NOT NULL,
            ends_at BIGINT NOT NULL
        )
        """,
        "CREATE INDEX kept_answers_by_caller ON kept_answers (caller, ends_at)",
        "CREATE INDEX kept_answers_by_end ON kept_answers (ends_at)",

        // problem is what the device last reported to keep it from its calendars, and problem_at since when; null while
        // nothing does.
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
            problem TEXT,
            problem_at BIGINT,
            UNIQUE (user_id, device_id)
        )
        """,

        // The erasures of people. user_id is null once none of the person's data is left; asker is `person`, `operator`
        // or `key:ID`. removed and kept are counts of rows, `table:count` each, separated by spaces.
        """
        CREATE TABLE erasures (
            id TEXT NOT NULL PRIMARY KEY,
            user_id TEXT CHECK (length(user_id) BETWEEN 1 AND 128),
            asker TEXT NOT NULL,
            removed TEXT NOT NULL,
            kept TEXT NOT NULL,
            leaves_unused_space BIGINT NOT NULL,
            begun_at BIGINT NOT NULL,
            ended_at BIGINT
        )
        """,
        "CREATE INDEX erasures_under_way ON erasures (begun_at) WHERE ended_at IS NULL",
    ]
}
