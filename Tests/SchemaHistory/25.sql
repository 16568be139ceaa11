ALTER TABLE feed_clients ADD COLUMN seen_version BIGINT NOT NULL DEFAULT 0
;
ALTER TABLE schedule_items ADD COLUMN shown_in BIGINT
;
ALTER TABLE schedule_items ADD COLUMN shown_as TEXT CHECK (shown_as IN ('created', 'updated'))
;
ALTER TABLE users ADD COLUMN reads_phone BIGINT
;
