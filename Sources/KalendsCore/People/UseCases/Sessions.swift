// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import Storage

/// Sessions of users who sign in here with a password, for installations without a host application.
package struct Sessions: Sendable {
    let acts: Acts
    let passwords: Passwords
    let factors: SecondFactorCheck
    let quotas: Quotas
    let recently: RecentSignIn

    private static func actTarget(for user: String) -> ActTarget<Void> {
        .user(user, of: .session, touchingNoCircle: "A session opens no feed.")
    }

    /// Begins a session; throws `Refusal` for a wrong password or code, and for a user who has no password.
    ///
    /// - Parameters:
    ///   - code: what a user with a second factor gives in addition: a code of the app, or a recovery code.
    ///   - client: the kind of program that signs in.
    ///   - network: the caller's network, which limits guesses.
    ///   - former: the secret of the browser's former session, which ends if it is this user's.
    /// - Returns: the session, and its secret, which is shown only this once.
    package func signIn(
        _ user: String, _ password: Concealed, code: Concealed? = nil, client: String, from network: String,
        replacing former: Secret? = nil
    ) async throws -> (Session, Secret) {
        let stored = try await checked(user, password, hasCode: code != nil, from: network)
        if stored.hasFactor, code == nil { throw Refusal.secondFactorNeeded }
        return try await begin(user, stored, code, client: client, from: network, replacing: former)
    }

    /// Begins the session of a user whose password was right.
    ///
    /// The code is checked and used up in the transaction that stores the session: neither happens without the other.
    func begin(
        _ user: String, _ stored: Checked, _ code: Concealed?, client: String, from network: String,
        replacing former: Secret?
    ) async throws -> (Session, Secret) {
        let (secret, now, most, factors) = (Secret.make(.session), acts.now(), quotas.sessionsPerUser, factors)
        let session = Session(id: FeedLedger.makeID(), userID: user, client: client, now: now)
        let begun = try await acts.act(on: Self.actTarget(for: user), for: .signingIn(user)) { act in
            // A password that has been changed since it was checked is no longer valid.
            guard try act.transaction.password(of: user)?.hash == stored.hash else { throw Refusal.wrongPassword }
            let means = try Self.use(code, of: user, factors, in: act.transaction, now: act.now)
            let ended = try Self.end(former, of: user, in: act.transaction, now: act.now)
            try act.transaction.insertSession(session, hash: secret.hash, maximum: most)
            let detail: JSONValue = means.map { ["secondFactor": .string($0.rawValue)] } ?? [:]
            let note = AuditNote(.sessionCreated, session.id, detail: detail)
            return ActResult((session, secret), noting: note, and: ended)
        }
        if stored.hasFactor { try await passwords.brake.succeed(user, from: network, now: acts.now()) }
        return begun
    }

    /// Uses up the code of a user with a second factor; nil for a user who has none and needs none.
    private static func use(
        _ code: Concealed?, of user: String, _ factors: SecondFactorCheck, in transaction: any WriteTransaction,
        now: Int
    ) throws -> SecondFactorCheck.Means? {
        guard let factor = try transaction.secondFactor(of: user), factor.isActive else {
            if factors.isNeeded { throw Refusal.secondFactorMissing }
            return nil
        }
        guard let code else { throw Refusal.secondFactorNeeded }
        guard let means = try factors.use(code, of: factor, in: transaction, now: now) else {
            throw Refusal.wrongSignInCode
        }
        return means
    }

    /// Ends the session that a new one replaces; nil when there was none.
    static func end(
        _ former: Secret?, of user: String, in transaction: any WriteTransaction, now: Int
    ) throws -> AuditNote? {
        guard let former, let old = try transaction.session(hash: former.hash, now: now), old.userID == user,
            try transaction.deleteSession(old.id, of: user)
        else { return nil }
        return AuditNote(.sessionEnded, old.id)
    }

    /// A password that was right.
    struct Checked: Sendable {
        /// The hash as it is stored.
        let hash: String
        /// Whether a code is needed too; until it has been used, a try with one counts as a failure.
        let hasFactor: Bool
    }

    /// Checks a password; throws `Refusal` for a wrong one, for a user who has no password, and for one without the
    /// second factor that is needed.
    ///
    /// - Parameter hasCode: whether the request has a code too.
    func checked(
        _ user: String, _ password: Concealed, hasCode: Bool, from network: String
    ) async throws -> Checked {
        let brake = passwords.brake
        try await brake.begin(user, from: network, now: acts.now())
        let (stored, factor) = try await acts.store.read {
            (try $0.password(of: user)?.hash, try $0.secondFactor(of: user))
        }
        guard try await passwords.isRight(password, stored: stored, from: network), let stored else {
            throw Refusal.wrongPassword
        }
        let hasFactor = factor?.isActive ?? false
        if !hasFactor, !factors.isNeeded {
            try await brake.succeed(user, from: network, now: acts.now())
        } else if !hasFactor || !hasCode {
            // Only a code clears what was counted: whoever knows the password could otherwise guess codes at will.
            try await brake.withdraw(user, from: network, now: acts.now())
            guard hasFactor else { throw Refusal.secondFactorMissing }
        }
        return Checked(hash: try await strengthened(stored, password, of: user, from: network), hasFactor: hasFactor)
    }

    /// Replaces a weak hash with one of today's strength, since the password is known only now; returns the stored one.
    private func strengthened(
        _ stored: String, _ password: Concealed, of user: String, from network: String
    ) async throws -> String {
        guard passwords.isWeak(stored: stored) else { return stored }
        let stronger = try await passwords.hash(password, from: network)
        return try await acts.act(on: Self.actTarget(for: user), for: .signingIn(user)) { act in
            guard try act.transaction.password(of: user)?.hash == stored else { throw Refusal.wrongPassword }
            try act.transaction.rehashPassword(of: user, hash: stronger)
            return .unnoted("The password is the same as before.", stronger)
        }
    }

    /// Returns the caller's own sessions, in order of id.
    package func list(_ page: PageRequest, for caller: Caller) async throws -> [Session] {
        let now = acts.now()
        return try await acts.readOwn(for: caller) { try $0.sessions(page, now: now) }
    }

    /// Ends the caller's session; it is not an error if the session has already ended.
    package func signOut(for caller: Caller) async throws {
        guard let session = caller.session else { throw Refusal.missing(.session) }
        _ = try await end(session, RecentSignIn(isNeeded: false), for: caller)
    }

    /// Ends one of the caller's sessions; throws 403 where the caller has to sign in again first.
    package func delete(_ id: String, for caller: Caller) async throws {
        guard try await end(id, recently, for: caller) else { throw Refusal.missing(.session) }
    }

    /// Ends a session; returns false when the user has no such session.
    private func end(_ id: String, _ recently: RecentSignIn, for caller: Caller) async throws -> Bool {
        let user = try Rights.user(caller.identity)
        return try await acts.act(on: Self.actTarget(for: user), for: caller) { act in
            if caller.session.map({ $0 == id }) != true {
                try recently.check(caller, in: act.transaction, now: act.now)
            }
            guard try act.transaction.deleteSession(id, of: user) else { return .unchanged(false) }
            return ActResult(true, noting: AuditNote(.sessionEnded, id))
        }
    }
}

extension Refusal {
    /// The error is the same for a user who does not exist, so that it does not reveal who has a password here.
    static let wrongPassword = Refusal(
        .unauthenticated, code: .passwordWrong, detail: "The user id or the password is wrong.")

    /// Answered only once the password was right.
    static let secondFactorNeeded = Refusal(
        .unauthenticated, code: .secondFactorNeeded,
        detail: "The user has a second factor. Send a code of the authenticator app, or a recovery code, as code.")

    static let wrongSignInCode = Refusal(
        .unauthenticated, code: .codeWrong, detail: "The code is wrong, or has been used. Wait for the next one.")

    static let secondFactorMissing = Refusal(
        .forbidden, code: .secondFactorMissing,
        detail: "A sign-in with a password needs a second factor here, and the user has none. Sign in with a link, and "
            + "set one up under Account.")
}

extension AuthorizedUser {
    /// Returns the user's sessions that have not ended, in order of id.
    package func sessions(_ page: PageRequest, now: Int) throws -> [Session] {
        try transaction.sessions(of: id, after: page.after, limit: page.limit, now: now)
    }
}
