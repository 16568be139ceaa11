// SPDX-License-Identifier: Apache-2.0

/// What a person chose.
public struct CompanionSettings: Hashable, Sendable, Codable {
    /// What the device calls itself to the server.
    public var deviceID: String
    /// The server's address, which marks lead to.
    public var serverURL: String
    /// Ids of the calendars whose events go to the server. Their events are read and never written.
    public var ownCalendars: [String] = []
    /// The id of the calendar that shows the server's events; nil shows them nowhere.
    public var mirrorCalendar: String?
    /// How far back and ahead events are kept in step, in days.
    public var pastDays = 30
    public var futureDays = 400
    /// How long an event has to be missing, from one look to another, to count as deleted; milliseconds.
    public var deletionPatience = 300_000
    /// Writes that a calendar gets at once.
    public var batch = 50

    public init(deviceID: String, serverURL: String) {
        self.deviceID = deviceID
        self.serverURL = serverURL
    }
}
