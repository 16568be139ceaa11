// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// The tokens of one account, as a provider granted them.
public struct OAuthGrant: Hashable, Sendable {
    public var accessToken: Concealed
    /// The refresh token; nil when the provider gave none: the grant then ends with its access token.
    public var refreshToken: Concealed?
    public var expiresAt: Instant
    /// The scopes that were granted, which may be fewer than were requested.
    public var scopes: [String]
    /// The ID token (OpenID Connect Core 1.0 section 2), unverified; nil for a grant without one. It is not stored
    /// with the grant.
    package var idToken: Concealed?

    public init(accessToken: Concealed, refreshToken: Concealed?, expiresAt: Instant, scopes: [String]) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.scopes = scopes
    }
}

extension OAuthGrant {
    /// Returns the grant with its tokens in plain text, to be sealed at once.
    package func unsealedBytes() -> [UInt8] {
        let value: JSONValue = [
            "accessToken": .string(accessToken.reveal()), "refreshToken": JSONValue(refreshToken?.reveal()),
            "expiresAt": .integer(expiresAt.seconds), "scopes": .array(scopes.map(JSONValue.string)),
        ]
        // Only a number that is not finite cannot be written as JSON, and there is no such number here.
        return (try? value.serialized()) ?? []
    }

    /// Reads what `unsealedBytes` wrote; returns nil for anything else.
    package init?(unsealedBytes bytes: [UInt8]) {
        guard let value = try? JSONValue(parsing: bytes), let access = value["accessToken"]?.string,
            let expiresAt = value["expiresAt"]?.integer, let scopes = value["scopes"]?.array
        else { return nil }
        self.init(
            accessToken: Concealed(access), refreshToken: value["refreshToken"]?.string.map(Concealed.init),
            expiresAt: Instant(seconds: expiresAt), scopes: scopes.compactMap(\.string))
    }
}
