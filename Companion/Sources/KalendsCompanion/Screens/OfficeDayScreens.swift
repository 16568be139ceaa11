// SPDX-License-Identifier: Apache-2.0

public import OfficeDays
public import PhoneTexts

/// The step of the setup in which a person chooses a calendar; it can be skipped.
public struct OfficeSetupScreen: Hashable, Sendable {
    public struct Choice: Hashable, Sendable {
        public let id: String
        public let title: String
        public let color: String?
        public let isChosen: Bool
    }

    public let title: String
    public let prompt: String
    /// The calendars that can be written.
    public let choices: [Choice]
    /// What will be made in which calendar; nil while no calendar exists.
    public let preview: String?
    public let skip: String
    public let proceed: String

    /// - Parameter chosen: the id of the chosen calendar; nil or an unknown id means the first that can be written.
    public init(
        _ calendars: [StoreCalendar], chosen: String?, settings: OfficeSettings, _ texts: OfficeDayTexts
    ) {
        let writable = calendars.filter(\.canWrite)
        let calendar = writable.first { $0.id == chosen } ?? writable.first
        title = texts.setupTitle
        prompt = texts.chooseCalendar
        choices = writable.map {
            Choice(id: $0.id, title: $0.title, color: $0.color, isChosen: $0.id == calendar?.id)
        }
        // If no calendar can be written, a new one will be made.
        preview = texts.preview(
            title: settings.officeTitle, kind: Self.kind(settings, texts),
            calendar: calendar?.title ?? texts.fallbackCalendar)
        skip = texts.skip
        proceed = texts.proceed
    }

    private static func kind(_ settings: OfficeSettings, _ texts: OfficeDayTexts) -> String {
        guard settings.eventType == .timed else { return texts.allDay }
        return "\(texts.timed) \(hour(settings.officeHours.start))–\(hour(settings.officeHours.end))"
    }

    /// Returns a time on a 12-hour clock; a full hour is the number without minutes.
    private static func hour(_ minutes: Int) -> String {
        let (hour, rest) = ((minutes / 60 + 11) % 12 + 1, minutes % 60)
        return rest == 0 ? "\(hour)" : "\(hour):\(rest < 10 ? "0" : "")\(rest)"
    }
}

/// Settings while a person edits them; they are stored when they have no faults.
public struct OfficeSettingsScreen: Hashable, Sendable {
    public var settings: OfficeSettings
    public let texts: OfficeDayTexts

    public init(_ settings: OfficeSettings, _ texts: OfficeDayTexts = OfficeDayTexts()) {
        self.settings = settings
        self.texts = texts
    }

    public var showsAsBusy: Bool {
        get { settings.availability == .busy }
        set { settings.availability = newValue ? .busy : .free }
    }

    /// The titles as they will be in the calendar, updated while the person types.
    public var officePreview: String { settings.trimmed().officeTitle }
    public var remotePreview: String { settings.trimmed().remoteTitle }
    /// Shown next to the switch while the switch is on, and after it was turned off.
    public var disableNote: String { texts.disableNote }

    /// Returns a fault with a sentence for each invalid field, with the field's pointer.
    public func faults(isZone: (String) -> Bool) -> [OfficeSettingsFault] { settings.trimmed().faults(isZone: isZone) }

    /// Resets all preferences to their defaults, except the switch and the target, which are not about how events look.
    public mutating func reset() {
        var fresh = OfficeSettings()
        (fresh.enabled, fresh.target) = (settings.enabled, settings.target)
        settings = fresh
    }
}

/// The next days, the state, and any problem, shown next to the person's work and never in front of it.
public struct OfficeOverviewScreen: Hashable, Sendable {
    public let state: OfficeState
    public let banner: OfficeBanner?
    public let preview: [OfficeDay]

    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - days: the number of days in the preview.
    public init(
        _ log: OfficeLog, problem: OfficeProblem?, now: Int, days: Int = 14, _ context: OfficeContext
    ) {
        state = OfficeState(log.settings, problem: problem)
        banner = state == .paused ? problem.map(OfficeBanner.init) : nil
        preview = log.preview(days, now: now, context)
    }
}

extension OfficeProblem {
    /// Makes the problem that prevents a device from writing office days, or nil.
    ///
    /// - Parameters:
    ///   - calendarID: the chosen calendar.
    ///   - permission: the system's permission; with it, a missing connection is the person's own choice.
    public init?(
        _ status: ConnectorStatus, calendars: [StoreCalendar], calendarID: String?,
        permission: CalendarAuthorization? = nil
    ) {
        guard status.allows(.write) else {
            self = status.isConnected || permission == .fullAccess ? .switchedOff : .permissionRevoked
            return
        }
        guard let calendarID else { return nil }
        guard let calendar = calendars.first(where: { $0.id == calendarID }) else {
            self = .calendarGone
            return
        }
        if calendar.canWrite { return nil }
        self = .calendarReadOnly
    }
}
