// SPDX-License-Identifier: Apache-2.0

public import OfficeDays
public import PhoneTexts

/// The step of the setup that chooses a calendar; it can be skipped.
public struct OfficeSetupScreen: Hashable, Sendable {
    public struct Choice: Hashable, Sendable {
        public let id: String
        public let title: String
        public let color: String?
        public let isChosen: Bool
    }

    public let title: String
    public let prompt: String
    /// Calendars that can be written.
    public let choices: [Choice]
    /// What will be made and where, nil while there is not a calendar.
    public let preview: String?
    public let skip: String
    public let proceed: String

    /// - Parameter chosen: an id; without one, or when it is gone, it is the first that can be written.
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
        // Without a calendar that can be written, one is made.
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

    /// A time on a clock of twelve hours; a full hour is the number by itself.
    private static func hour(_ minutes: Int) -> String {
        let (hour, rest) = ((minutes / 60 + 11) % 12 + 1, minutes % 60)
        return rest == 0 ? "\(hour)" : "\(hour):\(rest < 10 ? "0" : "")\(rest)"
    }
}

/// Settings as a person edits them. They are kept when there is not a fault.
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

    /// Titles as they will be in the calendar, while the person types.
    public var officePreview: String { settings.trimmed().officeTitle }
    public var remotePreview: String { settings.trimmed().remoteTitle }
    /// Shown beside the switch while it is on, and when it has just gone off.
    public var disableNote: String { texts.disableNote }

    /// One sentence for each field that cannot be kept, by the field's pointer.
    public func faults(isZone: (String) -> Bool) -> [OfficeSettingsFault] { settings.trimmed().faults(isZone: isZone) }

    /// Everything as it comes. The switch and the target stay, which are not preferences of how events look.
    public mutating func reset() {
        var fresh = OfficeSettings()
        (fresh.enabled, fresh.target) = (settings.enabled, settings.target)
        settings = fresh
    }
}

/// The next days, the state, and what is wrong: beside the person's work, never before it.
public struct OfficeOverviewScreen: Hashable, Sendable {
    public let state: OfficeState
    public let banner: OfficeBanner?
    public let preview: [OfficeDay]

    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - days: how many the preview has.
    public init(
        _ log: OfficeLog, problem: OfficeProblem?, now: Int, days: Int = 14, _ context: OfficeContext
    ) {
        state = OfficeState(log.settings, problem: problem)
        banner = state == .paused ? problem.map(OfficeBanner.init) : nil
        preview = log.preview(days, now: now, context)
    }
}

extension OfficeProblem {
    /// What keeps a device from writing office days, nil when nothing does.
    ///
    /// - Parameter calendarID: the chosen calendar.
    public init?(_ status: ConnectorStatus, calendars: [StoreCalendar], calendarID: String?) {
        guard status.allows(.write) else {
            self = .permissionRevoked
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
