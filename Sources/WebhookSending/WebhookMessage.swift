// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.
import FeedTokens
import KalendsCore
import Storage

/// A message in the form in which it is sent, signed by the scheme of Standard Webhooks.
struct WebhookMessage: Sendable {
    let url: String
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    /// The maximum number of changes in one message.
    static let most = 100

    /// - Parameter changes: the changes of a circle; nil for a trial message.
    init(
        _ delivery: WebhookDelivery, to hook: Webhook, _ changes: [CircleChange]?, key: SealingKey, now: Int
    ) throws {
        url = try key.open(hook.sealedURL, for: Webhook.urlPurpose(hook.id))
        var secrets = [try Self.secret(hook.sealedSecret, of: hook.id, key)]
        if let former = hook.sealedFormer, let end = hook.formerEndsAt, now < end {
            secrets.append(try Self.secret(former, of: hook.id, key))
        }
        body = try Self.document(delivery, changes).serialized()
        let time = now / 1000
        let signed = Array("\(delivery.id).\(time).".utf8) + body
        headers = [
            ("Content-Type", "application/json"), ("User-Agent", "Kalends/1 (webhook)"), ("webhook-id", delivery.id),
            ("webhook-timestamp", String(time)),
            ("webhook-signature", secrets.map { "v1," + $0.signature(of: signed) }.joined(separator: " ")),
        ]
    }

    /// Returns the body, which is the same at every attempt.
    private static func document(_ delivery: WebhookDelivery, _ changes: [CircleChange]?) -> JSONValue {
        guard let changes else {
            return [
                "type": "webhook.test", "timestamp": JSONValue(milliseconds: delivery.createdAt),
                "data": ["webhookId": .string(delivery.webhookID)],
            ]
        }
        return [
            "type": "circle.changed", "timestamp": JSONValue(milliseconds: changes.last?.at ?? delivery.createdAt),
            "data": [
                "circleId": .string(delivery.circleID), "from": .integer(delivery.firstNumber),
                "to": .integer(delivery.lastNumber), "items": .array(changes.map(\.json)),
            ],
        ]
    }

    private static func secret(_ sealed: String, of id: String, _ key: SealingKey) throws -> Secret {
        guard let secret = Secret(.webhook, text: try key.open(sealed, for: Webhook.secretPurpose(id))) else {
            throw SealingKey.Failure.wrongKey
        }
        return secret
    }
}
