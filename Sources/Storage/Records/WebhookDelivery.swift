// SPDX-License-Identifier: Apache-2.0

/// One message to a webhook, from its making until it was taken or given up.
public struct WebhookDelivery: Hashable, Sendable {
    public enum State: String, Hashable, Sendable, CaseIterable {
        case pending, delivered, failed
    }

    public var id: String
    public var webhookID: String
    /// Messages of one circle go out in this order; 0 until it is stored.
    public var ordinal: Int
    /// Empty for a trial.
    public var circleID: String
    /// The numbers of the changes in it.
    public var firstNumber: Int
    public var lastNumber: Int
    public var state: State
    public var attempts: Int
    public var nextAt: Int
    public var createdAt: Int
    /// Since when it could not be delivered.
    public var failingSince: Int?
    public var lastAttemptAt: Int?
    public var lastStatus: Int?
    public var lastProblem: String?
    public var finishedAt: Int?

    public init(id: String, webhookID: String, circleID: String, firstNumber: Int, lastNumber: Int, now: Int) {
        self.id = id
        self.webhookID = webhookID
        self.ordinal = 0
        self.circleID = circleID
        self.firstNumber = firstNumber
        self.lastNumber = lastNumber
        self.state = .pending
        self.attempts = 0
        self.nextAt = now
        self.createdAt = now
    }

    init(_ row: SQLRow) throws {
        id = try row.text(required: "id")
        webhookID = try row.text(required: "webhook_id")
        ordinal = try row.integer(required: "ordinal")
        circleID = try row.text(required: "circle_id")
        firstNumber = try row.integer(required: "first_number")
        lastNumber = try row.integer(required: "last_number")
        guard let state = State(rawValue: try row.text(required: "state")) else {
            throw StorageError.unexpectedResult("A delivery is in an unknown state.")
        }
        self.state = state
        attempts = try row.integer(required: "attempts")
        nextAt = try row.integer(required: "next_at")
        createdAt = try row.integer(required: "created_at")
        failingSince = row.integer("failing_since")
        lastAttemptAt = row.integer("last_attempt_at")
        lastStatus = row.integer("last_status")
        lastProblem = row.text("last_problem")
        finishedAt = row.integer("finished_at")
    }
}

extension ReadTransaction {
    public func delivery(_ id: String) throws -> WebhookDelivery? {
        try row("SELECT * FROM webhook_deliveries WHERE id = $1", [.text(id)]).map(WebhookDelivery.init)
    }

    /// A webhook's messages, newest first, below an ordinal.
    public func deliveries(of webhook: String, before ordinal: Int, limit: Int) throws -> [WebhookDelivery] {
        try rows(
            """
            SELECT * FROM webhook_deliveries WHERE webhook_id = $1 AND ordinal < $2 ORDER BY ordinal DESC LIMIT $3
            """, [.text(webhook), .integer(ordinal), .integer(limit)]
        ).map(WebhookDelivery.init)
    }

    /// How many messages of a webhook wait.
    public func pendingDeliveries(of webhook: String) throws -> Int {
        try row(
            "SELECT COUNT(*) AS count FROM webhook_deliveries WHERE webhook_id = $1 AND state = 'pending'",
            [.text(webhook)])?.integer("count") ?? 0
    }

    /// The messages to send now: of each webhook and circle the first that waits, when its time has come.
    public func dueDeliveries(now: Int, limit: Int) throws -> [WebhookDelivery] {
        try rows(
            """
            SELECT d.* FROM webhook_deliveries AS d
            JOIN webhooks ON webhooks.id = d.webhook_id AND webhooks.state = 'active'
            WHERE d.state = 'pending' AND d.next_at <= $1 AND NOT EXISTS (
                SELECT 1 FROM webhook_deliveries AS earlier
                WHERE earlier.webhook_id = d.webhook_id AND earlier.state = 'pending'
                    AND earlier.circle_id = d.circle_id AND earlier.ordinal < d.ordinal)
            ORDER BY d.next_at, d.ordinal LIMIT $2
            """, [.integer(now), .integer(limit)]
        ).map(WebhookDelivery.init)
    }
}

extension WriteTransaction {
    /// Adds a message behind all others of its webhook.
    public func insertDelivery(_ delivery: WebhookDelivery) throws {
        try execute(
            """
            INSERT INTO webhook_deliveries (id, webhook_id, ordinal, circle_id, first_number, last_number, state,
                next_at, created_at)
            VALUES ($1, $2, (SELECT COALESCE(MAX(ordinal), 0) + 1 FROM webhook_deliveries WHERE webhook_id = $2), $3,
                $4, $5, $6, $7, $8)
            """,
            [
                .text(delivery.id), .text(delivery.webhookID), .text(delivery.circleID),
                .integer(delivery.firstNumber), .integer(delivery.lastNumber), .text(delivery.state.rawValue),
                .integer(delivery.nextAt), .integer(delivery.createdAt),
            ])
    }

    /// Stores what came of an attempt.
    public func updateDelivery(_ delivery: WebhookDelivery) throws {
        try execute(
            """
            UPDATE webhook_deliveries SET state = $2, attempts = $3, next_at = $4, failing_since = $5,
                last_attempt_at = $6, last_status = $7, last_problem = $8, finished_at = $9
            WHERE id = $1
            """,
            [
                .text(delivery.id), .text(delivery.state.rawValue), .integer(delivery.attempts),
                .integer(delivery.nextAt), SQLValue(delivery.failingSince), SQLValue(delivery.lastAttemptAt),
                SQLValue(delivery.lastStatus), SQLValue(delivery.lastProblem), SQLValue(delivery.finishedAt),
            ])
    }

    /// Makes a webhook's waiting messages due at once, with all the time before them again.
    public func hurryDeliveries(of webhook: String, now: Int) throws {
        try execute(
            """
            UPDATE webhook_deliveries SET next_at = $2, attempts = 0, failing_since = NULL
            WHERE webhook_id = $1 AND state = 'pending'
            """, [.text(webhook), .integer(now)])
    }

    public func pruneDeliveries(before time: Int) throws {
        try execute(
            "DELETE FROM webhook_deliveries WHERE state <> 'pending' AND finished_at < $1", [.integer(time)])
    }
}
