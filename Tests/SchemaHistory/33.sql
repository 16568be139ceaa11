ALTER TABLE connection_authorizations ADD COLUMN sealed_code TEXT
;
