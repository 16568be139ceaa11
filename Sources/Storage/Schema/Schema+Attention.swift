// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Records of a feed's accesses that its owner should look at.
    ///
    /// The data that finds them is in the row that each access changes anyway: the day on which a client came first (0
    /// for earlier clients, which did not come on a feed's first days), and from how many networks it came on its last
    /// two days (`NetworkSketch`).
    static let attention: [String] = [
        "ALTER TABLE feed_clients ADD COLUMN first_day BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE feed_clients ADD COLUMN networks BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE feed_clients ADD COLUMN networks_before BIGINT NOT NULL DEFAULT 0",
        // client is -1 where it does not apply; a row with cleared_at was seen by the feed's owner.
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
