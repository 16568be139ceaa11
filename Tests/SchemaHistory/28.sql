INSERT INTO counters (name, last_number) VALUES ('writes', 0)
;
CREATE TABLE written_circles (
    number BIGINT NOT NULL,
    circle TEXT NOT NULL,
    PRIMARY KEY (number, circle)
) /* clustered */
;
INSERT INTO counters (name, last_number) VALUES ('leases', 0)
;
CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    note TEXT NOT NULL
) /* clustered */
;
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
;
