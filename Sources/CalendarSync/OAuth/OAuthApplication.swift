// SPDX-License-Identifier: Apache-2.0

/// An application as the operator registered it with a provider, and that provider's addresses.
public struct OAuthApplication: Sendable {
    /// `openID` is any provider of OpenID Connect, at which people sign in to this server itself.
    public enum Service: String, Sendable, Hashable { case google, microsoft, openID }

    public var service: Service
    public var clientID: String
    /// The client secret; nil for a public client.
    public var clientSecret: Concealed?
    public var authorizeURL: String
    public var tokenURL: String
    /// The revocation address; nil where the provider has no revocation (Microsoft).
    public var revokeURL: String?
    /// Whether the secret is sent by HTTP Basic authentication (RFC 6749 section 2.3.1) and not in the body.
    public var identifiesInHeader = false

    /// Returns an application with Google's addresses, unless others are given.
    public static func google(
        clientID: String, clientSecret: Concealed?, authorizeURL: String? = nil, tokenURL: String? = nil,
        revokeURL: String? = nil
    ) -> OAuthApplication {
        OAuthApplication(
            service: .google, clientID: clientID, clientSecret: clientSecret,
            authorizeURL: authorizeURL ?? "https://accounts.google.com/o/oauth2/v2/auth",
            tokenURL: tokenURL ?? "https://oauth2.googleapis.com/token",
            revokeURL: revokeURL ?? "https://oauth2.googleapis.com/revoke")
    }

    /// Returns an application with the addresses of the Microsoft identity platform v2.
    ///
    /// - Parameters:
    ///   - tenant: `common`, `organizations`, `consumers`, a tenant's id or its domain.
    ///   - loginURL: the part before `/{tenant}/oauth2/v2.0/`.
    public static func microsoft(
        clientID: String, clientSecret: Concealed?, tenant: String = "common",
        loginURL: String = "https://login.microsoftonline.com"
    ) -> OAuthApplication {
        let base = withoutSlash(loginURL) + "/" + PercentEncoding.encode(tenant) + "/oauth2/v2.0"
        return OAuthApplication(
            service: .microsoft, clientID: clientID, clientSecret: clientSecret, authorizeURL: base + "/authorize",
            tokenURL: base + "/token", revokeURL: nil)
    }

    /// Returns an application with the addresses of a provider's discovery document.
    package static func openID(
        clientID: String, clientSecret: Concealed?, authorizeURL: String, tokenURL: String, identifiesInHeader: Bool
    ) -> OAuthApplication {
        OAuthApplication(
            service: .openID, clientID: clientID, clientSecret: clientSecret, authorizeURL: authorizeURL,
            tokenURL: tokenURL, revokeURL: nil, identifiesInHeader: identifiesInHeader)
    }

    package static func withoutSlash(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }

    /// Returns the scopes of `wanted` that are not in `granted`, because a person may allow less than was requested.
    public func missing(of wanted: [String], in granted: [String]) -> [String] {
        switch service {
        // A sign-in is judged by the claims that it brings.
        case .openID: return []
        case .google:
            return wanted.filter { scope in !granted.contains { GoogleScope.covers($0, scope) } }
        case .microsoft:
            // Microsoft names its own scopes with or without the resource as a prefix, in upper or lower case, and
            // leaves out those of OpenID Connect.
            func plain(_ scope: String) -> String {
                scope.pieces(separatedBy: "/").last.map { $0.asciiLowercased } ?? ""
            }
            let silent: Set<ByteString> = ["offline_access", "openid", "profile", "email"]
            let known = Set<ByteString>(granted.map(plain))
            return wanted.filter { !silent.contains(plain($0)) && !known.contains(plain($0)) }
        }
    }
}

/// Google's scopes, each required by calls that the API refuses without it.
public enum GoogleScope {
    private static let base = "https://www.googleapis.com/auth/"

    /// Reading and writing events of calendars that the person chooses.
    public static let events = base + "calendar.events"
    /// Listing the calendars to choose from.
    public static let calendarList = base + "calendar.calendarlist.readonly"
    /// Creating a calendar of our own, and its events.
    public static let ownCalendars = base + "calendar.app.created"

    /// The scopes that a connection requests.
    public static let all = [events, calendarList, ownCalendars]

    /// Reports whether a granted scope allows everything that another one allows.
    static func covers(_ granted: String, _ wanted: String) -> Bool {
        if granted == wanted || granted == base + "calendar" { return true }
        return granted == base + "calendar.calendarlist" && wanted == calendarList
            || granted == base + "calendar.readonly" && wanted == calendarList
    }
}

/// Microsoft's scopes, each required by calls that Graph refuses without it.
public enum MicrosoftScope {
    /// Calendars and events of the account, and subscriptions to them.
    public static let calendars = "Calendars.ReadWrite"
    /// The account's name and id.
    public static let user = "User.Read"
    /// Getting a refresh token.
    public static let offline = "offline_access"

    /// The scopes that a connection requests.
    public static let all = [offline, calendars, user]
}
