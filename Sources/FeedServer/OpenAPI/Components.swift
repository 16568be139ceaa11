// SPDX-License-Identifier: Apache-2.0

/// The schemas that stand by name in the document.
enum Components {
    static let all: [String: Schema] = Dictionary(
        uniqueKeysWithValues: basic + circles + schedule + feeds + imports + keys + audit + users + changes)

    private static let basic: [(String, Schema)] = [
        (
            "Problem",
            .output(
                .required("type", .string), .required("title", .string), .required("status", .integer(400...599)),
                .required("detail", .string),
                .optional(
                    "errors",
                    .array(of: .output(.required("pointer", .string), .required("message", .string)))
                        .described("Every fault of the request: where (RFC 6901), and what.")),
                .optional("feedId", .string.described("The feed that has the label already.")),
                .optional("subscriptionId", .string.described("The subscription that has the address already.")),
                .optional("oldest", .count), .optional("latest", .count.described("The number of the latest change."))
            ).described("Why a request is not answered as asked (RFC 9457).")
        ),
        (
            "EventTime",
            .object([
                .optional("dateTime", .string.described("On the wall clock: 2026-01-21T09:00:00.")),
                .optional("timeZone", .string), .optional("utc", .string), .optional("floating", .bool),
                .optional("date", .date),
            ]).described("A time with its zone and instant, one of no zone, or a day.")
        ),
    ]
}
