CREATE TABLE import_items (
    import_id TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
    block BIGINT NOT NULL,
    items TEXT NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (import_id, block)
)
;
ALTER TABLE imports ADD COLUMN stage TEXT
;
ALTER TABLE imports ADD COLUMN problem TEXT
;
ALTER TABLE imports ADD COLUMN outline TEXT
;
CREATE INDEX imports_by_circle ON imports (circle_id, created_at, id)
;
