ALTER TABLE feed_tokens ADD COLUMN replaced_at BIGINT
;
ALTER TABLE feed_tokens ADD COLUMN notice_uid TEXT
;
ALTER TABLE feed_tokens ADD COLUMN notice_sequence BIGINT NOT NULL DEFAULT 0
;
ALTER TABLE feed_tokens ADD COLUMN noticed_at BIGINT
;
