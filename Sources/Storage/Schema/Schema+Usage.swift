// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// How much of the quotas circles use, so that nobody has to count all of it for one item more.
    static let usage: [String] = [
        // The items of a circle that were ever put, and the bytes of their content.
        """
        CREATE TABLE circle_usage (
            circle_id TEXT NOT NULL PRIMARY KEY REFERENCES circles (id) ON DELETE CASCADE,
            items BIGINT NOT NULL,
            bytes BIGINT NOT NULL
        ) /* clustered */
        """,
        """
        INSERT INTO circle_usage (circle_id, items, bytes)
        SELECT circle_id, COUNT(*), SUM(LENGTH(content)) FROM schedule_items GROUP BY circle_id
        """,
        // The files that were imported into a circle on a day, counted from 1970 in UTC, and their bytes.
        """
        CREATE TABLE import_usage (
            circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
            day BIGINT NOT NULL,
            files BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            PRIMARY KEY (circle_id, day)
        ) /* clustered */
        """,
    ]
}
