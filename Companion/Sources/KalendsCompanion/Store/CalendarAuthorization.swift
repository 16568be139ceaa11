// SPDX-License-Identifier: Apache-2.0

/// What the system and the person allow this program to do with the calendars.
public enum CalendarAuthorization: String, Hashable, Sendable, Codable, CaseIterable {
    /// The person was not asked yet.
    case notDetermined
    /// A policy forbids access, and the person cannot change that.
    case restricted
    /// The person refused; only the system's settings can change that.
    case denied
    /// Events can be read and written.
    case fullAccess
    /// Events can be added but not read, so that nothing can be kept in step.
    case writeOnly

    /// Whether calendars can be kept in step.
    public var canSync: Bool { self == .fullAccess }
}
