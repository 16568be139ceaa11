// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// How much of their quotas circles use, so that nobody has to count everything for one more item.
    static let usage: [String] = [
        // The items that were ever stored in a circle, and the bytes of their content.
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
        // The files that were imported into a circle on a day (in UTC, since 1970-01-01), and their bytes.
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
