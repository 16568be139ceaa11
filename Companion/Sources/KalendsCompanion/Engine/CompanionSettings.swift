// SPDX-License-Identifier: Apache-2.0

/// A person's settings of the companion.
public struct CompanionSettings: Hashable, Sendable, Codable {
    /// The id of this device at the server.
    public var deviceID: String
    /// The server's address, to which marks lead.
    public var serverURL: String
    /// The ids of the calendars whose events go to the server. These events are read and never written.
    public var ownCalendars: [String] = []
    /// The id of the calendar that shows the server's events; nil to show them nowhere.
    public var mirrorCalendar: String?
    /// How many days back and ahead events are kept in step.
    public var pastDays = 30
    public var futureDays = 400
    /// How long an event has to be missing, from one look to another, to count as deleted; in milliseconds.
    public var deletionPatience = 300_000
    /// The maximum number of writes to a calendar in one batch.
    public var batch = 50

    public init(deviceID: String, serverURL: String) {
        self.deviceID = deviceID
        self.serverURL = serverURL
    }
}
