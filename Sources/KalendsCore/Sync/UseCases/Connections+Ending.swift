// SPDX-License-Identifier: Apache-2.0

package import Storage

extension Connections {
    /// Ends a connection, removes the credentials of its account, and revokes them at the provider unless another
    /// connection uses the same account.
    ///
    /// - Parameter removesEvents: whether the events that the connection made in the calendar are removed. A last run
    ///   does that; until then the connection and its credentials are kept but no longer shown.
    package func delete(
        _ id: String, removingEvents removesEvents: Bool, if condition: Precondition<Connection>, for caller: Caller
    ) async throws {
        let (own, stored) = try await context.store.read { transaction in
            let own = try Rights.connection(id, for: caller.identity, in: transaction)
            try condition.check(own)
            return (own, try transaction.credential(ofConnection: id))
        }
        let hasLastRun = removesEvents && own.calendarID != nil
        var isRevoked = true
        // This comes before the secret is deleted, since nobody could revoke it afterwards.
        if let stored, !hasLastRun { isRevoked = await context.providers.revoke(stored, own.provider) }
        let detail: JSONValue = [
            "events": removesEvents ? "remove" : "keep", "provider": .string(own.provider.rawValue),
            "revoked": .bool(isRevoked && !hasLastRun),
        ]
        try await context.acts.act(on: .connection(id), for: caller) { act in
            try condition.check(act.target)
            try act.transaction.endConnection(act.target, removesEvents ? .all : nil, now: act.now)
            return ActResult(noting: AuditNote(.connectionDeleted, id, detail: detail))
        }
        context.grants.forget(id)
        await context.tidying.afterDeleting(connection: id)
    }
}
