CREATE TABLE changes (
    sequence BIGINT NOT NULL PRIMARY KEY,
    circle_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    type TEXT NOT NULL,
    collection TEXT,
    item_id TEXT,
    part TEXT,
    user_id TEXT,
    change TEXT NOT NULL CHECK (change IN ('created', 'updated', 'deleted'))
) /* clustered */
;
CREATE UNIQUE INDEX changes_by_circle ON changes (circle_id, number)
;
CREATE INDEX changes_by_time ON changes (at)
;
