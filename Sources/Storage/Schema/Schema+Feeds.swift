// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Feeds, their tokens, and the counts of their accesses.
    ///
    /// Counts are keyed by small numbers, in the order in which they are written: reads of a million feeds at random
    /// change few pages.
    static let feeds: [String] = [
        // A feed's number is never used twice, because accesses of a deleted feed may still be on their way; nor is the
        // sequence of an access.
        "INSERT INTO settings (name, value) VALUES ('feedNumber', '0'), ('accessSequence', '0')",

        // sequence_offset and shown_changed_at rise when the configuration changes the part that only this feed shows,
        // own_version and own_changed_at with every change of the owner's entries in a feed that shows_own.
        """
        CREATE TABLE feeds (
            id TEXT NOT NULL PRIMARY KEY,
            number BIGINT NOT NULL DEFAULT 0,
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            user_id TEXT NOT NULL,
            label TEXT,
            config TEXT NOT NULL,
            sequence_offset BIGINT NOT NULL DEFAULT 0,
            shown_changed_at BIGINT NOT NULL,
            config_changed_at BIGINT NOT NULL,
            shows_own BIGINT NOT NULL DEFAULT 0,
            own_version BIGINT NOT NULL DEFAULT 0,
            own_changed_at BIGINT NOT NULL DEFAULT 0,
            token_hint TEXT NOT NULL,
            sealed_token TEXT NOT NULL,
            created_at BIGINT NOT NULL,
            updated_at BIGINT NOT NULL,
            expires_at BIGINT,
            revoked_at BIGINT,
            last_revealed_at BIGINT,
            FOREIGN KEY (circle_id, user_id) REFERENCES members (circle_id, user_id)
        )
        """,
        "CREATE UNIQUE INDEX feeds_by_number ON feeds (number)",
        """
        CREATE UNIQUE INDEX feeds_by_label ON feeds (circle_id, user_id, COALESCE(label, ''))
            WHERE revoked_at IS NULL
        """,
        "CREATE INDEX feeds_by_user ON feeds (circle_id, user_id, id)",
        "CREATE INDEX feeds_showing_own ON feeds (user_id) WHERE shows_own = 1",

        // Hashes outlive their feeds: a URL that once worked answers 410 and never 404. The notice is what a feed shows
        // about the end of a replaced token. password_id is that of an app password, whose hash is made with a key; it
        // is null once the password has ended.
        """
        CREATE TABLE feed_tokens (
            hash TEXT NOT NULL PRIMARY KEY CHECK (length(hash) = 64),
            feed_id TEXT REFERENCES feeds (id) ON DELETE SET NULL,
            password_id TEXT REFERENCES app_passwords (id) ON DELETE SET NULL,
            created_at BIGINT NOT NULL,
            ends_at BIGINT,
            replaced_at BIGINT,
            notice_uid TEXT,
            notice_sequence BIGINT NOT NULL DEFAULT 0,
            noticed_at BIGINT
        )
        """,
        "CREATE INDEX feed_tokens_by_feed ON feed_tokens (feed_id)",
        "CREATE INDEX feed_tokens_by_password ON feed_tokens (password_id) WHERE password_id IS NOT NULL",

        // client is a family of programs. last_sequence is that of its newest access. first_day is the day on which a
        // client came first, 0 for one that came on a feed's first days; networks and networks_before say from how many
        // networks it came on its last two days (`NetworkSketch`). seen_version is the latest version of the circle
        // that it was shown, 0 when none is known.
        """
        CREATE TABLE feed_clients (
            feed BIGINT NOT NULL,
            client BIGINT NOT NULL,
            access_count BIGINT NOT NULL,
            last_seen_at BIGINT NOT NULL,
            last_sequence BIGINT NOT NULL,
            first_day BIGINT NOT NULL DEFAULT 0,
            networks BIGINT NOT NULL DEFAULT 0,
            networks_before BIGINT NOT NULL DEFAULT 0,
            seen_version BIGINT NOT NULL DEFAULT 0,
            PRIMARY KEY (feed, client)
        ) /* clustered */
        """,
        // The day comes first in the key, so that the counts of one day are stored together.
        """
        CREATE TABLE feed_client_days (
            day BIGINT NOT NULL,
            feed BIGINT NOT NULL,
            client BIGINT NOT NULL,
            access_count BIGINT NOT NULL,
            PRIMARY KEY (day, feed, client)
        ) /* clustered */
        """,
        // A feed's latest accesses are a list through previous: rows of all feeds are in the order of the accesses, and
        // the newest of a feed is the greatest last_sequence of its clients. number counts the feed's accesses, so that
        // the count and the list can be checked against each other.
        """
        CREATE TABLE feed_accesses (
            sequence BIGINT NOT NULL PRIMARY KEY,
            previous BIGINT NOT NULL,
            feed BIGINT NOT NULL,
            number BIGINT NOT NULL,
            accessed_at BIGINT NOT NULL,
            client BIGINT NOT NULL,
            status BIGINT NOT NULL,
            network TEXT NOT NULL
        ) /* clustered */
        """,
        // The marks that the feed's owner should look at. client is -1 where it does not apply; a row with cleared_at
        // was seen by the owner.
        """
        CREATE TABLE feed_attention (
            feed BIGINT NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('newClient', 'manyNetworks')),
            client BIGINT NOT NULL,
            noted_at BIGINT NOT NULL,
            networks BIGINT,
            cleared_at BIGINT,
            PRIMARY KEY (feed, kind, client)
        ) /* clustered */
        """,
    ]
}
