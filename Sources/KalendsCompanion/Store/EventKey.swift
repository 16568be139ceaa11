// SPDX-License-Identifier: Apache-2.0

/// Where an event of a store is found.
public struct EventKey: Hashable, Sendable, Codable {
    public var calendarID: String
    /// What this device's store calls the event; it changes when the event moves to another calendar, or by a full sync.
    public var localID: String
    /// What the calendar's server calls it, the same on all devices. It is not unique: a shared calendar and an
    /// invitation bring the same one twice.
    public var externalID: String

    public init(calendarID: String, localID: String, externalID: String) {
        self.calendarID = calendarID
        self.localID = localID
        self.externalID = externalID
    }
}
