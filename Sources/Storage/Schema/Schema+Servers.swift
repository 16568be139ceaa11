// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Records that servers of a shared database need of each other; all of them stay empty when there is only one
    /// server.
    static let servers: [String] = [
        // The circles that a write concerned, by its number; an empty text stands for every circle. Numbers are in the
        // order of the commits and have no gaps.
        "INSERT INTO counters (name, last_number) VALUES ('writes', 0)",
        """
        CREATE TABLE written_circles (
            number BIGINT NOT NULL,
            circle TEXT NOT NULL,
            PRIMARY KEY (number, circle)
        ) /* clustered */
        """,
        // The holders of work that only one server at a time may do. An epoch is used once, so that a former holder is
        // detected.
        "INSERT INTO counters (name, last_number) VALUES ('leases', 0)",
        """
        CREATE TABLE leases (
            name TEXT NOT NULL PRIMARY KEY,
            holder TEXT NOT NULL,
            epoch BIGINT NOT NULL,
            ends_at BIGINT NOT NULL,
            note TEXT NOT NULL
        ) /* clustered */
        """,
        // A server is identified by the mark of its journal of accesses; its token changes with every start.
        """
        CREATE TABLE servers (
            journal TEXT NOT NULL PRIMARY KEY,
            token TEXT NOT NULL,
            name TEXT NOT NULL,
            program TEXT NOT NULL,
            shown TEXT NOT NULL,
            folded BIGINT NOT NULL,
            recorded BIGINT NOT NULL,
            started_at BIGINT NOT NULL,
            seen_at BIGINT NOT NULL,
            stopped_at BIGINT
        ) /* clustered */
        """,
    ]
}
