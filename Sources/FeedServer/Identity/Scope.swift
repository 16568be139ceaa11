// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// What a service key may do; none includes another.
enum Scope: String, CaseIterable, Hashable, Sendable {
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
    /// Users' passwords, and in a user's name sessions and devices.
    case users
    /// Make, list and revoke service keys.
    case keys
    /// Read who did what.
    case audit

    /// The scope that a route needs, by the path that it was registered with; nil when it takes a key without limits.
    static func needed(for method: HTTPRequest.Method, _ route: String) -> Scope? {
        let parts = route.split(separator: "/")
        let isRead = method == .get || method == .head
        switch parts.first {
        case "sync": return .users
        case "v1": break
        default: return nil
        }
        switch parts.dropFirst().first {
        case "keys": return .keys
        case "audit": return .audit
        case "feeds": return .feeds
        case "imports": return .imports
        case "users", "sessions", "devices": return .users
        case "circles": break
        default: return nil
        }
        switch parts.dropFirst(3).first {
        case "feeds": return .feeds
        case "imports", "subscriptions": return .imports
        case nil, "members", "patients": return isRead ? .readSchedule : .manageCircles
        default: return isRead ? .readSchedule : .writeSchedule
        }
    }
}

extension Set<Scope> {
    /// Reads scopes as they are stored; names that this version does not know open nothing.
    init(stored text: String) { self.init(text.split(separator: " ").compactMap { Scope(rawValue: String($0)) }) }

    /// In the order of their declaration, with a space between.
    var stored: String { names.joined(separator: " ") }

    var names: [String] { Scope.allCases.filter(contains).map(\.rawValue) }
}
