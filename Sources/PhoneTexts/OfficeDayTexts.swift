// SPDX-License-Identifier: Apache-2.0

/// The texts that a person reads where office days are set up and shown.
public struct OfficeDayTexts: Hashable, Sendable {
    public init() {}

    public let title = "Calendar Integration"
    public let setupTitle = "Calendar Integration (Optional)"
    public let chooseCalendar = "Choose Your Calendar:"
    public let skip = "Skip"
    public let proceed = "Continue"

    public let enable = "Enable Calendar Integration"
    public let selectedCalendar = "Selected Calendar"
    public let eventTitles = "Event Titles"
    public let officeEvent = "Office Event"
    public let remoteEvent = "Remote Event"
    public let eventType = "Event Type"
    public let allDay = "All-day"
    public let timed = "Timed"
    public let availability = "Availability"
    public let showAsBusy = "Show status events as Busy"
    public let timeZoneMode = "Time Zone Mode"
    public let deviceZone = "Follow device time zone"
    public let homeOfficeZone = "Use home office time zone"
    public let remoteWork = "Remote Work Events"
    public let createRemoteEvents = "Create remote work events"
    public let reset = "Reset to Defaults"
    public let cleanUp = "Remove managed events"
    public let fallbackCalendar = "In Office Days"
    /// Shown beside the switch, because events stay.
    public let disableNote = "Disabling leaves existing events in place."

    /// - Parameter kind: `All-day`, or `Timed 9–5`.
    public func preview(title: String, kind: String, calendar: String) -> String {
        "Preview: “\(title)” (\(kind)) will be created in \(calendar)."
    }

    /// The text that the system shows when it asks for the permission.
    public let usage =
        "This app creates calendar events to track your office visits and remote work days, helping you visualize your "
        + "work patterns. All events are stored locally in your chosen calendar."
}
