// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Crypto
package import FeedTokens
import ICalBridge
import Storage

extension Connections {
    /// A sign-in at a provider that can begin.
    package struct AuthorizationRequest: Sendable {
        /// The address that the browser opens. It contains only the secret that comes back, and no other.
        package let url: String
        package let expiresAt: Int
    }

    /// The result of a sign-in, and the address to which the browser goes next.
    package struct AuthorizationResult: Sendable {
        package let connection: String
        package let result: ReturnAddress.Result
        package let returnTo: ReturnAddress
        /// The code with which the beginner of a pending sign-in ends it.
        package var code: Secret?
    }

    /// How long a sign-in may take, in milliseconds.
    private static let patience = 600_000
    /// The maximum number of sign-ins of one connection at a time; people may open the page twice.
    private static let mostAtOnce = 5

    /// Begins a sign-in at the provider; throws 409 for a provider without one, 422 for a `returnTo` that is not
    /// allowed.
    ///
    /// - Parameters:
    ///   - returnTo: the address to return to; nil for the server's own pages.
    ///   - session: the browser's session, the only one that can end the sign-in; nil for a caller with a token, who
    ///     redeems the code that the sign-in brings.
    package func authorize(
        _ id: String, returnTo: String?, session: String?, for caller: Caller
    ) async throws -> AuthorizationRequest {
        let providers = context.providers
        guard
            let back = ReturnAddress(
                returnTo ?? (session == nil ? ReturnAddress.codePage : ReturnAddress.pages), settings.returnOrigins)
        else {
            throw Refusal.invalid("/returnTo", code: .addressNotAllowed, ReturnAddress.rule)
        }
        try context.grants.admit(caller.userID)
        let attempt = OAuthAttempt(random: .random(OAuthAttempt.randomBytes))
        let sealed = try context.sealingKey.seal(attempt.verifier.reveal(), for: Self.purpose(id))
        return try await context.acts.act(on: .connection(id), for: caller) { act in
            let own = act.target
            let client = try providers.oauth(own.provider)
            guard let scopes = providers.scopes(of: own.provider) else {
                throw Refusal.conflict("\(own.provider.name) has no page to sign in at.", code: .providerMismatch)
            }
            let expiresAt = act.now + Self.patience
            try act.transaction.insertAuthorization(
                ConnectionAuthorization(
                    stateHash: Self.hash(attempt.state), connectionID: id, userID: own.userID, sessionID: session,
                    sealedVerifier: sealed, returnTo: back.text, expiresAt: expiresAt), most: Self.mostAtOnce)
            let hint = own.accountName.flatMap { $0.contains("@") ? $0 : nil }
            let url = client.authorizeURL(
                for: attempt, scopes: scopes, redirectURI: providers.redirectURI, loginHint: hint)
            return .unnoted(
                "A sign-in that begins opens nothing.", AuthorizationRequest(url: url, expiresAt: expiresAt))
        }
    }

    /// Ends a sign-in with the parameters with which the provider sent the browser back; throws 400 when the sign-in is
    /// unknown, has ended, or took too long.
    ///
    /// One that no browser's session began is pending from then on: whoever opened its address may be another person,
    /// whose account it must not connect.
    ///
    /// - Parameter cookie: the browser's session, if it has one.
    package func arrive(_ query: [(name: String, value: String)], cookie: Secret?) async throws -> AuthorizationResult {
        guard let back = OAuthReturn(query: query) else { throw Refusal.authorizationUnknown }
        let (now, hash, session) = (context.now(), Self.hash(back.state), cookie?.hash)
        let (redeeming, key) = (Secret.make(.connectionCode), context.sealingKey)
        let (attempt, browser, isPending) = try await context.store.record { transaction in
            let browser = try session.flatMap { try transaction.session(hash: $0, now: now) }
            let found = try transaction.takeAuthorization(stateHash: hash, isPending: false, now: now)
            guard var pending = found, pending.sessionID == nil, case .code(let code, _) = back,
                browser.map({ $0.userID == pending.userID }) ?? true
            else { return (found, browser, false) }
            (pending.stateHash, pending.expiresAt) = (redeeming.hash, now + Self.patience)
            pending.sealedCode = try key.seal(code.reveal(), for: Self.purpose(pending.connectionID))
            try transaction.insertAuthorization(pending, most: Self.mostAtOnce)
            return (found, browser, true)
        }
        guard let attempt, let returnTo = ReturnAddress(attempt.returnTo, settings.returnOrigins) else {
            throw Refusal.authorizationUnknown
        }
        func arrival(_ result: ReturnAddress.Result) -> AuthorizationResult {
            AuthorizationResult(connection: attempt.connectionID, result: result, returnTo: returnTo)
        }
        // Another person's browser must not connect its account to this connection.
        if let wanted = attempt.sessionID, browser?.id != wanted { return arrival(.failed) }
        if let browser, browser.userID != attempt.userID { return arrival(.failed) }
        switch back {
        case .denied: return arrival(.denied)
        case .failed: return arrival(.failed)
        case .code where isPending:
            return AuthorizationResult(
                connection: attempt.connectionID, result: .pending, returnTo: returnTo, code: redeeming)
        case .code(let code, _):
            do {
                let caller = Caller(.user(attempt.userID), actor: AuditActor(user: attempt.userID))
                return arrival(try await connect(attempt, code, for: caller))
            } catch is ProviderFailure {
                return arrival(.failed)
            } catch is Refusal {
                return arrival(.failed)
            }
        }
    }

