// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage

/// Seals the secrets of second factors, and checks typed codes.
struct SecondFactorCheck: Sendable {
    /// What a user gave as a second factor, in the words of the audit trail.
    enum Means: String, Sendable {
        case code
        case recoveryCode
    }

    let key: SealingKey
    /// By how many steps the clock of an app may be wrong.
    let tolerance: Int
    /// The algorithm of new secrets; others keep theirs.
    let algorithm: OneTimeCode.Algorithm
    /// Whether a sign-in with a password needs a second factor.
    let isNeeded: Bool

    /// The purpose of a sealed secret; it is bound to its user, so that nobody's row opens with another's secret.
    static func purpose(_ user: String) -> String { "second-factor/\(user)" }

    func sealed(_ secret: AuthenticatorSecret, of user: String) throws -> String {
        try key.seal(secret.stored.reveal(), for: Self.purpose(user))
    }

    /// Returns a stored secret; throws 409 if another key sealed it.
    func secret(of factor: SecondFactor) throws -> AuthenticatorSecret {
        guard let text = try? key.open(factor.sealed, for: Self.purpose(factor.userID)),
            let secret = AuthenticatorSecret(stored: text)
        else {
            throw Refusal.conflict(
                "The second factor was sealed with a key other than the server's. Use a recovery code, or have the "
                    + "second factor removed.", code: .sealedByAnotherKey)
        }
        return secret
    }

    /// Returns the step of a code that the user's app shows now; nil for any other text.
    func step(of typed: Concealed, _ factor: SecondFactor, now: Int) throws -> Int? {
        let letters = Self.letters(typed)
        guard letters.count == OneTimeCode.digits else { return nil }
        let secret = try secret(of: factor)
        return OneTimeCode.step(
            of: letters, secret: secret.bytes, secret.algorithm, now: now, tolerance: tolerance,
            after: factor.lastStep)
    }

    /// Uses up a code or a recovery code of an active second factor; nil for a wrong one, and for one that was used.
    func use(
        _ typed: Concealed, of factor: SecondFactor, in transaction: any WriteTransaction, now: Int
    ) throws -> Means? {
        if let recovery = RecoveryCode(letters: Self.letters(typed)) {
            return try transaction.useRecoveryCode(hash: recovery.hash, of: factor.userID) ? .recoveryCode : nil
        }
        guard let step = try step(of: typed, factor, now: now) else { return nil }
        return try transaction.useStep(step, ofSecondFactorOf: factor.userID) ? .code : nil
    }

    /// The characters of a typed code without the blanks and hyphens that group them.
    private static func letters(_ typed: Concealed) -> [UInt8] {
        typed.bytes.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "-") }
    }
}

extension FieldReader {
    /// The maximum number of characters that a typed code may have; the longest code has 29.
    package static let longestCode = 64

    /// Reads a code exactly as it was typed; whether it is right is decided elsewhere.
    package mutating func code(_ name: String, isRequired: Bool) -> Concealed? {
        guard let value = value(name) else {
            if isRequired { fault(name, code: .required, "This is required.") }
            return nil
        }
        guard let text = value.string else {
            fault(name, code: .wrongType, "This must be text.")
            return nil
        }
        guard text.unicodeScalars.count <= Self.longestCode else {
            fault(name, code: .tooLong, "This is longer than \(Self.longestCode) characters.")
            return nil
        }
        return Concealed(text)
    }
}
