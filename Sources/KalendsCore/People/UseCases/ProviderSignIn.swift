// SPDX-License-Identifier: Apache-2.0

import CalendarSync
package import FeedTokens
package import Storage

/// The sign-in of people and operators at a provider of OpenID Connect: authorization code with PKCE.
///
/// An account at the provider is known by its issuer and subject. Which user it belongs to is decided once, when it is
/// joined, and by nothing that the provider says later.
package struct ProviderSignIn: Sendable {
    /// A sign-in that has begun.
    package struct AuthorizationRequest: Sendable {
        /// The address at the provider that the browser opens.
        package let url: String
        /// The value that the browser keeps until it returns.
        package let attempt: Concealed
    }

    /// The outcome of a sign-in.
    package enum SignInOutcome: Sendable {
        case user(Session, Secret, to: String)
        case operatorAtHand(Secret)
        /// The account belongs to the user of the session now.
        case joined(to: String)
    }

    /// The path at which the provider sends the browser back.
    package static let returnPath = "/app/sign-in/return"

    let acts: Acts
    let key: SealingKey
    let provider: OpenIDProvider
    let quotas: Quotas
    let publicURL: String

    package var settings: OpenIDSettings { provider.settings }
    private var redirectURI: String { publicURL + Self.returnPath }

    /// Returns the purpose for which a session's ID token is sealed.
    static func purpose(ofIDToken session: String) -> String { "sessions/\(session)/idToken" }

    private static func actTarget(for user: String) -> ActTarget<Void> {
        .user(user, touchingNoCircle: "A sign-in opens pages, and no feed.")
    }

    // MARK: Beginning

    /// Begins a sign-in; throws `OpenIDFault` if the provider cannot be used.
    ///
    /// - Parameters:
    ///   - page: the path of the page that it leads to.
    ///   - isAgain: whether the browser has a session, so that the provider is to ask the person for proof again.
    package func begin(to page: String, isAgain: Bool) async throws -> AuthorizationRequest {
        try await begin(ProviderAttempt(.session, to: page, session: nil, now: acts.now()), asksForProof: isAgain)
    }

    /// Begins a sign-in that opens the operator's pages; throws 403 if no group may open them.
    package func beginForOperator() async throws -> AuthorizationRequest {
        guard settings.operatorGroup != nil else { throw Refusal.installationOnly }
        let attempt = ProviderAttempt(.operatorPages, to: PagePath.admin.text, session: nil, now: acts.now())
        return try await begin(attempt, asksForProof: true)
    }

    /// Begins a sign-in that joins an account to the caller's user; throws 403 in a session that did not begin a moment
    /// ago.
    package func beginJoining(to page: String, for caller: Caller) async throws -> AuthorizationRequest {
        let now = acts.now()
        try await acts.store.read { try RecentSignIn(isNeeded: true).check(caller, in: $0, now: now) }
        let attempt = ProviderAttempt(.joining, to: page, session: caller.session, now: now)
        return try await begin(attempt, asksForProof: false)
    }

    private func begin(_ attempt: ProviderAttempt, asksForProof: Bool) async throws -> AuthorizationRequest {
        let metadata = try await provider.metadata(now: acts.now())
        var parameters = [("nonce", attempt.nonce.reveal())]
        if asksForProof { parameters.append(("max_age", String(RecentSignIn.span / 1000))) }
        let url = provider.client(metadata).authorizeURL(
            for: attempt.oauth, scopes: settings.scopes, redirectURI: redirectURI, adding: parameters)
        return AuthorizationRequest(url: url, attempt: try attempt.sealed(with: key))
    }

    // MARK: Arriving

    /// Ends a sign-in with the parameters with which the provider sent the browser back; throws `OpenIDFault`.
    ///
    /// - Parameters:
    ///   - kept: what the browser has kept; nil if it has nothing.
    ///   - session: the browser's session, if it has one.
    ///   - client: the kind of program that signs in.
    ///   - network: the caller's network.
    ///   - former: the secret of that session, which ends if it is the same user's.
    package func arrive(
        _ query: [(name: String, value: String)], kept: Concealed?, session: Session?, client: String,
        from network: String, replacing former: Secret?
    ) async throws -> SignInOutcome {
        let now = acts.now()
        guard let back = OAuthReturn(query: query),
            let attempt = kept.flatMap({ ProviderAttempt(sealed: $0, with: key, now: now) }),
            back.state.bytes.isSameSecret(as: attempt.oauth.state.bytes)
        else { throw OpenIDFault(.begunElsewhere, "The browser did not begin this sign-in.") }
        try await checkIssuer(query, now)
        let code: Concealed
        switch back {
        case .code(let given, _): code = given
        case .denied: throw OpenIDFault(.denied, "The person, or an administrator, refused at the provider.")
        case .failed: throw OpenIDFault(.failed, "The provider ended the sign-in with an error.")
        }
        let (token, grant) = try await provider.redeem(
            code, of: attempt, redirectURI: redirectURI, from: network, now: now)
        switch attempt.purpose {
        case .session:
            let user = try await user(of: token, grant, now)
            return try await enter(user, token, grant, attempt, client: client, replacing: former)
        case .joining:
            guard let session, let own = attempt.session, session.id == own else {
                throw OpenIDFault(.begunElsewhere, "The session that began the joining has ended.")
            }
            try await join(token, to: session)
            return .joined(to: attempt.to)
        case .operatorPages: return try await openOperatorPages(token, grant, attempt, now)
        }
    }

    /// Checks which provider sent the browser back (RFC 9207 section 2.4).
    private func checkIssuer(_ query: [(name: String, value: String)], _ now: Int) async throws(OpenIDFault) {
        let named = query.filter { $0.name == "iss" }.map(\.value)
        if named.isEmpty, try await !provider.metadata(now: now).namesItself { return }
        guard named.count == 1, named[0].isSameText(as: settings.issuer) else {
            throw OpenIDFault(.failed, "Another provider sent the browser back, or one that does not name itself.")
        }
    }

    /// Returns a person's claim, from the ID token, or else from what the provider says in addition to it.
    private func claim(
        _ name: String, _ token: IDToken, _ grant: OAuthGrant, _ now: Int
    ) async throws(OpenIDFault) -> (value: JSONValue?, beside: JSONValue) {
        if let value = token.claims[name] { return (value, token.claims) }
        let more = try await provider.userInfo(token, grant, now: now)
        return (more[name], more)
    }

    /// Returns the user of an account: the one that it was joined to, or the one that its claim names.
    private func user(of token: IDToken, _ grant: OAuthGrant, _ now: Int) async throws -> String {
        let issuer = settings.issuer
        let known = try await acts.store.read { try $0.joinedAccount(token.subject, at: issuer) }
        if let known { return known.userID }
        guard settings.accounts != .joined else {
            throw OpenIDFault(.unknownPerson, "No user has joined the account.")
        }
        let (value, claims) = try await claim(settings.userClaim, token, grant, now)
        if settings.userClaim == "email", claims["email_verified"] != true {
            throw OpenIDFault(.unusableName, "The account's e-mail address is not verified.")
        }
        guard let name = value?.string.flatMap(Self.userID) else {
            throw OpenIDFault(.unusableName, "The claim that oidcUserClaim names is missing, or is not a valid id.")
        }
        return name
    }

    /// Returns the user id for a claim; different claims give different ids.
    ///
    /// `:` becomes `::` and `@` becomes `:`. Nil if the result is not a valid id, or another claim could give it, too.
    static func userID(_ claim: String) -> String? {
        // Side by side, `@` and `:` would become the same row of colons as other claims do.
        guard !["@@", "@:", ":@"].contains(where: claim.contains) else { return nil }
        let id = claim.replacing(":", with: "::").replacing("@", with: ":")
        return Identifier.isValid(id) ? id : nil
    }

    /// Begins a session, and joins the account to its user first where it belongs to nobody.
    private func enter(
        _ user: String, _ token: IDToken, _ grant: OAuthGrant, _ attempt: ProviderAttempt, client: String,
        replacing former: Secret?
    ) async throws -> SignInOutcome {
        let (secret, id, most) = (Secret.make(.session), attempt.sessionID(key), quotas.sessionsPerUser)
        let (issuer, accounts, lifetime) = (settings.issuer, settings.accounts, settings.sessionHours * 3_600_000)
        let sealed = try grant.idToken.map { try key.seal($0.reveal(), for: Self.purpose(ofIDToken: id)) }
        let session = try await acts.act(on: Self.actTarget(for: user), for: .signingIn(user)) { act in
            let transaction = act.transaction
            guard try transaction.session(id, of: user) == nil else {
                throw OpenIDFault(.begunElsewhere, "The sign-in was used before.")
            }
            var joined: AuditNote?
            if let account = try transaction.joinedAccount(token.subject, at: issuer) {
                guard account.userID == user else { throw OpenIDFault(.taken, "The account was joined meanwhile.") }
            } else {
                try Self.checkMayJoin(user, accounts, at: issuer, in: transaction)
                joined = try Self.join(token, at: issuer, to: user, in: transaction, now: act.now)
            }
            if try transaction.erasureUnderWay(of: user) != nil {
                throw OpenIDFault(.unknownPerson, "The user is being erased.")
            }
            var session = Session(id: id, userID: user, client: client, now: act.now)
            (session.sealedIDToken, session.provedAt) = (sealed, token.provedAt)
            session.expiresAt = act.now + lifetime
            let ended = try Sessions.end(former, of: user, in: transaction, now: act.now)
            try transaction.insertSession(session, hash: secret.hash, maximum: most)
            let note = AuditNote(.sessionCreated, id, detail: ["means": "provider"])
            return ActResult(session, noting: note, and: joined, ended)
        }
        return .user(session, secret, to: attempt.to)
    }

    /// Throws `OpenIDFault` unless an account may be joined to the user that it names, without the user's own proof.
    ///
    /// Whoever has a credential here, or another account at the provider, is never joined so: a claim does not prove that
    /// it is the same person.
    private static func checkMayJoin(
        _ user: String, _ accounts: OpenIDSettings.Accounts, at issuer: String, in transaction: any ReadTransaction
    ) throws {
        if try transaction.joinedAccount(of: user, at: issuer) != nil {
            throw OpenIDFault(.taken, "The user has another account at the provider.")
        }
        if try transaction.hasOwnCredential(user) {
            throw OpenIDFault(.needsJoining, "The user has a credential here, and has not joined the account.")
        }
        guard try accounts == .anyone || accounts == .members && transaction.isKnown(user) else {
            throw OpenIDFault(.unknownPerson, "The user is not known here.")
        }
    }

    // MARK: Joining and leaving

    private static func join(
        _ token: IDToken, at issuer: String, to user: String, in transaction: any WriteTransaction, now: Int
    ) throws -> AuditNote {
        try transaction.insertJoinedAccount(JoinedAccount(token.subject, at: issuer, of: user, now: now))
        return AuditNote(.providerAccountJoined, user, detail: ["account": .string(token.subject)])
    }

    /// Joins an account to the user of a session.
    private func join(_ token: IDToken, to session: Session) async throws {
        let (user, issuer) = (session.userID, settings.issuer)
        try await acts.act(on: Self.actTarget(for: user), for: .signingIn(user)) { act in
            guard try act.transaction.session(session.id, of: user) != nil else {
                throw OpenIDFault(.begunElsewhere, "The session that began the joining has ended.")
            }
            let known = try act.transaction.joinedAccount(token.subject, at: issuer)
            if let known, known.userID == user { return .unchanged(()) }
            guard known == nil, try act.transaction.joinedAccount(of: user, at: issuer) == nil else {
                throw OpenIDFault(.taken, "The account belongs to another user, or the user has another account.")
            }
            return ActResult(noting: try Self.join(token, at: issuer, to: user, in: act.transaction, now: act.now))
        }
    }

    /// Ends the sign-in at providers for the caller's user, whose sessions go on; throws 403 in a session that did not
    /// begin a moment ago.
    package func leave(for caller: Caller) async throws {
        let user = try Rights.user(caller.identity)
        try await acts.act(on: Self.actTarget(for: user), for: caller) { act in
            try RecentSignIn(isNeeded: true).check(caller, in: act.transaction, now: act.now)
            guard try act.transaction.deleteJoinedAccounts(of: user) else { return .unchanged(()) }
            return ActResult(noting: AuditNote(.providerAccountLeft, user))
        }
    }

    // MARK: The operator, and signing out

    private func openOperatorPages(
        _ token: IDToken, _ grant: OAuthGrant, _ attempt: ProviderAttempt, _ now: Int
    ) async throws -> SignInOutcome {
        let value = try await claim(settings.groupsClaim, token, grant, now).value
        let groups = value?.array ?? [value ?? .null]
        guard let group = settings.operatorGroup, groups.contains(.string(group)) else {
            throw OpenIDFault(.noOperator, "The account is not in the group of oidcOperatorGroup.")
        }
        // A provider may pass over `max_age` (OpenID Connect Core 1.0 section 3.1.3.7).
        guard token.provedAt >= attempt.begunAt - RecentSignIn.span - IDToken.ahead else {
            throw OpenIDFault(.noProof, "The provider asked the person for no proof, or does not say when (auth_time).")
        }
        let (secret, id, issuer) = (Secret.make(.operatorSession), attempt.sessionID(key), settings.issuer)
        try await acts.act(on: .operatorPages, for: .operatorAtHand) { act in
            guard try !act.transaction.hasOperatorSession(id) else {
                throw OpenIDFault(.begunElsewhere, "The sign-in was used before.")
            }
            let user = try act.transaction.joinedAccount(token.subject, at: issuer)?.userID
            try act.transaction.insertOperatorSession(OperatorSession(id: id, now: act.now), hash: secret.hash)
            var detail: [ByteString: JSONValue] = ["account": .string(token.subject)]
            if let user { detail["user"] = .string(user) }
            return ActResult(noting: AuditNote(.operatorSessionCreated, id, detail: .object(detail)))
        }
        return .operatorAtHand(secret)
    }

    /// Returns the ID token with which the caller's session began; nil for a session that did not begin at the provider.
    package func idToken(of caller: Caller) async -> Concealed? {
        guard let id = caller.session, let user = caller.userID,
            let sealed = try? await acts.store.read({ try $0.session(id, of: user)?.sealedIDToken }),
            let token = try? key.open(sealed, for: Self.purpose(ofIDToken: id))
        else { return nil }
        return Concealed(token)
    }

    /// Returns the address at which a session ends at the provider, too (OpenID Connect RP-Initiated Logout 1.0); nil for
    /// a provider without such an address. This may wait for the provider.
    ///
    /// - Parameters:
    ///   - token: the ID token with which the session began.
    ///   - page: the path of the page to which the provider sends the browser back.
    package func signOutAddress(with token: Concealed, to page: String) async -> String? {
        guard let address = try? await provider.metadata(now: acts.now()).endSessionURL else { return nil }
        let fields = [
            ("id_token_hint", token.reveal()), ("client_id", settings.clientID),
            ("post_logout_redirect_uri", publicURL + page),
        ]
        return address + (address.contains("?") ? "&" : "?") + PercentEncoding.fields(fields)
    }
}

extension AuthorizedUser {
    /// When the user joined their account at a provider; nil if they have not.
    package func joinedProvider(_ settings: OpenIDSettings) throws -> Int? {
        try transaction.joinedAccount(of: id, at: settings.issuer)?.createdAt
    }
}
