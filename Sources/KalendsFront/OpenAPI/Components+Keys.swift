// SPDX-License-Identifier: Apache-2.0

import KalendsCore

extension Components {
    private static let keyFields: [Schema.Field] = [
        .required("id", .string), .required("name", .string), .required("hint", .string),
        .required("createdAt", .instant), .required("lastUsedAt", .instant.orNull),
        .required("revokedAt", .instant.orNull),
        .required("expiresAt", .instant.orNull.described("90 days after it was made, on a strict server; else null.")),
        .required("scopes", Schema.array(of: .choice(Scope.self)).orNull.described("Null for everything.")),
    ]

    static let keys: [(String, Schema)] = [
        ("ServiceKey", .object(keyFields)),
        ("NewServiceKey", .object(keyFields + [.required("key", .string.described("The key, shown only here."))])),
        (
            "ServiceKeyInput",
            .input(
                .required("name", .text()),
                .optional(
                    "scopes",
                    Schema.array(of: .choice(Scope.self), minimum: 1).described(
                        "Without scopes the key may do everything.")),
                example: ["name": "Care app"])
        ),
    ]
}
