// SPDX-License-Identifier: Apache-2.0

/// The holder of accesses: a feed, or an app password. Both have a number of one sequence, under which accesses are counted.
enum AccessHolder {
    /// Selects the number of the holder whose id is the first parameter.
    static let number = """
        (SELECT number FROM feeds WHERE id = $1 UNION ALL SELECT number FROM app_passwords WHERE id = $1)
        """

    /// SQL columns with the access count and the last access time of each feed or app password in a table.
    static func counts(of table: String) -> String {
        """
        (SELECT CAST(COALESCE(SUM(c.access_count), 0) AS BIGINT) FROM feed_clients AS c
            WHERE c.feed = \(table).number) AS access_count,
        (SELECT c.last_seen_at FROM feed_clients AS c WHERE c.feed = \(table).number
            ORDER BY c.last_sequence DESC, c.last_seen_at DESC LIMIT 1) AS last_accessed_at
        """
    }
}

extension WriteTransaction {
    /// Takes the next number of a holder; none is ever used twice.
    func nextAccessNumber() throws -> Int {
        let given = try row(
            """
            UPDATE settings SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE name = 'feedNumber'
            RETURNING CAST(value AS BIGINT) AS number
            """, [])
        guard let number = try given?.integer(required: "number") else {
            throw StorageError.unexpectedResult("Feeds are not numbered.")
        }
        return number
    }
}
