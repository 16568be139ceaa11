// SPDX-License-Identifier: Apache-2.0

import CalendarSync
package import Storage

/// A connection's account, opened for requests to its provider.
package struct OpenedCalendar: Sendable {
    let provider: any CalendarProvider
    /// Returns the number of requests sent to the provider since the account was opened.
    let requests: @Sendable () -> Int
}

/// Opens the accounts of connections.
package protocol CalendarProviding: Sendable {
    /// Opens a connection's account. Throws `ProviderFailure` if it cannot be opened (`unauthorized` if only its user
    /// can fix that, `misconfigured` if only the operator can), and any error of the store.
    ///
    /// - Parameter isQuestion: whether a person waits for what is asked, and no run goes on with it later.
    func open(_ connection: Connection, isQuestion: Bool) async throws -> OpenedCalendar

    /// Ends this server's access at the provider unless another connection uses the same account. Failures do not
    /// matter: the secrets are removed here in any case.
    func release(_ connection: Connection) async
}
