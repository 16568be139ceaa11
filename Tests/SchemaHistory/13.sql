CREATE TABLE circle_usage (
    circle_id TEXT NOT NULL PRIMARY KEY REFERENCES circles (id) ON DELETE CASCADE,
    items BIGINT NOT NULL,
    bytes BIGINT NOT NULL
) /* clustered */
;
INSERT INTO circle_usage (circle_id, items, bytes)
SELECT circle_id, COUNT(*), SUM(LENGTH(content)) FROM schedule_items GROUP BY circle_id
;
CREATE TABLE import_usage (
    circle_id TEXT NOT NULL REFERENCES circles (id) ON DELETE CASCADE,
    day BIGINT NOT NULL,
    files BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (circle_id, day)
) /* clustered */
;
