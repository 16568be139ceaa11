// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import Storage

/// The browser sessions of the operator's pages, which a link of `kalends open --admin` begins, or the sign-in of a
/// member of the operators' group at a provider.
package struct OperatorSessions: Sendable {
    let acts: Acts

    /// Returns the session with this secret; nil when it has ended.
    package func find(_ secret: Secret) async throws -> OperatorSession? {
        let (hash, now) = (secret.hash, acts.now())
        return try await acts.store.read { try $0.operatorSession(hash: hash, now: now) }
    }

    /// Ends the caller's session; it is not an error if the session has already ended.
    package func signOut(for caller: Caller) async throws {
        guard let id = caller.session else { throw Refusal.missing(.session) }
        try await acts.act(on: .operatorPages, for: caller) { act in
            guard try act.transaction.deleteOperatorSession(id) else { return .unchanged(()) }
            return ActResult(noting: AuditNote(.operatorSessionEnded, id))
        }
    }
}
