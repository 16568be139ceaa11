// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Hashes and checks passwords, two at once at most, so that memory is bounded however many sign in.
package final class Passwords: Sendable {
    package let brake: SignInBrake
    private let cost: Int
    /// A hash of zeros, with the work of new ones.
    private let nobodys: String
    private let waiting = Atomic(0)

    /// How many may wait for their turn; each of them takes a third of a second or so.
    private static let longestQueue = 64
    private static let characters = 8...1024

    /// Separate threads: a hash would hold an event loop up for all others.
    private static let threads = HashThreads(width: 2)

    /// - Parameter cost: the binary logarithm of Scrypt's N for new hashes.
    package init(cost: Int, brake: SignInBrake) {
        (self.cost, self.brake) = (cost, brake)
        nobodys =
            "scrypt$\(cost)$8$\(PasswordHash.newParallelism)$\(Base64URL.encode([UInt8](repeating: 0, count: 16)))$"
            + Base64URL.encode([UInt8](repeating: 0, count: 32))
    }

    /// What is stored of a password.
    func hash(_ password: Concealed) async throws -> String {
        let cost = cost
        return try await work { try PasswordHash(password, cost: cost).stored }
    }

    /// Whether a password is the one that is stored; nil stored is never right, and takes as long to find out.
    func isRight(_ password: Concealed, stored: String?) async throws -> Bool {
        let nobodys = nobodys
        return try await work {
            // Whatever is missing, the same is done: a user without a password is compared with a hash that no password
            // gives.
            let known = stored.flatMap { PasswordHash(stored: $0) }
            guard let hash = known ?? PasswordHash(stored: nobodys) else { return false }
            // One of another length is nobody's, and takes the same time too.
            let isPossible = Self.isPossible(password)
            let isSame = hash.matches(isPossible ? password : Self.possible)
            return isSame && isPossible && known != nil
        }
    }

    private static let possible = Concealed("nobody's password")

    /// Whether a stored hash was made with less work than is asked of new ones.
    func isWeak(stored: String) -> Bool { PasswordHash(stored: stored)?.isWeaker(than: cost) ?? false }

    static func isPossible(_ password: Concealed) -> Bool {
        characters.contains(password.reveal().unicodeScalars.count)
    }

    static let rule = "A password has \(characters.lowerBound) to \(characters.upperBound) characters."

    private func work<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard waiting.add(1, ordering: .relaxed).newValue <= Self.longestQueue else {
            throw Refusal(
                .unavailable, code: .busy, detail: "Too many people are signing in at this moment. Try again soon.",
                retryAfter: 5)
        }
        return try await Self.threads.run(body)
    }
}

extension FieldReader {
    /// A password, exactly as it was typed.
    ///
    /// - Parameter isNew: whether it has to follow the rule; an old one is right or wrong.
    package mutating func password(_ name: String, isNew: Bool) -> Concealed? {
        guard let value = value(name) else {
            fault(name, code: .required, "This is required.")
            return nil
        }
        guard let text = value.string else {
            fault(name, code: .wrongType, "This must be text.")
            return nil
        }
        let password = Concealed(text)
        guard !isNew || Passwords.isPossible(password) else {
            fault(name, code: .outOfRange, Passwords.rule)
            return nil
        }
        return password
    }
}
