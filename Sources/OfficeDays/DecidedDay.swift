// SPDX-License-Identifier: Apache-2.0

/// Where a person worked on a day.
public enum DayStatus: String, Hashable, Sendable, Codable, CaseIterable { case inOffice, remote, none }

/// Why a day has its status.
public enum DaySource: String, Hashable, Sendable, Codable, CaseIterable { case visits, person, endOfDay }

/// What of the settings an event shows. A day keeps its look, so that the past stays when settings change.
public struct DayLook: Hashable, Sendable, Codable {
    public var officeTitle: String
    public var remoteTitle: String
    public var availability: OfficeSettings.Availability
    /// Nil for an all-day event.
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

/// A day that was decided, and its event.
public struct DecidedDay: Hashable, Sendable, Codable {
    public var status: DayStatus
    /// Nil for a day without a status that no person spoke of.
    public var source: DaySource?
    /// The IANA zone by which the day began and ended.
    public var zone: String
    /// Whether visits and the end of the day decide it: it was dated on or after the enabling.
    public var counts: Bool
    public var look: DayLook
    /// The event that is there, nil when there is none.
    public var event: OfficeEvent?
    /// How often the date's event was written: it rises over deletions, too.
    public var revision: Int

    public init(
        status: DayStatus, source: DaySource?, zone: String, counts: Bool, look: DayLook, event: OfficeEvent? = nil,
        revision: Int = 0
    ) {
        self.status = status
        self.source = source
        self.zone = zone
        self.counts = counts
        self.look = look
        self.event = event
        self.revision = revision
    }

    /// Whether there is nothing here to keep: neither a status nor an event, nor that the date counts.
    var saysNothing: Bool { status == .none && source == nil && !counts && event == nil }
}

/// A day as a person sees it.
public struct OfficeDay: Hashable, Sendable {
    public var date: OfficeDate
    public var status: DayStatus
    public var source: DaySource?
    /// Whole minutes in the office, rounded down.
    public var officeMinutes: Int
    public var event: OfficeEvent?

    public init(
        date: OfficeDate, status: DayStatus, source: DaySource?, officeMinutes: Int, event: OfficeEvent? = nil
    ) {
        self.date = date
        self.status = status
        self.source = source
        self.officeMinutes = officeMinutes
        self.event = event
    }
}
