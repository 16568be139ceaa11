// SPDX-License-Identifier: Apache-2.0

import Base
package import FeedTokens
package import Storage

/// Sessions of users who sign in here with a password, for installations without a host application.
package struct Sessions: Sendable {
    let acts: Acts
    let passwords: Passwords
    let quotas: Quotas
    let recently: RecentSignIn

    private static func ground(_ user: String) -> Ground<Void> {
        .user(user, of: .session, touchingNoCircle: "A session opens no feed.")
    }

    /// Begins a session; throws `Refusal` for a wrong password, and for a user who has no password.
    ///
    /// - Parameters:
    ///   - client: the kind of program that signs in.
    ///   - network: the caller's network, which limits guesses.
    ///   - former: the secret of the browser's former session, which ends if it is this user's.
    /// - Returns: the session, and its secret, which is shown only this once.
    package func signIn(
        _ user: String, _ password: Concealed, client: String, from network: String, replacing former: Secret? = nil
    ) async throws -> (Session, Secret) {
        let caller = Caller.signingIn(user)
        let stored = try await checked(user, password, from: network, for: caller)
        let (secret, now, most) = (Secret.make(.session), acts.now(), quotas.sessionsPerUser)
        let session = Session(id: FeedLedger.makeID(), userID: user, client: client, now: now)
        try await acts.act(on: Self.ground(user), for: caller) { act in
            // A password that has been changed since it was checked is no longer valid.
            guard try act.transaction.password(of: user)?.hash == stored else { throw Refusal.wrongPassword }
            let ended = try Self.end(former, of: user, in: act.transaction, now: act.now)
            try act.transaction.insertSession(session, hash: secret.hash, maximum: most)
            return Done((), noting: AuditNote(.sessionCreated, session.id), and: ended)
        }
        return (session, secret)
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

    /// Returns the stored hash of a correct password; throws `Refusal` for a wrong one, and for a user who has no
    /// password.
    private func checked(
        _ user: String, _ password: Concealed, from network: String, for caller: Caller
    ) async throws -> String {
        try await passwords.brake.begin(user, from: network, now: acts.now())
        let stored = try await acts.store.read { try $0.password(of: user)?.hash }
        guard try await passwords.isRight(password, stored: stored), let stored else { throw Refusal.wrongPassword }
        try await passwords.brake.succeed(user, from: network, now: acts.now())
        guard passwords.isWeak(stored: stored) else { return stored }
        // The password is known only here, so a weak hash is replaced now with one of today's strength.
        let stronger = try await passwords.hash(password)
        return try await acts.act(on: Self.ground(user), for: caller) { act in
            guard try act.transaction.password(of: user)?.hash == stored else { throw Refusal.wrongPassword }
            try act.transaction.rehashPassword(of: user, hash: stronger)
            return .unnoted("The password is the same as before.", stronger)
        }
    }

    /// Returns the caller's own sessions, in order of id.
    package func list(_ page: PageRequest, for caller: Caller) async throws -> [Session] {
        let (user, now) = (try Rights.user(caller.identity), acts.now())
        return try await acts.store.read { try $0.sessions(of: user, after: page.after, limit: page.limit, now: now) }
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
        return try await acts.act(on: Self.ground(user), for: caller) { act in
            if caller.session.map({ $0 == id }) != true {
                try recently.check(caller, in: act.transaction, now: act.now)
            }
            guard try act.transaction.deleteSession(id, of: user) else { return .unchanged(false) }
            return Done(true, noting: AuditNote(.sessionEnded, id))
        }
    }
}

extension Refusal {
    /// The error is the same for a user who does not exist, so that it does not reveal who has a password here.
    static let wrongPassword = Refusal(
        .unauthenticated, code: .passwordWrong, detail: "The user id or the password is wrong.")
}
