ALTER TABLE schedule_items ADD COLUMN changed_in BIGINT NOT NULL DEFAULT 0
;
ALTER TABLE imported_events ADD COLUMN changed_in BIGINT NOT NULL DEFAULT 0
;
CREATE INDEX schedule_items_by_change ON schedule_items (circle_id, changed_in)
;
CREATE INDEX imported_events_by_change ON imported_events (circle_id, changed_in)
;
