// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// An event, or a series with its changed occurrences, which is read and written as one.
public struct EventUnit: Hashable, Sendable, Codable {
    public var content: EventContent
    /// Changed occurrences by their original start; none of them repeats. Occurrences that are left out are in
    /// `content.recurrence.exceptions`.
    public var changed: [EventMoment: EventContent]

    public init(_ content: EventContent, changed: [EventMoment: EventContent] = [:]) {
        self.content = content
        self.changed = changed
    }
}

/// An event as a store has it.
public struct StoreEvent: Hashable, Sendable {
    public var key: EventKey
    public var unit: EventUnit
    /// The event's URL, which carries the mark of an event that Kalends made, or nil.
    public var url: String?
    /// When the event was last changed, in milliseconds since 1970; nil when the store does not know.
    public var lastModified: Int?
    /// Whether the event has other participants, or the person takes part in another's event; such an event is never
    /// written.
    public var hasAttendees: Bool
    /// The span in which the occurrences of a series are known; nil when all are known.
    public var known: TimeRange?

    public init(
        key: EventKey, unit: EventUnit, url: String? = nil, lastModified: Int? = nil, hasAttendees: Bool = false,
        known: TimeRange? = nil
    ) {
        self.key = key
        self.unit = unit
        self.url = url
        self.lastModified = lastModified
        self.hasAttendees = hasAttendees
        self.known = known
    }
}

/// An event as it should be in a store.
public struct EventDraft: Hashable, Sendable {
    /// The event to change; nil for a new event.
    public var key: EventKey?
    /// The calendar of a new event.
    public var calendarID: String
    public var unit: EventUnit
    /// The event's URL; nil keeps the current one.
    public var url: String?
    /// Whether the time counts as busy; nil keeps the current value, and uses the store's default for a new event.
    public var isBusy: Bool?

    public init(key: EventKey?, calendarID: String, unit: EventUnit, url: String?, isBusy: Bool? = nil) {
        self.key = key
        self.calendarID = calendarID
        self.unit = unit
        self.url = url
        self.isBusy = isBusy
    }
}

/// An occurrence as a person sees it: a title and a time.
public struct StoreOccurrence: Hashable, Sendable {
    public var key: EventKey
    public var title: String
    /// For whole days, from midnight to midnight by the device's clock.
    public var range: TimeRange
    public var isAllDay: Bool
    public var calendarTitle: String
    /// The event's URL, by which an event that Kalends made is recognized.
    public var url: String?

    public init(
        key: EventKey, title: String, range: TimeRange, isAllDay: Bool, calendarTitle: String, url: String? = nil
    ) {
        self.key = key
        self.title = title
        self.range = range
        self.isAllDay = isAllDay
        self.calendarTitle = calendarTitle
        self.url = url
    }
}
