// SPDX-License-Identifier: Apache-2.0

/// One message to a webhook, from its creation until it was accepted or given up.
public struct WebhookDelivery: Hashable, Sendable {
    public enum State: String, Hashable, Sendable, CaseIterable, ColumnValue {
        case pending, delivered, failed
    }

    public var id = ""
    public var webhookID = ""
    /// The place of the message, 0 until it is stored; the messages of one circle are sent in the order of these
    /// numbers.
    public var ordinal = 0
    /// The circle's id; empty for a test message.
    public var circleID = ""
    /// The numbers of the first and the last change in it.
    public var firstNumber = 0
    public var lastNumber = 0
    public var state = State.pending
    public var attempts = 0
    public var nextAt = 0
    public var createdAt = 0
    /// When an attempt to deliver it first failed.
    public var failingSince: Int?
    public var lastAttemptAt: Int?
    public var lastStatus: Int?
    public var lastProblem: String?
    public var finishedAt: Int?
}

extension WebhookDelivery: StoredRow {
    public init(id: String, webhookID: String, circleID: String, firstNumber: Int, lastNumber: Int, now: Int) {
        self.init(
            id: id, webhookID: webhookID, circleID: circleID, firstNumber: firstNumber, lastNumber: lastNumber,
            nextAt: now, createdAt: now)
    }

    static let table = RecordTable<WebhookDelivery>(
        "webhook_deliveries",
        [
            .init("id", \.id), .once("webhook_id", \.webhookID), .once("ordinal", \.ordinal),
            .once("circle_id", \.circleID), .once("first_number", \.firstNumber), .once("last_number", \.lastNumber),
            .init("state", \.state), .init("attempts", \.attempts), .init("next_at", \.nextAt),
            .once("created_at", \.createdAt), .init("failing_since", \.failingSince),
            .init("last_attempt_at", \.lastAttemptAt), .init("last_status", \.lastStatus),
            .init("last_problem", \.lastProblem), .init("finished_at", \.finishedAt),
            .derived("shard") { Shards.number(of: $0.circleID) },
        ])
}

extension ReadTransaction {
    public func delivery(_ id: String) throws -> WebhookDelivery? {
        try first("WHERE id = $1", [.text(id)])
    }

    /// Returns a webhook's messages below an ordinal, newest first.
    public func deliveries(of webhook: String, before ordinal: Int, limit: Int) throws -> [WebhookDelivery] {
        try all(
            "WHERE webhook_id = $1 AND ordinal < $2 ORDER BY ordinal DESC LIMIT $3",
            [.text(webhook), .integer(ordinal), .integer(limit)])
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
            WHERE webhook_id = $1 AND state = 'pending' AND shard = $3 AND circle_id = $2
            """, [.text(webhook), .text(circle), .integer(Shards.number(of: circle))])?.integer("count") ?? 0
    }

    /// Returns the messages that an active webhook is to be sent now: the first waiting one of each circle in these
    /// shards, if it is due.
    ///
    /// The query goes from circle to circle of each shard through the index, however many messages wait behind each first
    /// one, and however many circles wait in other shards.
    public func dueDeliveries(
        of webhook: String, now: Int, in shards: Shards = .all, limit: Int
    ) throws -> [WebhookDelivery] {
        var arguments: [SQLValue] = [.text(webhook), .integer(now), .integer(limit)]
        let isIn = shards.condition(ofNumber: "place.number", &arguments)
        let waiting = "FROM webhook_deliveries WHERE webhook_id = $1 AND state = 'pending'"
        return try rows(
            """
            WITH RECURSIVE place (number) AS (
                SELECT MIN(shard) \(waiting)
                UNION ALL
                SELECT (SELECT MIN(shard) \(waiting) AND shard > place.number)
                FROM place WHERE place.number IS NOT NULL
            ), circle (shard, id) AS (
                SELECT place.number, (SELECT MIN(circle_id) \(waiting) AND shard = place.number)
                FROM place WHERE place.number IS NOT NULL\(isIn)
                UNION ALL
                SELECT circle.shard, (
                    SELECT MIN(circle_id) \(waiting) AND shard = circle.shard AND circle_id > circle.id)
                FROM circle WHERE circle.id IS NOT NULL
            )
            SELECT \(columns: WebhookDelivery.self, of: "d") FROM circle JOIN webhook_deliveries AS d ON d.id = (
                SELECT head.id FROM webhook_deliveries AS head
                WHERE head.webhook_id = $1 AND head.state = 'pending' AND head.shard = circle.shard
                    AND head.circle_id = circle.id
                ORDER BY head.ordinal LIMIT 1)
            JOIN webhooks ON webhooks.id = d.webhook_id AND webhooks.state = 'active'
            WHERE circle.id IS NOT NULL AND d.next_at <= $2 ORDER BY d.next_at, d.ordinal LIMIT $3
            """, arguments
        ).map(WebhookDelivery.init)
    }

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
        var delivery = delivery
        delivery.ordinal = try nextDeliveryOrdinal(of: delivery.webhookID)
        try insert(new: delivery)
    }

    /// Stores the result of an attempt.
    public func updateDelivery(_ delivery: WebhookDelivery) throws { try update(delivery) }

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
