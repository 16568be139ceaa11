// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Components {
    static let reach: [(String, Schema)] = [
        (
            "Reach",
            Schema.output(
                .required("changedAt", .instant), .required("change", .one(of: ["created", "updated", "deleted"])),
                .required(
                    "readers",
                    .array(
                        of: .output(
                            .required("feedId", Schema.string.orNull.described("Null for somebody else's feed.")),
                            .required("label", .string.orNull), .required("userId", .identifier.orNull),
                            .required("client", .string),
                            .required(
                                "hasIt",
                                .bool.described("Whether an answer to the program showed the circle with the change.")),
                            .required("fetchedAt", .instant),
                            .required(
                                "expectedAt",
                                Schema.instant.orNull.described(
                                    "The time at which the program is expected; in the past when it is late."
                                ))))),
                .required(
                    "connections",
                    .array(
                        of: .output(
                            .required(
                                "connectionId", Schema.string.orNull.described("Null for somebody else's connection.")),
                            .required("provider", .choice(Connection.Provider.self)), .required("hasIt", .bool),
                            .required("syncedAt", .instant.orNull)))),
                .required("have", .count), .required("of", .count)
            ).described("The calendars that show an item, and whether they have its latest change.")
        )
    ]
}
