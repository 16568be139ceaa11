// SPDX-License-Identifier: Apache-2.0

import Storage

/// The second factors of users who sign in with a password: an authenticator app, and recovery codes.
package struct SecondFactors: Sendable {
    /// A user's second factor, without its secret.
    package struct State: Sendable {
        package let hasPassword: Bool
        /// When the second factor was confirmed; nil when the user has none.
        package let since: Int?
        /// How many recovery codes are left.
        package let recoveryCodes: Int
    }

    /// A secret that is to be put into the user's app.
    package struct Enrollment: Sendable {
        package let secret: Concealed
        /// The hash of its codes, as addresses name it; people who type the secret have to know it.
        package let algorithm: String
        /// The `otpauth:` address with the secret, for a QR code.
        package let address: Concealed
    }

    let acts: Acts
    let passwords: Passwords
    let factors: SecondFactorCheck
    let proofs: ReauthenticationCheck
    /// The name under which apps list this server.
    let issuer: String

    /// How long a secret may wait for its confirmation, in milliseconds: an hour.
    package static let patience = 3_600_000

    private static func actTarget(for user: String) -> ActTarget<Void> {
        .user(user, touchingNoCircle: "A second factor opens no feed.")
    }

    /// Returns the state of the caller's own second factor.
    package func state(for caller: Caller) async throws -> State {
        try await acts.readOwn(for: caller) { try $0.secondFactor }
    }

    /// Creates a secret for the caller, which is shown only this once and depends on `confirm`; throws 409 when the
    /// caller has a second factor.
    ///
    /// - Parameter network: the caller's network, which limits guesses.
    package func begin(_ proof: Reauthentication, from network: String, for caller: Caller) async throws -> Enrollment {
        let user = try Rights.user(caller.identity)
        guard try await state(for: caller).since == nil else { throw Refusal.activeFactor }
        let begun = try await proofs.begin(proof, of: user, from: network)
        let (secret, factors, proofs) = (AuthenticatorSecret.make(factors.algorithm), factors, proofs)
        let sealed = try factors.sealed(secret, of: user)
        let enrollment = enrollment(secret, of: user)
        let shown = try await acts.act(on: Self.actTarget(for: user), for: caller) { act in
            try proofs.use(begun, in: act.transaction, now: act.now)
            guard try act.transaction.beginSecondFactor(of: user, sealed: sealed, now: act.now) else {
                throw Refusal.activeFactor
            }
            return ActResult(enrollment, noting: AuditNote(.secondFactorBegun, user))
        }
        try await proofs.accept(begun)
        return shown
    }

    /// Returns the caller's secret that waits for its confirmation, if it is this one; nil for any other text.
    package func resumed(_ secret: Concealed, for caller: Caller) async throws -> Enrollment? {
        let user = try Rights.user(caller.identity)
        let factor = try await acts.store.read { try $0.secondFactor(of: user) }
        guard let factor, !factor.isActive else { return nil }
        let own = try factors.secret(of: factor)
        return own.isSame(as: secret) ? enrollment(own, of: user) : nil
    }

    private func enrollment(_ secret: AuthenticatorSecret, of user: String) -> Enrollment {
        Enrollment(
            secret: secret.base32, algorithm: secret.algorithm.rawValue,
            address: secret.address(issuer: issuer, user: user))
    }

    /// Activates the caller's second factor with a code of the app, and ends the caller's other sessions.
    ///
    /// - Parameter network: the caller's network, which limits guesses.
    /// - Returns: the recovery codes, which are shown only this once.
    package func confirm(_ code: Concealed, from network: String, for caller: Caller) async throws -> [Concealed] {
        let (user, factors, codes) = (try Rights.user(caller.identity), factors, Self.codes())
        guard let waiting = try await acts.store.read({ try $0.secondFactor(of: user) }), !waiting.isActive else {
            throw Refusal.noWaitingFactor
        }
        try await passwords.brake.begin(user, from: network, now: acts.now())
        let shown = try await acts.act(on: Self.actTarget(for: user), for: caller) { act in
            let transaction = act.transaction
            guard let factor = try transaction.secondFactor(of: user), !factor.isActive,
                act.now - factor.createdAt < Self.patience
            else {
                throw Refusal.noWaitingFactor
            }
            guard let step = try factors.step(of: code, factor, now: act.now),
                try transaction.confirmSecondFactor(of: user, step: step, now: act.now)
            else { throw Refusal.wrongCode(at: "/code") }
            try transaction.putRecoveryCodes(codes.map(\.hash), of: user)
            try transaction.deleteSessions(of: user, except: caller.session)
            return ActResult(codes.map(\.shown), noting: AuditNote(.secondFactorEnabled, user))
        }
        try await passwords.brake.succeed(user, from: network, now: acts.now())
        return shown
    }

    /// Makes other recovery codes for the caller, in place of those that are left; they are shown only this once.
    package func renewRecoveryCodes(
        _ proof: Reauthentication, from network: String, for caller: Caller
    ) async throws -> [Concealed] {
        let (user, codes) = (try Rights.user(caller.identity), Self.codes())
        return try await change(proof, of: user, from: network, for: caller) { transaction in
            try transaction.putRecoveryCodes(codes.map(\.hash), of: user)
            return ActResult(codes.map(\.shown), noting: AuditNote(.recoveryCodesMade, user))
        }
    }

    /// Removes the caller's own second factor, and ends the caller's other sessions.
    package func remove(_ proof: Reauthentication, from network: String, for caller: Caller) async throws {
        let user = try Rights.user(caller.identity)
        try await change(proof, of: user, from: network, for: caller) { transaction in
            _ = try transaction.deleteSecondFactor(of: user)
            try transaction.deleteSessions(of: user, except: caller.session)
            return ActResult(noting: AuditNote(.secondFactorRemoved, user))
        }
    }

    /// Removes the second factor of a user who has lost it, and ends the user's sessions; only for the installation.
    package func remove(of user: String, for caller: Caller) async throws {
        try Rights.installation(caller.identity)
        let wasThere = try await acts.act(on: Self.actTarget(for: user), for: caller) { act -> ActResult<Bool> in
            guard try act.transaction.secondFactor(of: user)?.isActive == true else { return .unchanged(false) }
            _ = try act.transaction.deleteSecondFactor(of: user)
            try act.transaction.deleteSessions(of: user, except: nil)
            return ActResult(true, noting: AuditNote(.secondFactorRemoved, user))
        }
        guard wasThere else { throw Refusal.missing(.secondFactor) }
        try await passwords.brake.forget(user, now: acts.now())
    }

    /// Changes an active second factor with its user's proof; throws 409 when the user has none.
    private func change<Value: Sendable>(
        _ proof: Reauthentication, of user: String, from network: String, for caller: Caller,
        _ body: @escaping @Sendable (any WriteTransaction) throws -> ActResult<Value>
    ) async throws -> Value {
        guard try await state(for: caller).since != nil else { throw Refusal.noFactor }
        let begun = try await proofs.begin(proof, of: user, from: network)
        let proofs = proofs
        let value = try await acts.act(on: Self.actTarget(for: user), for: caller) { act in
            guard try act.transaction.secondFactor(of: user)?.isActive == true else { throw Refusal.noFactor }
            try proofs.use(begun, in: act.transaction, now: act.now)
            return try body(act.transaction)
        }
        try await proofs.accept(begun)
        return value
    }

    private static func codes() -> [RecoveryCode] { (0..<RecoveryCode.count).map { _ in RecoveryCode.make() } }
}

extension Refusal {
    fileprivate static let activeFactor = Refusal.conflict(
        "The user has a second factor. Remove it before setting up another.", code: .secondFactorState)

    fileprivate static let noWaitingFactor = Refusal.conflict(
        "No second factor waits for its confirmation. Begin again.", code: .secondFactorState)

    fileprivate static let noFactor = Refusal.conflict("The user has no second factor.", code: .secondFactorState)
}

extension AuthorizedUser {
    package var secondFactor: SecondFactors.State {
        get throws {
            SecondFactors.State(
                hasPassword: try transaction.password(of: id) != nil,
                since: try transaction.secondFactor(of: id)?.confirmedAt,
                recoveryCodes: try transaction.recoveryCodeCount(of: id))
        }
    }
}
