CREATE TABLE phone_marks (
    mark TEXT NOT NULL PRIMARY KEY,
    circle_id TEXT NOT NULL,
    user_id TEXT NOT NULL CHECK (length(user_id) BETWEEN 1 AND 128),
    connection_id TEXT NOT NULL UNIQUE,
    ended_at BIGINT
) /* clustered */
;
CREATE INDEX phone_marks_by_user ON phone_marks (user_id, circle_id)
;
