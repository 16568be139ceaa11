// SPDX-License-Identifier: Apache-2.0

import KalendsCore

extension Components {
    static let keys: [(String, Schema)] = [
        ("ServiceKey", ShownKey.view.schema),
        (
            "NewServiceKey",
            .object(ShownKey.view.fields + [.required("key", .string.described("The key, shown only here."))])
        ),
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
