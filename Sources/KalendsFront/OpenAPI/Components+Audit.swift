// SPDX-License-Identifier: Apache-2.0

import KalendsCore

extension Components {
    static let audit: [(String, Schema)] = [
        (
            "AuditEntry",
            .output(
                .required("number", .count.described("From 1 on, without gaps.")), .required("at", .instant),
                .required("atMilliseconds", .count.described("The same since 1970, as it goes into the hash.")),
                .required(
                    "actor",
                    .string.described(
                        "`operator`, `key:<id>`, `user:<id>` or `device:<id>`; `user:<id> via key:<id>` for a key that "
                            + "spoke for a user.")),
                .required("action", .choice(AuditAction.self)),
                .required("subject", .string.described("The id of what the act was done to.")),
                .required("circleId", .string.orNull),
                .required("detail", Schema(["type": "object"]).orNull.described("Only ids and fixed words.")),
                .required("previousHash", .string.described("`hash` of the entry before; zeros for the first.")),
                .required(
                    "hash",
                    .string.described(
                        "SHA-256 in hex of the JSON array [number, atMilliseconds, actor, action, subject, circleId, "
                            + "detail as JSON text, previousHash], without spaces and with keys in order."))
            ).described("One act, chained to the one before.")
        )
    ]
}