    /// Ends a pending sign-in for the caller, whose connection it is; throws 422 for a code that is unknown, was used
    /// or is too old, 409 when the person allowed too little.
    package func redeem(_ id: String, code: Secret?, for caller: Caller) async throws -> Shown {
        let attempt: ConnectionAuthorization? = try await context.acts.act(on: .connection(id), for: caller) { act in
            let found = try code.flatMap {
                try act.transaction.takeAuthorization(stateHash: $0.hash, isPending: true, of: id, now: act.now)
            }
            return .unnoted("What a sign-in connects is noted.", found)
        }
        guard let attempt, let sealed = attempt.sealedCode else {
            throw Refusal.invalid("/code", code: .authorizationUnknown, Refusal.authorizationUnknown.detail)
        }
        let returned = Concealed(try context.sealingKey.open(sealed, for: Self.purpose(id)))
        do {
            guard try await connect(attempt, returned, for: caller) == .connected else {
                throw Refusal.conflict(
                    "The person allowed too little at the provider. Begin the sign-in again.",
                    code: .authorizationDenied)
            }
        } catch let failure as ProviderFailure {
            // The provider has not seen the code, so it can still be redeemed.
            if failure.kind == .unreachable {
                try await context.store.record { try $0.insertAuthorization(attempt, most: .max) }
            }
            throw Refusal(failure)
        }
        return try await get(id, for: caller)
    }

    /// Exchanges the code, finds the account, and stores its credentials.
    private func connect(
        _ attempt: ConnectionAuthorization, _ code: Concealed, for caller: Caller
    ) async throws -> ReturnAddress.Result {
        let id = attempt.connectionID
        let (providers, key) = (context.providers, context.sealingKey)
        let own = try await context.store.read { try Rights.connection(id, for: caller.identity, in: $0) }
        let client = try providers.oauth(own.provider)
        let scopes = providers.scopes(of: own.provider) ?? []
        let verifier = Concealed(try key.open(attempt.sealedVerifier, for: Self.purpose(id)))
        let grant = try await client.exchange(
            code: code, verifier: verifier, scopes: scopes, redirectURI: providers.redirectURI,
            now: Instant(seconds: context.now() / 1000))
        let missing = client.application.missing(of: scopes, in: grant.scopes)
        // Without these two scopes a connection still works with other calendars; without any other it is useless.
        guard !missing.contains(where: { $0 != GoogleScope.ownCalendars && $0 != MicrosoftScope.user }) else {
            return .denied
        }
        let account = try await ProviderAccount.find(own.provider, grant, of: own.userID, providers)
        try await store(.oauth(grant), of: account, for: id, caller)
        return .connected
    }

    /// Stores an account's credentials and replaces the former ones.
    func store(
        _ credential: AccountCredential, of account: ProviderAccount, for id: String, _ caller: Caller
    ) async throws {
        let key = context.sealingKey
        let sealed = try credential.sealed(for: id, key)
        let former: ConnectionCredential? = try await context.acts.act(on: .connection(id), for: caller) { act in
            let (transaction, now) = (act.transaction, act.now)
            var own = act.target
            let digest = AccountCredential.account(own.provider, account.id)
            let former = try transaction.credential(ofConnection: id)
            let isSame = own.accountID.map { $0 == account.id } ?? false
            // The user's office days may be written into this calendar, which such a key must not see.
            if !isSame, own.accountID != nil, caller.identity.bound != nil { throw Refusal.boundKey }
            if !isSame { (own.calendarID, own.calendarName, own.calendarTimeZone) = (nil, nil, nil) }
            (own.accountID, own.accountName) = (account.id, account.name)
            if own.calendarID == nil {
                own.turn(to: .choosing, now: now)
            } else if own.state == .needsReconnect || own.state == .unauthorized {
                own.turn(to: .active, now: now)
                own.comeSoon(now: now)
            }
            (own.failures, own.updatedAt) = (0, now)
            try transaction.putCredential(
                ConnectionCredential(connectionID: id, sealed: sealed, account: digest, version: 1, now: now))
            try transaction.putConnection(own, .updated, now: now)
            return ActResult(
                former.flatMap { $0.account == digest ? nil : $0 },
                noting: AuditNote(
                    .connectionAuthorized, id, detail: ["provider": .string(own.provider.rawValue)]))
        }
        context.grants.forget(id)
        // The credentials of the previous account are no longer needed.
        if let former, let own = try await context.store.read({ try $0.connection(id) }) {
            _ = await context.providers.revoke(former, own.provider)
        }
    }

    /// Returns the purpose for which a sign-in's verifier is sealed.
    private static func purpose(_ connection: String) -> String { "connections/\(connection)/authorization" }

    private static func hash(_ state: Concealed) -> String {
        Hexadecimal.text(SHA256.hash(data: Array(state.reveal().utf8)))
    }
}

extension Refusal {
    fileprivate static let authorizationUnknown = Refusal.badRequest(
        "This sign-in was not begun here, has ended, or took too long. Begin it again.", code: .authorizationUnknown)
}
