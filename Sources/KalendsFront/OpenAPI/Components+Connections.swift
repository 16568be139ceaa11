// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Components {
    private static func configFields(_ kinds: ItemKinds) -> [Schema.Field] {
        kinds.list.map { .required($0.connectionSetting, .bool) }
            + [
                .required("includeReminders", .bool),
                .required("showMinimalDetails", .bool), .required("detail", .choice(FeedConfiguration.Detail.self)),
                .required(
                    "patientIds",
                    Schema.array(of: .identifier, maximum: 1000).orNull.described(
                        "Null for all patients and for items without one.")),
                .required("completedTasks", .choice(FeedConfiguration.CompletedTasks.self)),
                .required(
                    "twoWay",
                    .bool.described("Whether an appointment that is moved in the calendar is also moved here.")),
                .required("syncIntervalMinutes", .integer(ConnectionConfiguration.minutes)),
                .required("pastDays", .integer(ConnectionConfiguration.days)),
                .required("futureDays", .integer(ConnectionConfiguration.days)),
            ]
    }

    static func connections(_ kinds: ItemKinds) -> [(String, Schema)] {
        let config = configFields(kinds)
        let input = Schema.change(of: config, example: ["detail": "titles", "syncIntervalMinutes": 30])
        return [
            ("ConnectionConfig", .object(config).described("The items that a connection keeps in step.")),
            (
                "Connection",
                .output(
                    .required("id", .string), .required("circleId", .identifier), .required("userId", .identifier),
                    .required("provider", .choice(Connection.Provider.self)), .required("label", .string.orNull),
                    .required("accountId", .string.orNull), .required("accountName", .string.orNull),
                    .required("calendarId", .string.orNull), .required("calendarName", .string.orNull),
                    .required("state", .choice(Connection.State.self)), .required("config", .named("ConnectionConfig")),
                    .required("lastSyncAt", .instant.orNull),
                    .required("lastSyncStatus", Schema.choice(Connection.Outcome.self).orNull),
                    .required("lastSyncError", .string.orNull), .required("nextSyncAt", .instant.orNull),
                    .required("isTwoWay", .bool),
                    .required(
                        "counts",
                        .output(
                            .required("linked", .count), .required("pending", .count), .required("conflicts", .count))),
                    .required(
                        "attention",
                        .array(
                            of: .output(
                                .required("kind", .choice(ConnectionAttention.Kind.self)), .required("at", .instant),
                                .required("message", .string.described("The problem, and what to do about it.")),
                                .optional("count", .count), .optional("runId", .string),
                                .optional("collection", .string),
                                .optional("itemId", Schema.string.described("The item that is held back.")),
                                .optional(
                                    "occurrence",
                                    Schema.instant.described("The one occurrence of it that is held back."))))),
                    .required("createdAt", .instant), .required("updatedAt", .instant))
            ),
            (
                "Connections",
                .output(
                    .required("items", .array(of: .named("Connection"))),
                    .required("nextCursor", Schema.string.orNull.described("For the next page; null on the last.")),
                    .required(
                        "providers",
                        Schema.array(
                            of: .output(
                                .required("provider", .choice(Connection.Provider.self)),
                                .required("isAvailable", .bool),
                                .required("missingSettings", .array(of: .string)))
                        ).described(
                            "The providers that can be connected here, and the settings that are missing for others."
                        )))
            ),
            (
                "ConnectionInput",
                .input(
                    .required("provider", .choice(Connection.Provider.self)), .optional("label", .optionalText()),
                    .optional("config", input),
                    .optional("userId", .identifier.described("The connection's owner; only for a service key.")),
                    example: ["provider": "caldav", "label": "Work", "userId": "jane", "config": ["detail": "titles"]])
            ),
            (
                "ConnectionDevice",
                .input(
                    .required("deviceId", .text().described("The `deviceId` with which the device was registered.")),
                    example: ["deviceId": "my-iphone"])
            ),
            (
                "ConnectionChange",
                .input(
                    .optional("label", .optionalText()), .optional("config", input), .optional("paused", .bool),
                    example: ["label": "Home"])
            ),
        ]
    }
}
