// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import Storage

/// Links that sign a person in once: host applications give them to their users, and the operator makes their own.
package struct SignInLinks: Sendable {
    /// The current state of a link.
    package enum State: Sendable {
        case ready(SignInLink)
        case used(SignInLink)
        case expired(SignInLink)
        /// The link never existed, or is no longer stored.
        case unknown
    }

    /// The result of pressing a link's button.
    package enum Outcome: Sendable {
        case user(Session, Secret, to: String)
        case operatorAtHand(OperatorSession, Secret, to: String)
        /// Nobody is signed in.
        case refused(State)
    }

    let acts: Acts
    let quotas: Quotas

    /// The allowed lifetimes of a link, in seconds.
    package static let lifetimes = 1...3600
    package static let usualLifetime = 300

    private static func actTarget(for user: String) -> ActTarget<Void> {
        .user(user, touchingNoCircle: "A link opens pages, and no feed.")
    }

    /// Creates a link for a user; the secret is shown only this once.
    ///
    /// - Parameter seconds: the link's lifetime.
    package func create(
        for user: String, to page: PagePath, lasting seconds: Int, for caller: Caller
    ) async throws -> (SignInLink, Secret) {
        try Rights.installation(caller.identity)
        return try await create(Self.actTarget(for: user), user, page, seconds, ["user": .string(user)], caller)
    }

    /// Creates a link to the operator's pages, for callers on the operator's socket.
    package func createForOperator(lasting seconds: Int, for caller: Caller) async throws -> (SignInLink, Secret) {
        guard caller.identity == .operatorAtHand else { throw Refusal.installationOnly }
        return try await create(.operatorPages, nil, .admin, seconds, [:], caller)
    }

    private func create(
        _ target: ActTarget<Void>, _ user: String?, _ page: PagePath, _ seconds: Int, _ detail: JSONValue,
        _ caller: Caller
    ) async throws -> (SignInLink, Secret) {
        let (secret, id) = (Secret.make(.signInLink), FeedLedger.makeID())
        return try await acts.act(on: target, for: caller) { act in
            let link = SignInLink(
                id: id, userID: user, leadsTo: page.text, now: act.now, lifetime: seconds * 1000)
            try act.transaction.insertSignInLink(link, hash: secret.hash)
            return ActResult((link, secret), noting: AuditNote(.signInLinkCreated, id, detail: detail))
        }
    }

    /// Returns the state of a link without changing it.
    package func state(of secret: Secret) async throws -> State {
        let (hash, now) = (secret.hash, acts.now())
        guard let link = try await acts.store.read({ try $0.signInLink(hash: hash) }) else { return .unknown }
        if link.usedAt != nil { return .used(link) }
        return link.expiresAt > now ? .ready(link) : .expired(link)
    }

    /// Uses up a link and begins a session, both or neither; of several concurrent calls, only one gets a session.
    ///
    /// - Parameters:
    ///   - client: the kind of program that signs in.
    ///   - former: the secret of the browser's former session, which ends if it is this user's.
    package func signIn(_ secret: Secret, client: String, replacing former: Secret? = nil) async throws -> Outcome {
        let state = try await state(of: secret)
        guard case .ready(let link) = state else { return .refused(state) }
        let begun =
            if let user = link.userID {
                try await begin(link, of: user, hash: secret.hash, client, replacing: former)
            } else {
                try await openOperatorPages(link, hash: secret.hash)
            }
        if let begun { return begun }
        return .refused(try await self.state(of: secret))
    }

    /// Begins a user's session; nil when the link was used first elsewhere, or has expired.
    private func begin(
        _ link: SignInLink, of user: String, hash: String, _ client: String, replacing former: Secret?
    ) async throws -> Outcome? {
        let (token, id, most) = (Secret.make(.session), FeedLedger.makeID(), quotas.sessionsPerUser)
        let session = try await acts.act(on: Self.actTarget(for: user), for: .signingIn(user)) {
            act -> ActResult<Session?> in
            guard try act.transaction.useSignInLink(hash: hash, now: act.now) else { return .unchanged(nil) }
            let session = Session(id: id, userID: user, client: client, now: act.now)
            let ended = try Sessions.end(former, of: user, in: act.transaction, now: act.now)
            try act.transaction.insertSession(session, hash: token.hash, maximum: most)
            let note = AuditNote(.sessionCreated, id, detail: ["link": .string(link.id)])
            return ActResult(session, noting: note, and: ended)
        }
        return session.map { .user($0, token, to: link.leadsTo) }
    }

    /// Begins an operator's session; nil when the link was used first elsewhere, or has expired.
    private func openOperatorPages(_ link: SignInLink, hash: String) async throws -> Outcome? {
        let (token, id) = (Secret.make(.operatorSession), FeedLedger.makeID())
        let session = try await acts.act(on: .operatorPages, for: .operatorAtHand) {
            act -> ActResult<OperatorSession?> in
            guard try act.transaction.useSignInLink(hash: hash, now: act.now) else { return .unchanged(nil) }
            let session = OperatorSession(id: id, now: act.now)
            try act.transaction.insertOperatorSession(session, hash: token.hash)
            return ActResult(
                session, noting: AuditNote(.operatorSessionCreated, id, detail: ["link": .string(link.id)]))
        }
        return session.map { .operatorAtHand($0, token, to: link.leadsTo) }
    }
}

extension ActTarget<Void> {
    /// The operator's pages as the target of an act.
    static let operatorPages = ActTarget.installation(touchingNoCircle: "The operator's pages open no feed.")
}
