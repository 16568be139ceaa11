// SPDX-License-Identifier: Apache-2.0

/// The ids by which an event of a store is found.
public struct EventKey: Hashable, Sendable, Codable {
    public var calendarID: String
    /// The event's id on this device; it changes when the event moves to another calendar, and may change in a full
    /// sync.
    public var localID: String
    /// The event's id at the calendar's server, the same on all devices. It is not unique: an event in a shared
    /// calendar and an invitation to it have the same id.
    public var externalID: String

    public init(calendarID: String, localID: String, externalID: String) {
        self.calendarID = calendarID
        self.localID = localID
        self.externalID = externalID
    }
}
