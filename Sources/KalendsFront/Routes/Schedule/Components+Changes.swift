// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Components {
    private static let webhookFields =
        Webhooks.Shown.view.fields + [
            .optional("pending", Schema.count.described("The number of messages that are waiting."))
        ]

    private static func changes(_ more: [Schema.Field]) -> Schema {
        let change: [Schema.Field] = [
            .required("number", .count), .required("at", .instant),
            .required("type", .choice(CircleChange.Subject.self)),
            .required("change", .one(of: ["created", "updated", "deleted"])), .optional("collection", .string),
            .optional("id", .string), .optional("occurrence", .string),
        ]
        return .output(
            .required("items", .array(of: .object(change + more))), .required("latest", .count),
            .required("nextCursor", .string.orNull))
    }

    static func changes(_ kinds: ItemKinds) -> [(String, Schema)] {
        [
            ("Changes", changes([])),
            (
                "AllChanges",
                changes([
                    .required("circleId", .string),
                    .required("sequence", Schema.count.described("Its number among the changes of all circles.")),
                ])
            ),
            ("Activity", Activity.Entry.schema), ("Webhook", .object(webhookFields)),
            (
                "NewWebhook",
                .object(webhookFields + [.required("secret", .string.described("The signing key, shown only here."))])
            ),
            ("WebhookInput", Webhooks.Draft.body.schema),
            ("WebhookChange", Webhooks.Change.body.schema),
            ("Rotation", WebhookRoutes.rotation.schema),
            ("Delivery", WebhookDelivery.view.schema),
            ("Subscription", Subscriptions.Shown.view.schema),
            ("SubscriptionInput", Subscriptions.Draft.schema(kinds)),
            ("SubscriptionChange", Subscriptions.Change.schema(kinds)),
        ]
    }
}
