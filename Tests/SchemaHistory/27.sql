CREATE TABLE change_numbers (circle_id TEXT NOT NULL PRIMARY KEY, last_number BIGINT NOT NULL) /* clustered */
;
INSERT INTO change_numbers (circle_id, last_number)
SELECT circle_id, MAX(number) FROM changes GROUP BY circle_id
;
CREATE TABLE counters (name TEXT NOT NULL PRIMARY KEY, last_number BIGINT NOT NULL) /* clustered */
;
INSERT INTO counters (name, last_number) SELECT 'changes', COALESCE(MAX(sequence), 0) FROM changes
;
INSERT INTO counters (name, last_number) SELECT 'auditTrail', COALESCE(MAX(number), 0) FROM audit_trail
;
ALTER TABLE webhooks ADD COLUMN last_ordinal BIGINT NOT NULL DEFAULT 0
;
UPDATE webhooks SET last_ordinal = COALESCE(
    (SELECT MAX(ordinal) FROM webhook_deliveries WHERE webhook_id = webhooks.id), 0)
;
