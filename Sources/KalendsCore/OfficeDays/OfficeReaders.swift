// SPDX-License-Identifier: Apache-2.0

import OfficeDays
import Storage

/// Where a user's office days can go.
enum OfficeReaders {
    /// Whether a user has a connection that events can go to.
    static func hasConnection(_ id: String, _ user: String, in transaction: any ReadTransaction) throws -> Bool {
        try transaction.connection(id)?.userID == user
    }

    /// What keeps a user's events from being written: what whoever writes them said, else the connection's own state.
    static func problem(_ book: OfficeBook, in transaction: any ReadTransaction) throws -> OfficeProblem? {
        if let problem = book.problem { return problem }
        guard case .connection(let id) = book.settings.target else { return nil }
        guard let connection = try transaction.connection(id) else { return .calendarGone }
        return switch connection.state {
        case .unauthorized, .needsReconnect: .needsReconnect
        case .choosing, .calendarGone: .calendarGone
        case .active, .paused: nil
        }
    }
}
