// SPDX-License-Identifier: Apache-2.0

import Storage

/// The password, and the code of a second factor, that users give again before they change how they sign in.
package struct Reauthentication: Sendable {
    let password: Concealed
    let code: Concealed?

    package init(password: Concealed, code: Concealed? = nil) { (self.password, self.code) = (password, code) }
}

/// Checks such a proof: the password first, since that takes long, and all else in the transaction of the change.
struct ReauthenticationCheck: Sendable {
    /// A proof whose password was right.
    struct Begun: Sendable {
        fileprivate let proof: Reauthentication
        fileprivate let user: String
        fileprivate let network: String
        fileprivate let hash: String
        /// Whether the try counts as a failure until the code has been used.
        fileprivate let isCounted: Bool
    }

    let store: any Store
    let passwords: Passwords
    let factors: SecondFactorCheck
    let now: Clock

    /// Checks the password; throws `Refusal` when it is wrong, and when a code is needed and missing.
    ///
    /// - Parameter network: the caller's network, which limits guesses.
    func begin(_ proof: Reauthentication, of user: String, from network: String) async throws -> Begun {
        try await passwords.brake.begin(user, from: network, now: now())
        let (stored, factor) = try await store.read {
            (try $0.password(of: user)?.hash, try $0.secondFactor(of: user))
        }
        guard try await passwords.isRight(proof.password, stored: stored, from: network), let stored else {
            throw Refusal.wrongCurrentPassword
        }
        let isCounted = factor?.isActive ?? false
        if !isCounted {
            try await passwords.brake.succeed(user, from: network, now: now())
        } else if proof.code == nil {
            try await passwords.brake.withdraw(user, from: network, now: now())
            throw Refusal.missingCode
        }
        return Begun(proof: proof, user: user, network: network, hash: stored, isCounted: isCounted)
    }

    /// Uses up the code of a proof, in the transaction of what it allows; throws `Refusal` for a wrong one.
    func use(_ begun: Begun, in transaction: any WriteTransaction, now: Int) throws {
        // Another change came first: the request was made with a password that is no longer valid.
        guard try transaction.password(of: begun.user)?.hash == begun.hash else { throw Refusal.wrongCurrentPassword }
        guard let factor = try transaction.secondFactor(of: begun.user), factor.isActive else { return }
        guard let code = begun.proof.code else { throw Refusal.missingCode }
        guard try factors.use(code, of: factor, in: transaction, now: now) != nil else {
            throw Refusal.wrongCode(at: "/code")
        }
    }

    /// Clears what `begin` counted, after the change.
    func accept(_ begun: Begun) async throws {
        guard begun.isCounted else { return }
        try await passwords.brake.succeed(begun.user, from: begun.network, now: now())
    }

    /// Takes back what `begin` counted, when something other than the code is wrong.
    func withdraw(_ begun: Begun) async throws {
        guard begun.isCounted else { return }
        try await passwords.brake.withdraw(begun.user, from: begun.network, now: now())
    }
}

extension Refusal {
    static let wrongCurrentPassword = Refusal.invalid(
        "/currentPassword", code: .wrongPassword, "This is not the current password.")

    fileprivate static let missingCode = Refusal.invalid(
        "/code", code: .required, "This is required, because the user has a second factor.")

    static func wrongCode(at pointer: String) -> Refusal {
        .invalid(pointer, code: .wrongCode, "The code is wrong, or has been used. Wait for the next one.")
    }
}
