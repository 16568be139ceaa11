// SPDX-License-Identifier: Apache-2.0

import KalendsCore

extension Components {
    static func appPasswords(_ kinds: ItemKinds) -> [(String, Schema)] {
        [
            ("AppPassword", CountedAppPassword.view.schema),
            ("NewAppPassword", .object(CountedAppPassword.view.fields + NewAppPassword.view.fields)),
            ("AppPasswordInput", AppPasswords.Draft.schema(kinds)),
            ("AppPasswordChange", AppPasswords.Change.schema(kinds)),
            ("AppLogin", AppLogin.view.schema), ("AppLoginToken", AppProfileRoutes.pollForm),
            ("AppLoginResult", AppLoginResult.view.schema),
        ]
    }
}
