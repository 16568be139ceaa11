// SPDX-License-Identifier: Apache-2.0

/// An address of a host application to which changes are sent.
public struct Webhook: Hashable, Sendable {
    enum State: String, ColumnValue {
        case active, disabled
    }

    public var id = ""
    public var sealedURL = ""
    /// The circles whose changes are sent; nil for all.
    public var circles: [String]?
    /// The kinds of things whose changes are sent; nil for all.
    public var subjects: [CircleChange.Subject]?
    var state = State.active
    /// The reason why it is not active.
    public var disabledReason: String?
    public var sealedSecret = ""
    public var secretHint = ""
    /// The previous secret, which also signs until `formerEndsAt`.
    public var sealedFormer: String?
    public var formerEndsAt: Int?
    /// The sequence number of the last change that was examined.
    public var position = 0
    public var createdAt = 0
    public var updatedAt = 0
    /// When messages began to fail; nil when the receiver accepted the last one.
    public var failingSince: Int?
    public var lastDeliveredAt: Int?

    public var isActive: Bool {
        get { state == .active }
        set { state = newValue ? .active : .disabled }
    }

    /// Whether this webhook is sent a change.
    public func wants(_ change: CircleChange) -> Bool {
        circles?.contains(change.circleID) != false && subjects?.contains(change.subject) != false
    }
}

extension Webhook: StoredRow {
    public init(
        id: String, sealedURL: String, circles: [String]?, subjects: [CircleChange.Subject]?, sealedSecret: String,
        secretHint: String, position: Int, now: Int
    ) {
        self.init(
            id: id, sealedURL: sealedURL, circles: circles, subjects: subjects, sealedSecret: sealedSecret,
            secretHint: secretHint, position: position, createdAt: now, updatedAt: now)
    }

    static let table = RecordTable<Webhook>(
        "webhooks",
        [
            .init("id", \.id), .init("sealed_url", \.sealedURL), .init("circles", \.circles),
            .init("types", \.subjects), .init("state", \.state), .init("disabled_reason", \.disabledReason),
            .init("sealed_secret", \.sealedSecret), .init("secret_hint", \.secretHint),
            .init("sealed_former", \.sealedFormer), .init("former_ends_at", \.formerEndsAt),
            .init("position", \.position), .once("created_at", \.createdAt),
            .init("updated_at", \.updatedAt), .init("failing_since", \.failingSince),
            .init("last_delivered_at", \.lastDeliveredAt),
        ])
}

extension ReadTransaction {
    public func webhook(_ id: String) throws -> Webhook? {
        try first("WHERE id = $1", [.text(id)])
    }

    public func webhooks(after cursor: String, limit: Int) throws -> [Webhook] {
        try all("WHERE id > $1 ORDER BY id LIMIT $2", [.text(cursor), .integer(limit)])
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
        try all("WHERE state = 'active' AND position < $1 ORDER BY id", [.integer(latest)])
    }
}

extension WriteTransaction {
    /// Stores a new or changed webhook.
    public func putWebhook(_ hook: Webhook) throws { try put(hook) }

    /// Removes a webhook with its messages; returns false when there is no such webhook.
    public func deleteWebhook(_ id: String) throws -> Bool {
        try execute("DELETE FROM webhooks WHERE id = $1", [.text(id)]) > 0
    }
}
