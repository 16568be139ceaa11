// SPDX-License-Identifier: Apache-2.0

import Base
import Storage

extension Connections {
    /// Ends a connection, and removes what opens its account.
    ///
    /// - Parameter removesEvents: whether what it made in the calendar goes: with a last run, for which it is kept out of
    ///   sight until then.
    func delete(
        _ id: String, removingEvents removesEvents: Bool, if condition: Precondition<Connection>, for caller: Caller
    ) async throws {
        try await services.acts.act(on: .connection(id), for: caller) { act in
            let (own, transaction) = (act.held, act.transaction)
            try condition.check(own)
            try transaction.endConnection(own, removesEvents ? .all : nil, now: act.now)
            return Done(
                noting: AuditNote(
                    .connectionDeleted, id,
                    detail: ["events": removesEvents ? "remove" : "keep", "provider": .string(own.provider.rawValue)]))
        }
    }
}
