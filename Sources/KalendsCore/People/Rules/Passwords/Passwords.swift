// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Hashes and checks passwords, at most two at once, so that memory is limited however many people sign in.
package final class Passwords: Sendable {
    package let brake: SignInThrottle
    private let cost: Int
    /// A hash that no password gives and that takes as much work as new ones.
    private let nobodys: String
    private let waiting = Atomic(0)

    /// The maximum number of requests that may wait for their turn; each takes about a third of a second.
    private static let longestQueue = 64
    private static let characters = 8...1024

    /// Separate threads, because a hash would block an event loop for everybody else.
    private static let threads = TurnThreads(width: 2)

    /// - Parameter cost: the binary logarithm of Scrypt's N for new hashes.
    package init(cost: Int, brake: SignInThrottle) {
        (self.cost, self.brake) = (cost, brake)
        nobodys = PasswordHash.dummyHash(cost: cost)
    }

    /// Returns the hash of a password as it is stored.
    func hash(_ password: Concealed) async throws -> String {
        let cost = cost
        return try await work { try PasswordHash(password, cost: cost).stored }
    }

    /// Whether a password matches the stored one; without a stored hash the answer is no, and takes just as long.
    func isRight(_ password: Concealed, stored: String?) async throws -> Bool {
        // One text goes to the other thread either way: to count the references of a second one from two processors
        // takes measurably longer.
        let (text, isStored, cost) = (stored ?? nobodys, stored != nil, cost)
        return try await work {
            let known = PasswordHash(stored: text)
            // The work is always the same: for what is not a hash, it uses one that no password gives.
            guard let hash = known ?? PasswordHash(stored: PasswordHash.dummyHash(cost: cost)) else { return false }
            // A password of an invalid length is never right, but takes the same time.
            let isPossible = Self.isPossible(password)
            let isSame = hash.matches(isPossible ? password : Self.possible)
            return isSame && isPossible && isStored && known != nil
        }
    }

    private static let possible = Concealed("nobody's password")

    /// Whether a stored hash took less work than new ones must take.
    func isWeak(stored: String) -> Bool { PasswordHash(stored: stored)?.isWeaker(than: cost) ?? false }

    static func isPossible(_ password: Concealed) -> Bool {
        characters.contains(password.reveal().unicodeScalars.count)
    }

    static let rule = "A password must have \(characters.lowerBound) to \(characters.upperBound) characters."

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
    /// Reads a password exactly as it was typed.
    ///
    /// - Parameter isNew: whether it has to follow the rule; an existing password is only right or wrong.
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
