DROP INDEX schedule_items_by_patient
;
DROP INDEX schedule_items_by_owner
;
CREATE INDEX schedule_items_by_patient ON schedule_items (circle_id, patient_id) WHERE patient_id IS NOT NULL
;
CREATE INDEX schedule_items_by_owner ON schedule_items (circle_id, owner_id) WHERE owner_id IS NOT NULL
;
