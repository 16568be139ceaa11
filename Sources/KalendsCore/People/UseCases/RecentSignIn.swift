// SPDX-License-Identifier: Apache-2.0

import Storage

/// The rule that a user takes all of their data only shortly after signing in, and on a strict server ends other sessions
/// and devices only then.
///
/// A browser that was left open neither hands out its user's data nor signs its user out elsewhere.
struct RecentSignIn: Sendable {
    /// How long a sign-in counts, in milliseconds.
    static let span = 5 * 60_000

    let isNeeded: Bool

    /// Throws 403 unless the caller's session is new enough.
    ///
    /// A caller without a session comes with the host application's key or token, whose own sign-in counts.
    func check(_ caller: Caller, in transaction: any ReadTransaction, now: Int) throws {
        guard isNeeded, let own = caller.session, let user = caller.userID else { return }
        // At a provider somebody may go on who signed in there long ago, without being asked for anything.
        guard let session = try transaction.session(own, of: user),
            now - min(session.createdAt, session.provedAt ?? .max) < Self.span
        else {
            throw Refusal(
                .forbidden, code: .signInTooOld,
                detail: "This can only be done within 5 minutes of signing in. Sign in again.")
        }
    }
}
