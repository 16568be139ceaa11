// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Counts keyed by small numbers, in the order in which they are written: reads of a million feeds at random change
    /// few pages, where each access used to change four.
    ///
    /// A feed's latest accesses are a list through `previous`: rows of all feeds are in the order of the accesses, and
    /// the newest of a feed is the greatest `last_sequence` of its clients.
    static let compactCounts: [String] = [
        "ALTER TABLE feeds ADD COLUMN number BIGINT NOT NULL DEFAULT 0",
        """
        UPDATE feeds SET number = numbered.position
        FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY created_at, id) AS position FROM feeds) AS numbered
        WHERE numbered.id = feeds.id
        """,
        "CREATE UNIQUE INDEX feeds_by_number ON feeds (number)",
        // A number is never used twice: accesses of a deleted feed may still be on their way.
        """
        INSERT INTO settings (name, value)
        SELECT 'feedNumber', CAST(COALESCE(MAX(number), 0) AS TEXT) FROM feeds
        """,

        "ALTER TABLE feed_accesses RENAME TO former_accesses",
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
        """
        INSERT INTO feed_accesses (sequence, previous, feed, number, accessed_at, client, status, network)
        SELECT sequence, COALESCE(LAG(sequence) OVER (PARTITION BY feed ORDER BY number), 0), feed, number,
            accessed_at, client, status, network
        FROM (
            SELECT ROW_NUMBER() OVER (ORDER BY a.number, feeds.number) AS sequence, feeds.number AS feed,
                a.number AS number, a.accessed_at AS accessed_at, \(code("a.client")) AS client, a.status AS status,
                a.network AS network
            FROM former_accesses AS a JOIN feeds ON feeds.id = a.feed_id
        ) AS numbered
        """,
        "DROP TABLE former_accesses",
        """
        INSERT INTO settings (name, value)
        SELECT 'accessSequence', CAST(COALESCE(MAX(sequence), 0) AS TEXT) FROM feed_accesses
        """,

        "ALTER TABLE feed_clients RENAME TO former_clients",
        """
        CREATE TABLE feed_clients (
            feed BIGINT NOT NULL,
            client BIGINT NOT NULL,
            access_count BIGINT NOT NULL,
            last_seen_at BIGINT NOT NULL,
            last_sequence BIGINT NOT NULL,
            PRIMARY KEY (feed, client)
        ) /* clustered */
        """,
        """
        INSERT INTO feed_clients (feed, client, access_count, last_seen_at, last_sequence)
        SELECT feeds.number, \(code("c.client")), SUM(c.access_count), MAX(c.last_seen_at), 0
        FROM former_clients AS c JOIN feeds ON feeds.id = c.feed_id
        GROUP BY feeds.number, \(code("c.client"))
        """,
        """
        UPDATE feed_clients SET last_sequence = newest.sequence
        FROM (SELECT feed, client, MAX(sequence) AS sequence FROM feed_accesses GROUP BY feed, client) AS newest
        WHERE newest.feed = feed_clients.feed AND newest.client = feed_clients.client
        """,
        "DROP TABLE former_clients",

        // The day comes first in the key, so that the counts of one day lie together.
        """
        CREATE TABLE feed_client_days (
            day BIGINT NOT NULL,
            feed BIGINT NOT NULL,
            client BIGINT NOT NULL,
            access_count BIGINT NOT NULL,
            PRIMARY KEY (day, feed, client)
        ) /* clustered */
        """,
        """
        INSERT INTO feed_client_days (day, feed, client, access_count)
        SELECT accessed_at / 86400000, feed, client, COUNT(*) FROM feed_accesses
        GROUP BY accessed_at / 86400000, feed, client
        """,

        // Both can be computed from feed_clients.
        "ALTER TABLE feeds DROP COLUMN access_count",
        "ALTER TABLE feeds DROP COLUMN last_accessed_at",
    ]

    /// The number of a family of clients, as in `ClientFamily`.
    private static func code(_ column: String) -> String {
        """
        CASE \(column)
            WHEN 'Apple Calendar (iOS)' THEN 1 WHEN 'Apple Calendar (macOS)' THEN 2 WHEN 'Google Calendar' THEN 3
            WHEN 'Outlook' THEN 4 WHEN 'Outlook.com or Exchange' THEN 5 WHEN 'Thunderbird' THEN 6
            WHEN 'Evolution or GNOME Calendar' THEN 7 WHEN 'Nextcloud' THEN 8 WHEN 'Home Assistant' THEN 9
            WHEN 'ICSx5' THEN 10 WHEN 'vdirsyncer or khal' THEN 11 WHEN 'Command line' THEN 12
            WHEN 'Browser' THEN 13 ELSE 0
        END
        """
    }
}
