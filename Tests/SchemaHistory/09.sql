CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    sealed_url TEXT NOT NULL,
    circles TEXT,
    types TEXT,
    state TEXT NOT NULL CHECK (state IN ('active', 'disabled')),
    disabled_reason TEXT,
    sealed_secret TEXT NOT NULL,
    secret_hint TEXT NOT NULL,
    sealed_former TEXT,
    former_ends_at BIGINT,
    position BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    failing_since BIGINT,
    last_delivered_at BIGINT
)
;
CREATE TABLE webhook_deliveries (
    id TEXT NOT NULL PRIMARY KEY,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    ordinal BIGINT NOT NULL,
    circle_id TEXT NOT NULL,
    first_number BIGINT NOT NULL,
    last_number BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts BIGINT NOT NULL DEFAULT 0,
    next_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    failing_since BIGINT,
    last_attempt_at BIGINT,
    last_status BIGINT,
    last_problem TEXT,
    finished_at BIGINT
)
;
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (webhook_id, state, circle_id, ordinal)
;
CREATE INDEX webhook_deliveries_by_ordinal ON webhook_deliveries (webhook_id, ordinal)
;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (state, next_at)
;
