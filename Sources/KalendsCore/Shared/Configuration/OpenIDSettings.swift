// SPDX-License-Identifier: Apache-2.0

/// The provider of OpenID Connect at which people sign in, and what follows from its statements about them.
package struct OpenIDSettings: Sendable {
    /// Whose accounts at the provider let them in, the narrowest first.
    package enum Accounts: String, Sendable, CaseIterable {
        /// People who joined the account to their user while they were signed in.
        case joined
        /// Also those whom the claim names, if they are known here and have no credential of their own.
        case members
        /// Also those whom the claim names, if they are not known here.
        case anyone
    }

    /// The issuer identifier, which is compared as it was given.
    package var issuer: String
    var clientID: String
    /// The client secret; nil for a public client.
    var clientSecret: Concealed?
    /// How pages call the provider.
    package var name: String
    var scopes = ["openid", "profile", "email"]
    /// The claim that names the user.
    var userClaim = Setting.oidcUserClaim.standard
    var accounts = Accounts.joined
    /// How many hours a session that began at the provider lasts.
    var sessionHours = 24
    var groupsClaim = Setting.oidcGroupsClaim.standard
    /// The group whose members may open the operator's pages; nil if the provider lets nobody in there.
    package var operatorGroup: String?
    /// Each entry is `host` or `host:port`, in lower case.
    var privateHosts: Set<ByteString> = []

    package init(issuer: String, clientID: String, clientSecret: Concealed? = nil) {
        (self.issuer, self.clientID, self.clientSecret) = (issuer, clientID, clientSecret)
        name = WebOrigin(ofAddress: issuer)?.host ?? ""
        allowIssuer()
    }

    /// Returns nil if no provider is set up; notes what is wrong with one.
    init?(_ values: inout SettingValues) {
        guard let issuer = values.filled(.oidcIssuer) else {
            for setting in Setting.openID.dropFirst() {
                // A template of all settings has each one's standard.
                if let text = values.text(setting), !text.isSameText(as: setting.standard) {
                    values.note(setting, "needs oidcIssuer.")
                }
            }
            return nil
        }
        if !TokenSettings.isSafe(issuer) || WebOrigin(ofAddress: issuer) == nil
            || issuer.contains(where: { "?#".contains($0) || $0.isWhitespace })
        {
            values.note(
                .oidcIssuer, "must begin with https://, or http:// on this machine, be in ASCII, and have no query.")
        }
        guard let clientID = values.filled(.oidcClientID) else {
            values.note(.oidcIssuer, "needs oidcClientID.")
            return nil
        }
        self.init(
            issuer: issuer, clientID: clientID, clientSecret: values.filled(.oidcClientSecret).map { Concealed($0) })
        if let text = values.filled(.oidcName) {
            name = text
            if text.count > 50 || text.contains(where: \.isNewline) {
                values.note(.oidcName, "must have 1 to 50 characters on one line.")
            }
        }
        if let text = values.filled(.oidcScopes) {
            scopes = text.pieces(separatedBy: " ").filter { !$0.isEmpty }.map(String.init)
            if !scopes.contains(where: { $0.isSameText(as: "openid") }) || !scopes.allSatisfy(Self.isScope) {
                values.note(.oidcScopes, "must be words with spaces between, and openid one of them.")
            }
        }
        userClaim = values.filled(.oidcUserClaim) ?? userClaim
        groupsClaim = values.filled(.oidcGroupsClaim) ?? groupsClaim
        operatorGroup = values.filled(.oidcOperatorGroup)
        accounts = values.choice(.oidcAccounts).flatMap(Accounts.init) ?? accounts
        sessionHours = values.number(.oidcSessionHours) ?? sessionHours
        var faults: [String] = []
        privateHosts.formUnion(
            ConnectionSettings.hosts(.oidcPrivateHosts, "sso.lan or 10.0.0.7:8443", &values, &faults))
        if !faults.isEmpty { values.note(.oidcPrivateHosts, "must be hosts such as sso.lan, with commas between.") }
    }

    /// The operator named the issuer's own host, which may be in a private network.
    private mutating func allowIssuer() {
        if let origin = WebOrigin(ofAddress: issuer) { privateHosts.insert("\(origin.host):\(origin.port)") }
    }

    /// The characters of a scope (RFC 6749 section 3.3).
    private static func isScope(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
    }
}

extension Setting {
    package static let oidcIssuer = Setting(
        "oidcIssuer", .text, standard: "no provider",
        "The issuer of the provider of OpenID Connect at which people sign in, exactly as it writes it.")
    package static let oidcClientID = Setting(
        "oidcClientID", .text, standard: "no provider", "The client ID of this server at that provider.")
    static let oidcClientSecret = Setting(
        "oidcClientSecret", .text, standard: "a public client", "The client secret of this server at that provider."
    ).withoutFlag()
    package static let oidcName = Setting(
        "oidcName", .text, standard: "the issuer's host", "The provider's name on the button, 1 to 50 characters.")
    package static let oidcScopes = Setting(
        "oidcScopes", .text, standard: "openid profile email",
        "The scopes that a sign-in asks for, with spaces between; openid is one of them.")
    package static let oidcUserClaim = Setting(
        "oidcUserClaim", .text, standard: "sub",
        "The claim that names the user: @ becomes a colon, a colon becomes two. An email counts only if it is verified."
    )
    package static let oidcAccounts = Setting(
        "oidcAccounts", .choice(OpenIDSettings.Accounts.allCases.map(\.rawValue)), standard: "joined",
        "Who may sign in through the provider: joined accounts, also members known here, or anyone; docs/operations.md."
    )
    package static let oidcSessionHours = Setting(
        "oidcSessionHours", .number(1...720), standard: "24",
        "How many hours a session lasts that began at the provider; then it is asked again.")
    package static let oidcGroupsClaim = Setting(
        "oidcGroupsClaim", .text, standard: "groups", "The claim with the groups of a person.")
    package static let oidcOperatorGroup = Setting(
        "oidcOperatorGroup", .text, standard: "nobody",
        "The group whose members may open the operator's pages by a sign-in at the provider.")
    package static let oidcPrivateHosts = Setting(
        "oidcPrivateHosts", .list, standard: "the issuer's",
        "Other hosts of a private network that the provider's addresses may name: host or host:port, with commas between."
    )

    /// The settings of the sign-in at a provider; all others need the first.
    package static let openID: [Setting] = [
        oidcIssuer, oidcClientID, oidcClientSecret, oidcName, oidcScopes, oidcUserClaim, oidcAccounts, oidcSessionHours,
        oidcGroupsClaim, oidcOperatorGroup, oidcPrivateHosts,
    ]
}
