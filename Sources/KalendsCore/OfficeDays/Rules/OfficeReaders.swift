// SPDX-License-Identifier: Apache-2.0

import OfficeDays
import Storage

/// The calendars that a user's office days can be written to.
enum OfficeReaders {
    /// Whether a connection that events can be written to belongs to the user.
    static func hasConnection(_ id: String, _ user: String, in transaction: any ReadTransaction) throws -> Bool {
        try transaction.connection(id)?.userID == user
    }

    /// Returns what prevents a user's events from being written: what their writer reported, otherwise what the
    /// connection's state shows.
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
