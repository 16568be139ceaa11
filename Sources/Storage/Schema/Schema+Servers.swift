// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Settings and counters, and records that servers of a shared database need of each other; those stay empty when
    /// there is only one server.
    static let servers: [String] = [
        "CREATE TABLE settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",

        // Counters for numbering without gaps, with one row each, which a transaction locks from its first number on:
        // when several write, the others wait for that row, so that numbers are in the order of the commits, and a
        // reader that has seen a number will not find a lower one later. The audit trail numbers itself by its last
        // entry, which its hash needs; its row only lets one transaction at a time write it.
        "CREATE TABLE counters (name TEXT NOT NULL PRIMARY KEY, last_number BIGINT NOT NULL) /* clustered */",
        """
        INSERT INTO counters (name, last_number) VALUES ('auditTrail', 0), ('changes', 0), ('leases', 0),
            ('writesForgotten', 0)
        """,

        // The circles that a write concerned, by the number that the database gave its transaction; an empty text means every
        // circle. The counter `writesForgotten` is the highest number whose rows may have been removed.
        """
        CREATE TABLE written_circles (
            written_in BIGINT NOT NULL,
            circle TEXT NOT NULL,
            PRIMARY KEY (written_in, circle)
        ) /* clustered */
        """,
        // The holders of work that only one server at a time may do. An epoch is used once, so that a former holder is
        // detected.
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
