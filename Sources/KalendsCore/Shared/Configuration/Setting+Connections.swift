// SPDX-License-Identifier: Apache-2.0

extension Setting {
    package static let googleClientID = Setting(
        "googleClientID", .text, standard: "no Google", "The client ID of the application registered with Google.")
    static let googleClientSecret = Setting(
        "googleClientSecret", .text, standard: "no Google",
        "The client secret of the application registered with Google."
    ).withoutFlag()
    package static let microsoftClientID = Setting(
        "microsoftClientID", .text, standard: "no Outlook",
        "The application (client) ID of the application registered with Microsoft.")
    static let microsoftClientSecret = Setting(
        "microsoftClientSecret", .text, standard: "no Outlook",
        "The value of the client secret of the application registered with Microsoft."
    ).withoutFlag()
    package static let microsoftTenant = Setting(
        "microsoftTenant", .text, standard: "common",
        "The accounts that may sign in: common, organizations, consumers, or one tenant.")
    package static let googleAuthorizeURL = Setting(
        "googleAuthorizeURL", .text, standard: "https://accounts.google.com/o/oauth2/v2/auth",
        "Where people sign in to Google.")
    package static let googleTokenURL = Setting(
        "googleTokenURL", .text, standard: "https://oauth2.googleapis.com/token",
        "The address from which Google's tokens are fetched.")
    package static let googleRevokeURL = Setting(
        "googleRevokeURL", .text, standard: "https://oauth2.googleapis.com/revoke",
        "Where Google's tokens are revoked.")
    package static let googleApiURL = Setting(
        "googleApiURL", .text, standard: "https://www.googleapis.com",
        "Google's API: the part before /calendar/v3/ and /batch/calendar/v3.")
    package static let googleRequestsPerDay = Setting(
        "googleRequestsPerDay", .number(1...1_000_000_000), standard: "800000",
        "Requests to Google in a day of UTC by all servers: looks become rarer before there are more.")
    package static let microsoftLoginURL = Setting(
        "microsoftLoginURL", .text, standard: "https://login.microsoftonline.com",
        "Where people sign in to Microsoft: the part before /{tenant}/oauth2/v2.0/.")
    package static let microsoftGraphURL = Setting(
        "microsoftGraphURL", .text, standard: "https://graph.microsoft.com/v1.0",
        "Microsoft Graph: the part before /me/, with /v1.0.")
    package static let privateCaldavHosts = Setting(
        "privateCaldavHosts", .list, standard: "none",
        "Hosts of a private network that users' CalDAV addresses may name: host or host:port, separated by commas.")
    package static let privatePushHosts = Setting(
        "privatePushHosts", .list, standard: "none",
        "Push services of a private network that calendar apps may use: host or host:port, separated by commas.")
    package static let returnOrigins = Setting(
        "returnOrigins", .list, standard: "only this server's pages",
        "Origins that a sign-in at a provider may lead back to: https://app.example, separated by commas.")

    package static let connections: [Setting] = [
        googleClientID, googleClientSecret, microsoftClientID, microsoftClientSecret, microsoftTenant,
        googleAuthorizeURL, googleTokenURL, googleRevokeURL, googleApiURL, googleRequestsPerDay,
        microsoftLoginURL, microsoftGraphURL, privateCaldavHosts, privatePushHosts, returnOrigins,
    ]
}
