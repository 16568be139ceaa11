// SPDX-License-Identifier: Apache-2.0

import Storage

/// A scope of a service key; no scope includes another.
package enum Scope: String, CaseIterable, Hashable, Sendable {
    /// See circles, members, patients and the schedule, and export it.
    case readSchedule = "schedule:read"
    /// Change tasks, shifts, appointments, follow-ups and occurrences.
    case writeSchedule = "schedule:write"
    /// Create, change and delete circles, members and patients.
    case manageCircles = "circles:manage"
    /// Everything about feeds, including their addresses.
    case feeds
    /// Import files, undo imports, and follow other calendars.
    case imports
    /// Everything about people's calendars that are synchronized with a circle.
    case connections
    /// Users' passwords and, on behalf of a user, sessions and devices.
    case users
    /// Users' own events and those planned on their phones.
    case events
    /// Create, list and revoke service keys.
    case keys
    /// Read counters of connections and their runs.
    case stats
    /// Read the audit trail.
    case audit
}

/// The scope that a service key needs for a route.
package enum KeyNeed: Hashable, Sendable {
    /// A key that has scopes must have this one.
    case scope(Scope)
    /// Only a key without scopes is accepted.
    case wholeKey
    /// The route needs no credential.
    case noKey

    /// The scope that is needed, if any.
    package var scope: Scope? { if case .scope(let scope) = self { scope } else { nil } }
}

extension Set<Scope> {
    /// Reads stored scopes; throws `StorageError` for a name that this version does not know.
    package init(stored text: String) throws {
        self.init()
        for name in text.pieces(separatedBy: " ") {
            guard let scope = Scope(text: String(name)) else {
                throw StorageError.unexpectedResult("A service key has an unknown scope.")
            }
            insert(scope)
        }
    }

    /// The stored form: the names in the order of declaration, separated by spaces.
    var stored: String { names.joined(separator: " ") }

    package var names: [String] { Scope.allCases.filter(contains).map(\.rawValue) }
}
