// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore

/// The flags of the settings for connections.
struct ConnectionOptions: ParsableArguments {
    @Option(name: Setting.googleClientID.option, help: Setting.googleClientID.help) var googleClientID: String?
    @Option(name: Setting.microsoftClientID.option, help: Setting.microsoftClientID.help) var microsoftClientID: String?
    @Option(name: Setting.microsoftTenant.option, help: Setting.microsoftTenant.help) var microsoftTenant: String?
    @Option(name: Setting.googleAuthorizeURL.option, help: Setting.googleAuthorizeURL.help) var googleAuthorizeURL:
        String?
    @Option(name: Setting.googleTokenURL.option, help: Setting.googleTokenURL.help) var googleTokenURL: String?
    @Option(name: Setting.googleRevokeURL.option, help: Setting.googleRevokeURL.help) var googleRevokeURL: String?
    @Option(name: Setting.googleApiURL.option, help: Setting.googleApiURL.help) var googleApiURL: String?
    @Option(name: Setting.googleRequestsPerDay.option, help: Setting.googleRequestsPerDay.help)
    var googleRequestsPerDay: String?
    @Option(name: Setting.microsoftLoginURL.option, help: Setting.microsoftLoginURL.help) var microsoftLoginURL: String?
    @Option(name: Setting.microsoftGraphURL.option, help: Setting.microsoftGraphURL.help) var microsoftGraphURL: String?
    @Option(name: Setting.privateCaldavHosts.option, help: Setting.privateCaldavHosts.help) var privateCaldavHosts:
        String?
    @Option(name: Setting.privatePushHosts.option, help: Setting.privatePushHosts.help) var privatePushHosts: String?
    @Option(name: Setting.returnOrigins.option, help: Setting.returnOrigins.help) var returnOrigins: String?

    var given: [Setting: String?] {
        [
            .googleClientID: googleClientID,
            .microsoftClientID: microsoftClientID,
            .microsoftTenant: microsoftTenant,
            .googleAuthorizeURL: googleAuthorizeURL,
            .googleTokenURL: googleTokenURL,
            .googleRevokeURL: googleRevokeURL,
            .googleApiURL: googleApiURL,
            .googleRequestsPerDay: googleRequestsPerDay,
            .microsoftLoginURL: microsoftLoginURL,
            .microsoftGraphURL: microsoftGraphURL,
            .privateCaldavHosts: privateCaldavHosts,
            .privatePushHosts: privatePushHosts,
            .returnOrigins: returnOrigins,
        ]
    }
}
