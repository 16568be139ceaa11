// SPDX-License-Identifier: Apache-2.0

import KalendsCore

extension Components {
    static let keys: [(String, Schema)] = [
        ("ServiceKey", ShownKey.view.schema),
        (
            "NewServiceKey",
            .object(ShownKey.view.fields + [.required("key", .string.described("The key, shown only here."))])
        ),
        ("ServiceKeyInput", KeyRoutes.body.schema),
    ]
}
