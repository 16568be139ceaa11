// SPDX-License-Identifier: Apache-2.0

import CalendarSync
package import Storage

/// A connection's account, opened for some conversations.
package struct OpenedCalendar: Sendable {
    let provider: any CalendarProvider
    /// Requests that were sent to the provider since it was opened.
    let requests: @Sendable () -> Int
}

/// Opens the accounts of connections.
package protocol CalendarProviding: Sendable {
    /// Throws `ProviderFailure` for an account that cannot be opened (`unauthorized` when only its person can fix that,
    /// `misconfigured` when only the operator can), and what the store throws.
    func open(_ connection: Connection) async throws -> OpenedCalendar

    /// Ends our access at the provider unless another connection uses the same account. What fails is of no consequence:
    /// the secrets are removed here in any case.
    func release(_ connection: Connection) async
}
