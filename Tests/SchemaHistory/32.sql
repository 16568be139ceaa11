ALTER TABLE sync_journal ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0
;
ALTER TABLE sync_conflicts ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0
;
CREATE INDEX sync_journal_sizes ON sync_journal (connection_id, number, bytes)
;
CREATE INDEX sync_conflicts_sizes ON sync_conflicts (connection_id, state, number, bytes)
;
DROP INDEX personal_events_by_item
;
CREATE INDEX personal_events_by_item
    ON personal_events (connection_id, collection, item_id, generation, instance_key)
    WHERE connection_id IS NOT NULL
;
