ALTER TABLE feed_clients ADD COLUMN first_day BIGINT NOT NULL DEFAULT 0
;
ALTER TABLE feed_clients ADD COLUMN networks BIGINT NOT NULL DEFAULT 0
;
ALTER TABLE feed_clients ADD COLUMN networks_before BIGINT NOT NULL DEFAULT 0
;
CREATE TABLE feed_attention (
    feed BIGINT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('newClient', 'manyNetworks')),
    client BIGINT NOT NULL,
    noted_at BIGINT NOT NULL,
    networks BIGINT,
    cleared_at BIGINT,
    PRIMARY KEY (feed, kind, client)
) /* clustered */
;
