// SPDX-License-Identifier: Apache-2.0

/// An address of a host application to which changes are sent.
public struct Webhook: Hashable, Sendable {
    public var id: String
    public var sealedURL: String
    /// The circles whose changes are sent; nil for all.
    public var circles: [String]?
    /// The kinds of things whose changes are sent; nil for all.
    public var subjects: [CircleChange.Subject]?
    public var isActive: Bool
    /// The reason why it is not active.
    public var disabledReason: String?
    public var sealedSecret: String
    public var secretHint: String
    /// The previous secret, which also signs until `formerEndsAt`.
    public var sealedFormer: String?
    public var formerEndsAt: Int?
    /// The sequence number of the last change that was examined.
    public var position: Int
    public var createdAt: Int
    public var updatedAt: Int
    /// When messages began to fail; nil when the receiver accepted the last one.
    public var failingSince: Int?
    public var lastDeliveredAt: Int?

    public init(
        id: String, sealedURL: String, circles: [String]?, subjects: [CircleChange.Subject]?, sealedSecret: String,
        secretHint: String, position: Int, now: Int
    ) {
        self.id = id
        self.sealedURL = sealedURL
        self.circles = circles
        self.subjects = subjects
        self.isActive = true
        self.sealedSecret = sealedSecret
        self.secretHint = secretHint
        self.position = position
        self.createdAt = now
        self.updatedAt = now
    }

    init(_ row: SQLRow) throws {
        id = try row.text(required: "id")
        sealedURL = try row.text(required: "sealed_url")
        // Neither contains a space: ids of circles cannot, and names of subjects do not.
        circles = row.text("circles").map { $0.split(separator: " ").map(String.init) }
        subjects = try row.text("types").map {
            try $0.split(separator: " ").map { name in
                guard let subject = CircleChange.Subject(rawValue: String(name)) else {
                    throw StorageError.unexpectedResult("A webhook wants an unknown kind of change.")
                }
                return subject
            }
        }
        switch try row.text(required: "state") {
        case "active": isActive = true
        case "disabled": isActive = false
        default: throw StorageError.unexpectedResult("A webhook is in an unknown state.")
        }
        disabledReason = row.text("disabled_reason")
        sealedSecret = try row.text(required: "sealed_secret")
        secretHint = try row.text(required: "secret_hint")
        sealedFormer = row.text("sealed_former")
        formerEndsAt = row.integer("former_ends_at")
        position = try row.integer(required: "position")
        createdAt = try row.integer(required: "created_at")
        updatedAt = try row.integer(required: "updated_at")
        failingSince = row.integer("failing_since")
        lastDeliveredAt = row.integer("last_delivered_at")
    }

    /// Whether this webhook is sent a change.
    public func wants(_ change: CircleChange) -> Bool {
        circles?.contains(change.circleID) != false && subjects?.contains(change.subject) != false
    }
}

extension ReadTransaction {
    public func webhook(_ id: String) throws -> Webhook? {
        try row("\(select: .webhooks) WHERE id = $1", [.text(id)]).map(Webhook.init)
    }

    public func webhooks(after cursor: String, limit: Int) throws -> [Webhook] {
        try rows("\(select: .webhooks) WHERE id > $1 ORDER BY id LIMIT $2", [.text(cursor), .integer(limit)])
            .map(Webhook.init)
    }

    /// Returns the ids of the active webhooks with waiting messages, whether or not these are due.
    public func webhooksWithPending() throws -> [String] {
        try rows(
            """
            SELECT id FROM webhooks WHERE state = 'active' AND EXISTS (
                SELECT 1 FROM webhook_deliveries WHERE webhook_id = webhooks.id AND state = 'pending')
            ORDER BY id
            """, []
        ).map { try $0.text(required: "id") }
    }

    /// Returns the active webhooks that have not examined the latest change.
    public func webhooksBehind(_ latest: Int) throws -> [Webhook] {
        try rows("\(select: .webhooks) WHERE state = 'active' AND position < $1 ORDER BY id", [.integer(latest)])
            .map(Webhook.init)
    }
}

extension WriteTransaction {
    /// Stores a new or changed webhook.
    public func putWebhook(_ hook: Webhook) throws {
        try execute(
            """
            INSERT INTO webhooks (id, sealed_url, circles, types, state, disabled_reason, sealed_secret, secret_hint,
                sealed_former, former_ends_at, position, created_at, updated_at, failing_since, last_delivered_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
            ON CONFLICT (id) DO UPDATE SET sealed_url = EXCLUDED.sealed_url, circles = EXCLUDED.circles,
                types = EXCLUDED.types, state = EXCLUDED.state, disabled_reason = EXCLUDED.disabled_reason,
                sealed_secret = EXCLUDED.sealed_secret, secret_hint = EXCLUDED.secret_hint,
                sealed_former = EXCLUDED.sealed_former, former_ends_at = EXCLUDED.former_ends_at,
                position = EXCLUDED.position, updated_at = EXCLUDED.updated_at,
                failing_since = EXCLUDED.failing_since, last_delivered_at = EXCLUDED.last_delivered_at
            """,
            [
                .text(hook.id), .text(hook.sealedURL), SQLValue(hook.circles?.joined(separator: " ")),
                SQLValue(hook.subjects?.map(\.rawValue).joined(separator: " ")),
                .text(hook.isActive ? "active" : "disabled"), SQLValue(hook.disabledReason), .text(hook.sealedSecret),
                .text(hook.secretHint), SQLValue(hook.sealedFormer), SQLValue(hook.formerEndsAt),
                .integer(hook.position), .integer(hook.createdAt), .integer(hook.updatedAt),
                SQLValue(hook.failingSince), SQLValue(hook.lastDeliveredAt),
            ])
    }

    /// Removes a webhook with its messages; returns false when there is no such webhook.
    public func deleteWebhook(_ id: String) throws -> Bool {
        try execute("DELETE FROM webhooks WHERE id = $1", [.text(id)]) > 0
    }
}
