// SPDX-License-Identifier: Apache-2.0

import Base
import Storage

/// What a service key may do; none includes another.
package enum Scope: String, CaseIterable, Hashable, Sendable {
    /// See circles, members, patients and the schedule, and export it.
    case readSchedule = "schedule:read"
    /// Change tasks, shifts, appointments, follow-ups and occurrences.
    case writeSchedule = "schedule:write"
    /// Make, change and delete circles, members and patients.
    case manageCircles = "circles:manage"
    /// All of feeds, their addresses too.
    case feeds
    /// Bring in files, take them back, and follow calendars elsewhere.
    case imports
    /// All of people's calendars that are kept in step with a circle.
    case connections
    /// Users' passwords, and in a user's name sessions and devices.
    case users
    /// Users' own events and what their phones have planned.
    case events
    /// Make, list and revoke service keys.
    case keys
    /// Read counters of connections and their runs.
    case stats
    /// Read who did what.
    case audit
}

/// What a service key needs for a route.
package enum KeyNeed: Hashable, Sendable {
    /// A key with scopes needs this one among them.
    case scope(Scope)
    /// Only a key without scopes will do.
    case wholeKey
    /// The route asks for no credential.
    case noKey

    /// The scope that it names, nil when it names none.
    package var scope: Scope? { if case .scope(let scope) = self { scope } else { nil } }
}

extension Set<Scope> {
    /// Reads scopes as they are stored; throws `StorageError` for a name that this version does not know.
    package init(stored text: String) throws {
        self.init()
        for name in text.pieces(separatedBy: " ") {
            guard let scope = Scope(text: String(name)) else {
                throw StorageError.unexpectedResult("A service key has an unknown scope.")
            }
            insert(scope)
        }
    }

    /// In the order of their declaration, with a space between.
    var stored: String { names.joined(separator: " ") }

    package var names: [String] { Scope.allCases.filter(contains).map(\.rawValue) }
}
