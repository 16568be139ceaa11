// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// The authorization code flow with PKCE (RFC 6749 section 4.1, RFC 7636), with refresh and revocation, for one
/// application.
public struct OAuthClient: Sendable {
    public let application: OAuthApplication
    private let http: any ProviderHTTP

    public init(_ application: OAuthApplication, http: any ProviderHTTP) {
        self.application = application
        self.http = http
    }

    /// Returns the address at which the person is asked, for the browser.
    ///
    /// Scopes that were granted before stay granted, so that a request for one more loses none.
    ///
    /// - Parameters:
    ///   - loginHint: the e-mail address of the account that has to be connected again.
    ///   - parameters: what else is sent, such as a nonce.
    public func authorizeURL(
        for attempt: OAuthAttempt, scopes: [String], redirectURI: String, loginHint: String? = nil,
        adding parameters: [(String, String)] = []
    ) -> String {
        var fields = [
            ("client_id", application.clientID), ("redirect_uri", redirectURI), ("response_type", "code"),
            ("scope", scopes.joined(separator: " ")), ("state", attempt.state.reveal()),
            ("code_challenge", attempt.challenge), ("code_challenge_method", "S256"),
        ]
        switch application.service {
        case .google:
            // Without `prompt=consent`, a second consent yields no refresh token.
            fields += [("access_type", "offline"), ("prompt", "consent"), ("include_granted_scopes", "true")]
        case .microsoft:
            // Otherwise the account that the browser is signed in with is taken without a question.
            fields += [("response_mode", "query"), ("prompt", "select_account")]
        case .openID: break
        }
        fields += parameters
        if let loginHint { fields.append(("login_hint", loginHint)) }
        let separator = application.authorizeURL.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return application.authorizeURL + separator + PercentEncoding.fields(fields)
    }

    /// Exchanges the code that the browser brought back.
    ///
    /// Throws `unauthorized` for a code that was used, is too old, or belongs to another attempt.
    ///
    /// - Parameters:
    ///   - verifier: the one of the attempt that `authorizeURL` was made for.
    ///   - redirectURI: exactly the one that was passed to `authorizeURL`.
    public func exchange(
        code: Concealed, verifier: Concealed, scopes: [String], redirectURI: String, now: Instant
    ) async throws(ProviderFailure) -> OAuthGrant {
        var fields = [
            ("grant_type", "authorization_code"), ("code", code.reveal()), ("redirect_uri", redirectURI),
            ("code_verifier", verifier.reveal()),
        ]
        if application.service == .microsoft { fields.append(("scope", scopes.joined(separator: " "))) }
        let answer = try await post(application.tokenURL, fields + credentials)
        return try TokenAnswer.grant(answer, wanted: scopes, before: nil, now: now)
    }

    /// Gets another access token. The returned grant replaces all of `grant`: the refresh token may be a new one, which
    /// has to be stored before the access token is used.
    ///
    /// Throws `unauthorized` only when the provider says that the grant is dead.
    public func refresh(_ grant: OAuthGrant, now: Instant) async throws(ProviderFailure) -> OAuthGrant {
        guard let token = grant.refreshToken else {
            throw ProviderFailure(.unauthorized, "The grant has ended and cannot be renewed.")
        }
        var fields = [("grant_type", "refresh_token"), ("refresh_token", token.reveal())]
        if application.service == .microsoft { fields.append(("scope", microsoftScopes(of: grant))) }
        let answer = try await post(application.tokenURL, fields + credentials)
        return try TokenAnswer.grant(answer, wanted: grant.scopes, before: grant, now: now)
    }

    /// Ends a grant at the provider, with all its tokens; does nothing when the provider has no revocation.
    ///
    /// Throws when there is no usable answer, or one of the status 429 or 500 and above. Any other answer counts as the
    /// end of the grant: one that the provider refuses to end is no longer valid.
    public func revoke(_ grant: OAuthGrant) async throws(ProviderFailure) {
        guard let url = application.revokeURL else { return }
        let token = grant.refreshToken ?? grant.accessToken
        let answer = try await post(url, [("token", token.reveal())])
        if answer.status == 429 || answer.status >= 500 { throw TokenAnswer.failure(answer) }
    }

    private var credentials: [(String, String)] {
        if application.identifiesInHeader, application.clientSecret != nil { return [] }
        return [("client_id", application.clientID)]
            + (application.clientSecret.map { [("client_secret", $0.reveal())] } ?? [])
    }

    /// Adds `offline_access`, without which the answer would contain no refresh token.
    private func microsoftScopes(of grant: OAuthGrant) -> String {
        (grant.scopes.contains("offline_access") ? grant.scopes : grant.scopes + ["offline_access"])
            .joined(separator: " ")
    }

    private func post(
        _ url: String, _ fields: [(String, String)]
    ) async throws(ProviderFailure) -> ProviderAnswer {
        var headers: [(name: String, value: String)] = [
            ("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"),
        ]
        if application.identifiesInHeader, let secret = application.clientSecret {
            // Both are encoded as in a form first, which most providers undo.
            let parts = [application.clientID, secret.reveal()]
            let pair = parts.map(PercentEncoding.encode).joined(separator: ":")
            headers.append(("Authorization", "Basic " + DAVSession.base64(Array(pair.utf8))))
        }
        let request = ProviderRequest(
            "POST", url, headers: headers, body: Array(PercentEncoding.fields(fields).utf8),
            longestAnswer: TokenAnswer.longest)
        do {
            return try await http.send(request)
        } catch {
            throw ProviderFailure(error)
        }
    }
}

extension ProviderFailure {
    /// Makes the failure that a missing answer means to the caller.
    package init(_ failure: TransportFailure) {
        switch failure {
        case .neverSent: self.init(.unreachable, "The provider could not be reached.")
        case .unanswered: self.init(.unanswered, "The provider did not answer.")
        case .tooLong: self.init(.malformed, "The provider's answer is too long.")
        case .ended(let failure): self = failure
        }
    }
}
