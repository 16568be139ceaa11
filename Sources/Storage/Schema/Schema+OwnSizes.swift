// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The size of users' own events, so that nobody can fill the server.
    static let ownSizes: [String] = [
        // The bytes of the events' texts, including deleted ones.
        "ALTER TABLE personal_calendars ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0",
        """
        UPDATE personal_calendars SET bytes = (
            SELECT COALESCE(SUM(length(CAST(title AS BLOB)) + COALESCE(length(CAST(description AS BLOB)), 0)
                + COALESCE(length(CAST(location AS BLOB)), 0) + COALESCE(length(CAST(recurrence AS BLOB)), 0)
                + COALESCE(length(CAST(external_id AS BLOB)), 0)
                + COALESCE(length(CAST(external_instance_id AS BLOB)), 0)
                + COALESCE(length(CAST(external_calendar_id AS BLOB)), 0)
                + COALESCE(length(CAST(source_device AS BLOB)), 0)), 0)
            FROM personal_events WHERE personal_events.user_id = personal_calendars.user_id)
        """,
        """
        CREATE TABLE planned_calendars (
            user_id TEXT NOT NULL PRIMARY KEY CHECK (length(user_id) BETWEEN 1 AND 128),
            events BIGINT NOT NULL,
            bytes BIGINT NOT NULL
        ) /* clustered */
        """,
        """
        INSERT INTO planned_calendars (user_id, events, bytes)
        SELECT user_id, COUNT(*), SUM(length(CAST(external_id AS BLOB)) + length(CAST(title AS BLOB))
            + COALESCE(length(CAST(calendar_name AS BLOB)), 0))
        FROM planned_events GROUP BY user_id
        """,
    ]
}
