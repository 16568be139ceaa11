// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Components {
    /// The schemas of each kind of item, and those around them.
    static func schedule(_ kinds: ItemKinds) -> [(String, Schema)] { kinds.list.flatMap { $0.schemas } + around(kinds) }

    private static func around(_ kinds: ItemKinds) -> [(String, Schema)] {
        [
            (
                "DeletedItem",
                .output(
                    .required("id", .identifier), .required("uid", .string), .required("deletedAt", .instant)
                ).described("A deleted item, as `updatedSince` shows it.")
            ),
            (
                "Occurrence",
                .output(
                    .required("originalStart", .instant), .required("startAt", .instant), .required("endAt", .instant),
                    .required("provider", .string), .required("location", .string.orNull),
                    .required("notes", .string.orNull), .required("status", .choice(AppointmentContent.Status.self)))
            ),
            (
                "OccurrenceInput",
                .input(
                    OccurrenceContent.inputFields, example: OccurrenceContent.example
                ).described("Missing fields stay as in the series.")
            ),
            (
                "BatchLine",
                .input(
                    .required("op", .one(of: ["put", "delete"])),
                    .required("collection", .one(of: kinds.list.map { $0.collection.rawValue })),
                    .required("id", .identifier),
                    .optional("value", Schema(["type": "object"]).described("The item, for a put.")),
                    example: [
                        "op": "put", "collection": "tasks", "id": "t1",
                        "value": ["title": "Refill prescriptions", "dueAt": "2026-01-21T09:00:00-08:00"],
                    ])
            ),
            (
                "BatchReport",
                .output(
                    .required("applied", .count), .required("unchanged", .count),
                    .required(
                        "rejected",
                        .array(
                            of: .output(
                                .required("line", .count), .required("id", .string.orNull),
                                .required("errors", faults), .optional("errorsLeftOut", faultsLeftOut)),
                            maximum: BatchCounts.mostRejected
                        ).described(
                            "The lines that were not applied: the first \(BatchCounts.mostRejected), and at most 1 MiB "
                                + "of them.")),
                    .optional(
                        "rejectedLeftOut",
                        Schema.integer(1...Int.max).described(
                            "The number of rejected lines that are not in `rejected`.")))
            ),
        ]
    }
}
