// SPDX-License-Identifier: Apache-2.0

import KalendsCore

extension Components {
    private static func configFields(_ kinds: ItemKinds) -> [Schema.Field] {
        let days = Schema.integer(0...3660)
        let own: [Schema.Field] = [
            .required("includeImported", .bool),
            .required(
                "includePersonal",
                .bool.described("Whether the feed shows the owner's own events, in addition to the circle.")),
            .required(
                "includePlanned",
                .bool.described("Whether the feed shows title and time of what the owner's phones have planned.")),
            .required(
                "patientIds",
                Schema.array(of: .identifier, maximum: 1000).orNull.described(
                    "Null for all patients and for items without one.")),
            .required("includeReminders", .bool), .required("showMinimalDetails", .bool),
            .required(
                "includeAttendees",
                .bool.described("Whether the feed shows the people of imported events, if the import kept them.")),
            .required(
                "includeAttachments",
                .bool.described("Whether the feed shows the files of imported events, if the import kept them.")),
            .required("detail", .choice(FeedConfiguration.Detail.self)),
            .required("completedTasks", .choice(FeedConfiguration.CompletedTasks.self)),
            .required("pastDays", days), .required("futureDays", days),
            .required("tasksAs", .choice(FeedConfiguration.TaskForm.self)),
            .required("color", Schema.optionalText(100).orNull.described("The name of a CSS3 colour.")),
        ]
        return kinds.list.map { .required($0.feedSetting, .bool) } + own
    }

    private static let feedFields: [Schema.Field] = [
        .required("id", .string), .required("circleId", .identifier), .required("userId", .identifier),
        .required("label", .string.orNull),
        .required("tokenHint", .string.described("The first characters of the secret, to distinguish addresses.")),
        .required("config", .named("FeedConfig")), .required("createdAt", .instant),
        .required("expiresAt", .instant.orNull), .required("revokedAt", .instant.orNull),
        .required("accessCount", .count), .required("lastAccessedAt", .instant.orNull),
        .required("lastRevealedAt", .instant.orNull),
        .required(
            "clients",
            .array(
                of: .output(
                    .required("client", .string), .required("count", .count), .required("lastSeenAt", .instant)))),
        .required(
            "attention",
            .array(
                of: .output(
                    .required("kind", .one(of: ["newClient", "manyNetworks"])), .required("at", .instant),
                    .optional("client", .string), .optional("networks", .count), .required("message", .string)))),
    ]

    private static let links: [Schema.Field] = [
        .required("url", .string.described("The secret address at which calendar apps read the feed.")),
        .required("webcalUrl", .string),
    ]

    private static let rhythm = Schema.output(
        .required("client", .string), .required("lastSeenAt", .instant), .required("expectedAt", .instant.orNull),
        .required("isOverdue", .bool))

    static func feeds(_ kinds: ItemKinds) -> [(String, Schema)] {
        let config = configFields(kinds)
        let input = Schema.change(of: config, example: ["detail": "titles", "futureDays": 90])
        return [
            ("FeedConfig", .object(config).described("What a feed shows.")),
            ("FeedConfigInput", input),
            (
                "Feed",
                .object(
                    feedFields + [
                        .optional(
                            "health",
                            .object([
                                .optional("bytes", Schema.count.orNull), .optional("sizeBytes", Schema.count.orNull),
                                .optional("isLarge", Schema.bool.orNull), .optional("warnings", .array(of: .string)),
                                .optional(
                                    "days",
                                    .array(
                                        of: .output(
                                            .required("date", .date), .required("client", .string),
                                            .required("count", .count)))),
                                .required("clients", .array(of: rhythm)),
                                .optional(
                                    "leftOut", Schema(["type": "object", "additionalProperties": Schema.count.value])),
                            ]).described(
                                "The feed's size, its readers and their times, and how much each rule leaves out."
                            ))
                    ])
            ),
            (
                "NewFeed",
                .object(feedFields + links + [.required("token", .string.described("The secret of the address."))])
            ),
            ("FeedLinks", .object(links)),
            (
                "FeedInput",
                .input(
                    .optional("label", .optionalText()), .optional("config", input),
                    .optional("expiresAt", .instant.described("A future time.")),
                    .optional("userId", .identifier.described("The feed's owner; only for a service key.")),
                    example: ["label": "Phone", "userId": "jane", "config": ["detail": "titles"]])
            ),
            (
                "FeedChange",
                .input(
                    .optional("label", .optionalText()), .optional("config", input),
                    .optional("expiresAt", .instant.described("A future time; null for never.")),
                    .optional(
                        "attention", Schema.array(of: .string, maximum: 0).described("An empty list acknowledges it.")),
                    example: ["label": "Tablet"])
            ),
            (
                "Regeneration",
                .input(
                    .optional(
                        "graceSeconds",
                        Schema.integer(Feeds.graces).defaulting(to: 0).described(
                            "How many seconds the old address keeps working.")),
                    example: ["graceSeconds": 3600])
            ),
            (
                "FeedAccess",
                .output(
                    .required("at", .instant), .required("client", .string), .required("status", .integer(200...304)),
                    .required("network", .string.described("The address shortened to its network: /24 or /48.")))
            ),
            (
                "FeedPreview",
                .output(
                    .required("from", .date), .required("to", .date),
                    .required(
                        "events",
                        .array(
                            of: .output(
                                .required("collection", .string), .required("id", .string), .required("uid", .string),
                                .required("summary", .string.orNull), .required("start", eventTime),
                                .required("end", eventTime), .required("allDay", .bool),
                                .required("rrule", .string.orNull)))),
                    .required(
                        "leftOut",
                        .array(
                            of: .output(
                                .required("collection", .string),
                                .required(
                                    "id",
                                    Schema.string.orNull.described(
                                        "Null for imported events that are private to somebody else (`private-event`), which "
                                            + "are only included in `count`, on whatever day they are.")),
                                .required("rule", .string), .required("count", .count)))),
                    .required("nextCursor", Schema.string.orNull.described("For the next part; null on the last.")))
            ),
        ]
    }

    static let eventTime = Schema.either(.named("EventTime"), Schema(["type": "null"]))
}
