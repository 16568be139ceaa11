// SPDX-License-Identifier: Apache-2.0

package import OfficeDays

/// A problem that, by its report, keeps a phone from its calendars: what the system does not permit, and what the
/// person did in the app.
package enum PhoneProblem: String, Hashable, Sendable, CaseIterable {
    case permissionRevoked, calendarGone, calendarReadOnly, needsReconnect
    /// The person switched reading or writing off in the app.
    case switchedOff
    /// The person disconnected the calendar in the app.
    case disconnected

    /// The same as what keeps office days from being written.
    package var office: OfficeProblem {
        switch self {
        case .permissionRevoked: .permissionRevoked
        case .calendarGone: .calendarGone
        case .calendarReadOnly: .calendarReadOnly
        case .needsReconnect: .needsReconnect
        case .switchedOff, .disconnected: .switchedOff
        }
    }

    /// Whether it keeps the phone from reading, so that a phone that sends planned events no longer has it.
    var preventsReading: Bool {
        switch self {
        case .permissionRevoked, .switchedOff, .disconnected: true
        case .calendarGone, .calendarReadOnly, .needsReconnect: false
        }
    }
}
