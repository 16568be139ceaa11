// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore

/// The flags of the settings for the sign-in at a provider.
struct OpenIDOptions: ParsableArguments {
    @Option(name: Setting.oidcIssuer.option, help: Setting.oidcIssuer.help) var oidcIssuer: String?
    @Option(name: Setting.oidcClientID.option, help: Setting.oidcClientID.help) var oidcClientID: String?
    @Option(name: Setting.oidcName.option, help: Setting.oidcName.help) var oidcName: String?
    @Option(name: Setting.oidcScopes.option, help: Setting.oidcScopes.help) var oidcScopes: String?
    @Option(name: Setting.oidcUserClaim.option, help: Setting.oidcUserClaim.help) var oidcUserClaim: String?
    @Option(name: Setting.oidcAccounts.option, help: Setting.oidcAccounts.help) var oidcAccounts: String?
    @Option(name: Setting.oidcSessionHours.option, help: Setting.oidcSessionHours.help) var oidcSessionHours: String?
    @Option(name: Setting.oidcGroupsClaim.option, help: Setting.oidcGroupsClaim.help) var oidcGroupsClaim: String?
    @Option(name: Setting.oidcOperatorGroup.option, help: Setting.oidcOperatorGroup.help) var oidcOperatorGroup: String?
    @Option(name: Setting.oidcPrivateHosts.option, help: Setting.oidcPrivateHosts.help) var oidcPrivateHosts: String?

    var given: [Setting: String?] {
        [
            .oidcIssuer: oidcIssuer, .oidcClientID: oidcClientID, .oidcName: oidcName, .oidcScopes: oidcScopes,
            .oidcUserClaim: oidcUserClaim, .oidcAccounts: oidcAccounts, .oidcSessionHours: oidcSessionHours,
            .oidcGroupsClaim: oidcGroupsClaim, .oidcOperatorGroup: oidcOperatorGroup,
            .oidcPrivateHosts: oidcPrivateHosts,
        ]
    }
}
