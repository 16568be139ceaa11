// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import Storage

/// Browsers in which the operator's pages are open: a link of `kalends open --admin` begins such a session, and nothing else.
package struct OperatorSessions: Sendable {
    let acts: Acts

    /// The session with this secret; nil once it has ended.
    package func find(_ secret: Secret) async throws -> OperatorSession? {
        let (hash, now) = (secret.hash, acts.now())
        return try await acts.store.read { try $0.operatorSession(hash: hash, now: now) }
    }

    /// Ends the session that the caller came with; one that ended meanwhile is not a fault.
    package func signOut(for caller: Caller) async throws {
        guard let id = caller.session else { throw Refusal.missing(.session) }
        try await acts.act(on: .operatorPages, for: caller) { act in
            guard try act.transaction.deleteOperatorSession(id) else { return .unchanged(()) }
            return Done(noting: AuditNote(.operatorSessionEnded, id))
        }
    }
}
