// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// What a person chose for their office days.
public struct OfficeSettings: Hashable, Sendable, Codable {
    /// Where events are written.
    public enum Target: Hashable, Sendable, Codable {
        /// The person's feeds that include their own events.
        case feed
        /// A calendar on a phone, which the phone itself writes.
        case device
        /// A connected calendar, by the connection's id.
        case connection(String)
    }

    public enum EventType: String, Hashable, Sendable, Codable, CaseIterable { case timed, allDay }
    public enum Availability: String, Hashable, Sendable, Codable, CaseIterable { case free, busy }
    public enum TimeZoneMode: String, Hashable, Sendable, Codable, CaseIterable { case device, homeOffice }

    public var enabled = false
    public var target = Target.feed
    public var officeTitle = Self.officeTitle
    public var remoteTitle = Self.remoteTitle
    public var eventType = EventType.timed
    public var availability = Availability.free
    public var timeZoneMode = TimeZoneMode.device
    /// The IANA zone of the person's device; nil until the device reports it.
    public var deviceTimeZone: String?
    /// The IANA zone of the home office, required when `timeZoneMode` is `homeOffice`.
    public var homeOfficeTimeZone: String?
    public var officeHours = OfficeHours.usual
    public var trackedDays: Set<OfficeWeekday> = [.mon, .tue, .wed, .thu, .fri]
    /// Dates that do not become remote days automatically.
    public var holidays: Set<CivilDate> = []
    /// A followed calendar whose all-day events count as holidays too.
    public var holidayCalendar: String?
    /// Whether a remote day has an event; the status is remote in either case.
    public var createRemoteEvents = true
    /// The goal of office days a month, 1 to 31.
    public var monthlyGoal = 15
    /// The location of office-day events. Never coordinates.
    public var officeAddress: String?

    public static let officeTitle = "Office Day"
    public static let remoteTitle = "Remote Work"

    public init() {}

    /// The settings with the defaults of how events look and when they are. Settings that only the person knows stay:
    /// whether and where events are written, zones, address and holidays.
    public var withDefaults: OfficeSettings {
        var settings = OfficeSettings()
        settings.enabled = enabled
        settings.target = target
        settings.deviceTimeZone = deviceTimeZone
        settings.homeOfficeTimeZone = homeOfficeTimeZone
        settings.holidays = holidays
        settings.holidayCalendar = holidayCalendar
        settings.officeAddress = officeAddress
        return settings
    }

    /// The zone that determines when days begin and end, or `fallback` when none was named.
    public func timeZone(fallback: String) -> String {
        switch timeZoneMode {
        case .device: deviceTimeZone ?? fallback
        case .homeOffice: homeOfficeTimeZone ?? deviceTimeZone ?? fallback
        }
    }

    /// Whether a date becomes a remote day when nobody was in the office; `holidays` are those of followed calendars.
    public func isTracked(_ date: CivilDate, besides holidays: Set<CivilDate> = []) -> Bool {
        trackedDays.contains(date.dayOfWeek) && !self.holidays.contains(date) && !holidays.contains(date)
    }
}
