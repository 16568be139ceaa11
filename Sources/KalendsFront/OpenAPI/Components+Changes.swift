// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Components {
    private static let webhookFields =
        Webhooks.Shown.view.fields + [
            .optional("pending", Schema.count.described("The number of messages that are waiting."))
        ]

    private static let webhookWishes: [Schema.Field] = [
        .optional("circles", Schema.array(of: .identifier, minimum: 1, maximum: 1000)),
        .optional("types", Schema.array(of: .choice(CircleChange.Subject.self), minimum: 1)),
    ]

    private static let url = Schema.text(2000).described("The host application's own address, with http or https.")

    static let changes: [(String, Schema)] = [
        (
            "Changes",
            .output(
                .required(
                    "items",
                    .array(
                        of: .output(
                            .required("number", .count), .required("at", .instant),
                            .required("type", .choice(CircleChange.Subject.self)),
                            .required("change", .one(of: ["created", "updated", "deleted"])),
                            .optional("collection", .string), .optional("id", .string),
                            .optional("occurrence", .string)))),
                .required("latest", .count), .required("nextCursor", .string.orNull))
        ),
        ("Webhook", .object(webhookFields)),
        (
            "NewWebhook",
            .object(webhookFields + [.required("secret", .string.described("The signing key, shown only here."))])
        ),
        (
            "WebhookInput",
            .input([.required("url", url)] + webhookWishes, example: ["url": "https://app.example/kalends"])
        ),
        (
            "WebhookChange",
            .input(
                [.optional("url", url)] + webhookWishes + [.optional("state", .one(of: ["active", "disabled"]))],
                example: ["state": "disabled"])
        ),
        (
            "Rotation",
            .input(
                .optional("graceSeconds", Schema.integer(0...2_592_000).defaulting(to: 86_400)),
                example: ["graceSeconds": 3600])
        ),
        ("Delivery", WebhookDelivery.view.schema),
        ("Subscription", Subscriptions.Shown.view.schema),
        (
            "SubscriptionInput",
            .input(
                .required("url", .text(8192)), .optional("label", .optionalText()),
                .optional("refreshMinutes", Schema.integer(60...10_080).defaulting(to: 360)),
                example: ["url": "https://calendar.example/holidays.ics", "refreshMinutes": 1440])
        ),
        (
            "SubscriptionChange",
            .input(
                .optional("label", .optionalText()), .optional("refreshMinutes", .integer(60...10_080)),
                .optional("state", .one(of: ["active", "paused"])), example: ["state": "paused"])
        ),
    ]
}
