// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import Storage

/// A sign-in in two steps, for pages: the password first, and then the code on a page of its own.
extension Sessions {
    /// The result of the first step.
    package enum FirstStep: Sendable {
        case signedIn(Session, Secret)
        /// The user has a second factor; the ticket replaces the password, which no page contains.
        case needsCode(ticket: Concealed)
    }

    /// How long a ticket lasts, in milliseconds: five minutes.
    package static let ticketLifetime = 300_000

    /// Checks the password, and begins the session of a user without a second factor.
    ///
    /// - Parameters:
    ///   - browser: a secret of the browser, to which the ticket is bound.
    ///   - client: the kind of program that signs in.
    ///   - network: the caller's network, which limits guesses.
    ///   - former: the secret of the browser's former session, which ends if it is this user's.
    package func signIn(
        _ user: String, _ password: Concealed, in browser: String, client: String, from network: String,
        replacing former: Secret?
    ) async throws -> FirstStep {
        let stored = try await checked(user, password, hasCode: false, from: network)
        if stored.hasFactor {
            let text = "\(acts.now() + Self.ticketLifetime) \(signature(stored.hash)) \(user)"
            return .needsCode(ticket: Concealed(try factors.key.seal(text, for: Self.purpose(browser))))
        }
        let (session, secret) = try await begin(
            user, stored, nil, client: client, from: network, replacing: former)
        return .signedIn(session, secret)
    }

    /// Begins the session of a user who has typed the code too; a wrong code counts as a wrong password does.
    ///
    /// - Parameter note: is called with the user of a ticket that can be used.
    package func signIn(
        ticket: Concealed, code: Concealed, in browser: String, client: String, from network: String,
        replacing former: Secret?, _ note: (String) -> Void
    ) async throws -> (Session, Secret) {
        guard let opened = opened(ticket, browser), opened.until > acts.now() else { throw Refusal.endedSignIn }
        let user = opened.user
        note(user)
        guard let hash = try await acts.store.read({ try $0.password(of: user)?.hash }),
            signature(hash) == opened.signature
        else { throw Refusal.endedSignIn }
        try await passwords.brake.begin(user, from: network, now: acts.now())
        return try await begin(
            user, Checked(hash: hash, hasFactor: true), code, client: client, from: network, replacing: former)
    }

    private static func purpose(_ browser: String) -> String { "sign-in/\(browser)" }

    /// A name for a stored password, so that a ticket ends with it.
    private func signature(_ hash: String) -> String { factors.key.name(for: "sign-in with \(hash)") }

    private func opened(_ ticket: Concealed, _ browser: String) -> (until: Int, signature: String, user: String)? {
        guard let text = try? factors.key.open(ticket.reveal(), for: Self.purpose(browser)) else { return nil }
        // Neither a name nor a user's id contains a space.
        let parts = text.utf8.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 3, let until = Int(parts[0]) else { return nil }
        return (until, parts[1], parts[2])
    }
}

extension Refusal {
    fileprivate static let endedSignIn = Refusal(
        .unauthenticated, code: .signInEnded, detail: "The sign-in took too long. Begin again.")
}
