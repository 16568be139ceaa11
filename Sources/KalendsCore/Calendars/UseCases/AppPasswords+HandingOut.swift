// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import Storage

extension AppPasswords {
    /// The outcome of fetching a password with a secret.
    package enum Fetched: Sendable {
        /// The password, which is shown only this once.
        case password(AppPassword, AppSecret)
        /// It was fetched before, or not in time, or has ended.
        case ended
        /// No password waits for this secret.
        case unknown
    }

    /// Fetches a password that waits for a secret; of several concurrent calls, only one gets it.
    package func fetch(_ secret: Secret) async throws -> Fetched {
        let hash = secret.hash
        let waiting = try await store.read { transaction -> AppPassword?? in
            try transaction.passwordHandout(hash: hash).map { try transaction.appPassword($0.passwordID) }
        }
        guard let waiting else { return .unknown }
        guard let password = waiting else { return .ended }
        let ledger = ledger
        let taken = try await acts.act(
            on: .user(password.userID, touchingNoCircle: "Handing a password out does not change it."),
            for: .signingIn(password.userID)
        ) { act -> ActResult<(AppPassword, AppSecret)?> in
            let found = try Self.sealing { try ledger.take(for: hash, in: act.transaction, now: act.now) }
            guard let found else { return .unchanged(nil) }
            return ActResult(found, noting: AuditNote(.appPasswordFetched, found.password.id))
        }
        return taken.map { .password($0.0, $0.1) } ?? .ended
    }

    // MARK: Nextcloud's login flow, version 2

    /// Begins the sign-in of an app, which stores nothing.
    ///
    /// - Returns: the secret with which the app asks for its password, and the part of the page's path that names the
    ///   sign-in.
    package func beginLogin(of client: ClientFamily) -> (secret: Secret, ticket: String) {
        let secret = Secret.make(.appLogin)
        let ticket = AppLoginTicket(for: secret, client: client, now: now())
        return (secret, ticket.text(sealingKey))
    }

    /// Reads the ticket in a path; nil for one that this server did not make, and for one that has expired.
    package func login(_ ticket: String) -> AppLoginTicket? {
        AppLoginTicket(ticket, sealingKey, now: now())
    }

    /// Whether somebody has agreed to a sign-in.
    package func isUsed(_ ticket: AppLoginTicket) async throws -> Bool {
        try await store.read { try $0.passwordHandout(hash: ticket.fetcher) } != nil
    }

    /// Lets an app in: makes a password, which waits for the app's next question. Throws 409 when somebody did so
    /// before.
    package func grant(_ ticket: AppLoginTicket, _ draft: Draft, for caller: Caller) async throws -> CountedAppPassword
    {
        try await create(draft, for: caller, handingOutTo: ticket.fetcher, until: ticket.expiresAt) { counted, _ in
            counted
        }
    }
}
