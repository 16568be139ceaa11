// SPDX-License-Identifier: Apache-2.0

import KalendsCore

extension Components {
    static let audit: [(String, Schema)] = [
        (
            "AuditEntry",
            .output(
                .required("number", .count.described("Numbers start at 1 and have no gaps.")),
                .required("at", .instant),
                .required(
                    "atMilliseconds", .count.described("The same time in milliseconds since 1970, as it is hashed.")),
                .required(
                    "actor",
                    .string.described(
                        "`operator`, `key:<id>`, `user:<id>` or `device:<id>`; `user:<id> via key:<id>` for a key that "
                            + "acted for a user.")),
                .required("action", .choice(AuditAction.self)),
                .required("subject", .string.described("The id of the object of the act.")),
                .required("circleId", .string.orNull),
                .required(
                    "detail", Schema(["type": "object"]).orNull.described("Consists only of ids and fixed words.")),
                .required("previousHash", .string.described("The `hash` of the previous entry; zeros for the first.")),
                .required(
                    "hash",
                    .string.described(
                        "SHA-256 in hex of the JSON array [number, atMilliseconds, actor, action, subject, circleId, "
                            + "detail as JSON text, previousHash], without spaces and with keys in order."))
            ).described("One act, chained to the previous one.")
        )
    ]
}
