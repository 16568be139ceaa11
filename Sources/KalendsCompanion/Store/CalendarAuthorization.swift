// SPDX-License-Identifier: Apache-2.0

/// What a person lets this program do with their calendars.
public enum CalendarAuthorization: String, Hashable, Sendable, Codable, CaseIterable {
    /// Nobody was asked yet.
    case notDetermined
    /// A policy forbids it, and the person cannot change that.
    case restricted
    /// The person said no; only the system's settings change that.
    case denied
    /// Everything can be read and written.
    case fullAccess
    /// Events can be added and never be seen again, so that nothing can be kept in step.
    case writeOnly

    /// Whether calendars can be kept in step.
    public var canSync: Bool { self == .fullAccess }
}
