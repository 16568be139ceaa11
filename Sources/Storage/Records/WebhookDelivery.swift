// SPDX-License-Identifier: Apache-2.0

/// One message to a webhook, from its creation until it was accepted or given up.
public struct WebhookDelivery: Hashable, Sendable {
    public enum State: String, Hashable, Sendable, CaseIterable {
        case pending, delivered, failed
    }

    public var id: String
    public var webhookID: String
    /// The place of the message, 0 until it is stored; the messages of one circle are sent in the order of these
    /// numbers.
    public var ordinal: Int
    /// The circle's id; empty for a test message.
    public var circleID: String
    /// The numbers of the first and the last change in it.
    public var firstNumber: Int
    public var lastNumber: Int
    public var state: State
    public var attempts: Int
    public var nextAt: Int
    public var createdAt: Int
    /// When an attempt to deliver it first failed.
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
        try row("\(select: .webhookDeliveries) WHERE id = $1", [.text(id)]).map(WebhookDelivery.init)
    }

    /// Returns a webhook's messages below an ordinal, newest first.
    public func deliveries(of webhook: String, before ordinal: Int, limit: Int) throws -> [WebhookDelivery] {
        try rows(
            """
            \(select: .webhookDeliveries) WHERE webhook_id = $1 AND ordinal < $2 ORDER BY ordinal DESC LIMIT $3
            """, [.text(webhook), .integer(ordinal), .integer(limit)]
        ).map(WebhookDelivery.init)
    }

    /// Counts the waiting messages of a webhook.
    public func pendingDeliveries(of webhook: String) throws -> Int {
        try row(
            "SELECT COUNT(*) AS count FROM webhook_deliveries WHERE webhook_id = $1 AND state = 'pending'",
            [.text(webhook)])?.integer("count") ?? 0
    }

    /// Counts the waiting messages of a webhook for one circle, or its test messages when `circle` is empty.
    public func pendingDeliveries(of webhook: String, circle: String) throws -> Int {
        try row(
            """
            SELECT COUNT(*) AS count FROM webhook_deliveries
            WHERE webhook_id = $1 AND state = 'pending' AND circle_id = $2
            """, [.text(webhook), .text(circle)])?.integer("count") ?? 0
    }

    /// Returns the messages that an active webhook is to be sent now: the first waiting one of each circle, if it is
    /// due.
    ///
    /// The query goes from circle to circle through the index, however many messages wait behind each first one.
    public func dueDeliveries(of webhook: String, now: Int, limit: Int) throws -> [WebhookDelivery] {
        try rows(
            """
            WITH RECURSIVE circle (id) AS (
                SELECT MIN(circle_id) FROM webhook_deliveries WHERE webhook_id = $1 AND state = 'pending'
                UNION ALL
                SELECT (SELECT MIN(circle_id) FROM webhook_deliveries
                    WHERE webhook_id = $1 AND state = 'pending' AND circle_id > circle.id)
                FROM circle WHERE circle.id IS NOT NULL
            )
            SELECT \(columns: .webhookDeliveries, of: "d") FROM circle JOIN webhook_deliveries AS d ON d.id = (
                SELECT head.id FROM webhook_deliveries AS head
                WHERE head.webhook_id = $1 AND head.state = 'pending' AND head.circle_id = circle.id
                ORDER BY head.ordinal LIMIT 1)
            JOIN webhooks ON webhooks.id = d.webhook_id AND webhooks.state = 'active'
            WHERE circle.id IS NOT NULL AND d.next_at <= $2 ORDER BY d.next_at, d.ordinal LIMIT $3
            """, [.text(webhook), .integer(now), .integer(limit)]
        ).map(WebhookDelivery.init)
    }
}

extension ReadTransaction {
    /// Returns messages that were accepted or given up before a time.
    public func finishedDeliveries(before time: Int, limit: Int) throws -> [String] {
        try rows(
            "SELECT id FROM webhook_deliveries WHERE state <> 'pending' AND finished_at < $1 LIMIT $2",
            [.integer(time), .integer(limit)]
        ).map { try $0.text(required: "id") }
    }
}

extension WriteTransaction {
    /// Adds a message after all others of its webhook.
    public func insertDelivery(_ delivery: WebhookDelivery) throws {
        let ordinal = try nextDeliveryOrdinal(of: delivery.webhookID)
        try execute(
            """
            INSERT INTO webhook_deliveries (id, webhook_id, ordinal, circle_id, first_number, last_number, state,
                next_at, created_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """,
            [
                .text(delivery.id), .text(delivery.webhookID), .integer(ordinal), .text(delivery.circleID),
                .integer(delivery.firstNumber), .integer(delivery.lastNumber), .text(delivery.state.rawValue),
                .integer(delivery.nextAt), .integer(delivery.createdAt),
            ])
    }

    /// Stores the result of an attempt.
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

    /// Makes a webhook's waiting messages due at once, and restarts their time for retries.
    public func hurryDeliveries(of webhook: String, now: Int) throws {
        try execute(
            """
            UPDATE webhook_deliveries SET next_at = $2, attempts = 0, failing_since = NULL
            WHERE webhook_id = $1 AND state = 'pending'
            """, [.text(webhook), .integer(now)])
    }

    public func deleteDeliveries(_ ids: some Sequence<String>) throws {
        for id in ids { try execute("DELETE FROM webhook_deliveries WHERE id = $1", [.text(id)]) }
    }

    /// Removes some of a webhook's messages; returns false when none is left.
    public func deleteDeliveries(of webhook: String, limit: Int) throws -> Bool {
        try execute(
            "DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries WHERE webhook_id = $1 LIMIT $2)",
            [.text(webhook), .integer(limit)]) == limit
    }
}
