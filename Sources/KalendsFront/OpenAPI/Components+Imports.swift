// SPDX-License-Identifier: Apache-2.0

import KalendsCore

extension Components {
    private static let importFields: [Schema.Field] = [
        .required("id", .string), .required("circleId", .identifier), .required("userId", Schema.identifier.orNull),
        .required("state", .one(of: ["reading", "previewed", "committing", "committed", "undone", "failed"])),
        .required(
            "progress",
            Schema(["type": "number", "minimum": 0, "maximum": 1]).orNull.described("Null when the import failed.")),
        .required("createdAt", .instant), .required("committedAt", .instant.orNull),
        .required("undoneAt", .instant.orNull),
        .required(
            "counts",
            Schema.output(
                .required("events", .count), .required("created", .count), .required("updated", .count),
                .required("unchanged", .count), .required("skipped", .count)
            ).orNull.described("Null until the file has been read.")),
        .required(
            "span",
            Schema.output(.required("from", .date.orNull), .required("to", .date.orNull)).orNull.described(
                "Also null for a caller who may not see the whole import.")),
        .optional("problem", .either(.named("Problem"), Schema(["type": "null"]))),
    ]

    static let imports: [(String, Schema)] = [
        ("Import", .object(importFields)),
        (
            "ImportReport",
            .object(
                importFields + [
                    .required(
                        "timeZones",
                        .array(
                            of: .output(
                                .required("tzid", .string), .required("resolvedTo", .string.orNull),
                                .required(
                                    "how",
                                    .one(of: ["exact", "vtimezone", "windows", "alias", "offset", "x-wr", "assumed"]))))
                    ),
                    .required(
                        "dropped",
                        .array(of: .output(.required("property", .string), .required("count", .count))).described(
                            "What is left out of the events that are not skipped, by property, such as `ATTENDEE`.")),
                    .required(
                        "keep",
                        .array(of: .one(of: EventExtra.choices.map(\.rawValue))).described(
                            "What the importer wants to keep of it.")),
                    .required(
                        "shown",
                        Schema.choice(ImportShown.Part.self).described(
                            "The part of the report that the caller may see: `all` for the person who made it and "
                                + "the host application, who alone see it until it is committed; for others `shared`, "
                                + "which is everything except what is private to that person."
                        )),
                    .required("problems", .array(of: .named("ImportProblem"))),
                    .optional(
                        "problemsLeftOut",
                        Schema.integer(1...Int.max).described(
                            "The number of further problems, when their list exceeds one mebibyte.")),
                    .required("items", .array(of: .named("ImportItem"))), .required("nextCursor", .string.orNull),
                    .optional(
                        "kept",
                        .array(
                            of: .output(
                                .required("uid", .string), .required("summary", .string.orNull),
                                .required("reason", .string))
                        ).described("The items that an undo kept because they had been edited; at most a thousand.")),
                    .optional("keptCount", Schema.count.described("The number of items that an undo kept.")),
                ])
        ),
        ("ImportByURL", ImportBody.address.schema),
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
        ("ImportCommit", ImportRoutes.body.schema),
    ]
}
