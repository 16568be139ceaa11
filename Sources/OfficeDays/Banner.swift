// SPDX-License-Identifier: Apache-2.0

/// Why events cannot be written.
public enum OfficeProblem: String, Hashable, Sendable, Codable, CaseIterable {
    case permissionRevoked, calendarGone, calendarReadOnly, needsReconnect
    /// The person switched it off, or disconnected the calendar, in the app on the phone.
    case switchedOff
}

/// A line above a person's pages that says what is wrong. It never blocks anything.
public struct OfficeBanner: Hashable, Sendable {
    /// What the banner's button does.
    public enum Action: String, Hashable, Sendable, CaseIterable {
        /// Opens the system's settings, where the permission is given again.
        case openSettings
        /// Opens the screen for choosing a calendar.
        case chooseCalendar
        /// Connects the account again.
        case reconnect
        /// Opens the connectors, where the person switches it on again.
        case openConnectors
    }

    public let problem: OfficeProblem
    /// The whole line, ending with the button's label.
    public var text: String { "Calendar sync paused — \(cause). \(button)" }
    /// The button's label.
    public var button: String { "Fix" }

    public var action: Action {
        switch problem {
        case .permissionRevoked: .openSettings
        case .calendarGone, .calendarReadOnly: .chooseCalendar
        case .needsReconnect: .reconnect
        case .switchedOff: .openConnectors
        }
    }

    public init(_ problem: OfficeProblem) { self.problem = problem }

    private var cause: String {
        switch problem {
        case .permissionRevoked: "permission revoked"
        case .calendarGone: "calendar not found"
        case .calendarReadOnly: "calendar is read-only"
        case .needsReconnect: "account needs to be connected again"
        case .switchedOff: "switched off on the phone"
        }
    }
}

/// Whether office days are written to a calendar, as a person sees it.
public enum OfficeState: String, Hashable, Sendable, CaseIterable {
    /// Switched off: days do not count, and events stay as they are.
    case off
    case active
    /// Days are decided, but their events wait until the problem is solved.
    case paused

    public init(_ settings: OfficeSettings, problem: OfficeProblem?) {
        self = !settings.enabled ? .off : problem == nil ? .active : .paused
    }
}
