// SPDX-License-Identifier: Apache-2.0

extension Components {
    static let imports: [(String, Schema)] = [
        (
            "ImportReport",
            .output(
                .required("id", .string), .required("circleId", .identifier),
                .required("state", .one(of: ["previewed", "committed", "undone"])),
                .required("createdAt", .instant), .required("committedAt", .instant.orNull),
                .required("undoneAt", .instant.orNull),
                .required(
                    "counts",
                    .output(
                        .required("events", .count), .required("created", .count), .required("updated", .count),
                        .required("unchanged", .count), .required("skipped", .count))),
                .required("span", .output(.required("from", .date.orNull), .required("to", .date.orNull))),
                .required(
                    "timeZones",
                    .array(
                        of: .output(
                            .required("tzid", .string), .required("resolvedTo", .string.orNull),
                            .required(
                                "how",
                                .one(of: ["exact", "vtimezone", "windows", "alias", "offset", "x-wr", "assumed"]))))),
                .required("problems", .array(of: .named("ImportProblem"))),
                .required("items", .array(of: .named("ImportItem"))), .required("nextCursor", .string.orNull),
                .optional(
                    "kept",
                    .array(
                        of: .output(
                            .required("uid", .string), .required("summary", .string.orNull),
                            .required("reason", .string))
                    ).described("What an undo left, because it was edited since.")))
        ),
        (
            "ImportProblem",
            .output(
                .required("line", .count), .optional("column", .count), .optional("uid", .string),
                .required("severity", .one(of: ["error", "warning", "repaired"])), .required("code", .string),
                .required("message", .string), .optional("text", .string), .optional("reference", .string))
        ),
        (
            "ImportItem",
            .output(
                .required("itemId", .string), .required("uid", .string),
                .required("change", .one(of: ["created", "updated", "unchanged", "skipped"])),
                .required("summary", .string.orNull), .required("start", eventTime), .required("end", eventTime),
                .required("reason", .string.orNull))
        ),
        (
            "ImportCommit",
            .input(
                .optional("exclude", Schema.array(of: .string).described("The `itemId`s to leave out.")),
                example: ["exclude": []])
        ),
    ]
}
