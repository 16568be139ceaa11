// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The marks of events in phones' calendars, which outlive a connection.
    static let phoneMarks: [String] = [
        // mark is the id of the connection that wrote the mark first; connection_id is the one that uses it now, or
        // used it last, and ended_at is when that one ended. A connection without a row uses its own id as the mark.
        """
        CREATE TABLE phone_marks (
            mark TEXT NOT NULL PRIMARY KEY,
            circle_id TEXT NOT NULL,
            user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
            connection_id TEXT NOT NULL UNIQUE,
            ended_at BIGINT
        ) /* clustered */
        """,
        "CREATE INDEX phone_marks_by_user ON phone_marks (user_id, circle_id)",
    ]
}
