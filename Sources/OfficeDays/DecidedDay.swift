// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// Where a person worked on a day.
public enum DayStatus: String, Hashable, Sendable, Codable, CaseIterable { case inOffice, remote, none }

/// Why a day has its status.
public enum DaySource: String, Hashable, Sendable, Codable, CaseIterable { case visits, person, endOfDay }

/// The settings that an event shows. A day keeps its look, so that past days stay the same when settings change.
public struct DayLook: Hashable, Sendable, Codable {
    public var officeTitle: String
    public var remoteTitle: String
    public var availability: OfficeSettings.Availability
    /// The hours; nil for an all-day event.
    public var hours: OfficeHours?
    public var address: String?
    public var goal: Int

    public init(_ settings: OfficeSettings) {
        officeTitle = settings.officeTitle
        remoteTitle = settings.remoteTitle
        availability = settings.availability
        hours = settings.eventType == .timed ? settings.officeHours : nil
        address = settings.officeAddress
        goal = settings.monthlyGoal
    }
}

/// A day whose status was decided, and its event.
public struct DecidedDay: Hashable, Sendable, Codable {
    public var status: DayStatus
    /// Nil for a day that has no status and that the person said nothing about.
    public var source: DaySource?
    /// The IANA zone that determines when the day begins and ends.
    public var zone: String
    /// Whether visits and the end of the day decide its status, because its date is on or after the date of enabling.
    public var counts: Bool
    public var look: DayLook
    /// The current event, or nil.
    public var event: OfficeEvent?
    /// How often the date's event was written; deletions count too.
    public var revision = 0

    /// Whether there is nothing to store: no status, no event, and the date does not count.
    var saysNothing: Bool { status == .none && source == nil && !counts && event == nil }
}

/// A day as a person sees it.
public struct OfficeDay: Hashable, Sendable {
    public var date: CivilDate
    public var status: DayStatus
    public var source: DaySource?
    /// Whole minutes in the office, rounded down.
    public var officeMinutes: Int
    public var event: OfficeEvent?

    public init(
        date: CivilDate, status: DayStatus, source: DaySource?, officeMinutes: Int, event: OfficeEvent? = nil
    ) {
        self.date = date
        self.status = status
        self.source = source
        self.officeMinutes = officeMinutes
        self.event = event
    }
}
