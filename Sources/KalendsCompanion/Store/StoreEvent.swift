// SPDX-License-Identifier: Apache-2.0

/// An event, or a series with its changed occurrences, which are read and written as one.
public struct EventUnit: Hashable, Sendable, Codable {
    public var content: EventContent
    /// Changed occurrences by their original start; none of them repeats. Those that are left out are in
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
    /// The address of the event, which carries our mark when we made it; nil when it has none.
    public var url: String?
    /// When it was last changed, in milliseconds since 1970; nil when the store does not know.
    public var lastModified: Int?
    /// Whether others take part, or the person takes part in somebody else's: it is never written.
    public var hasAttendees: Bool
    /// Where the occurrences of a series are known; nil when all are.
    public var known: TimeWindow?

    public init(
        key: EventKey, unit: EventUnit, url: String? = nil, lastModified: Int? = nil, hasAttendees: Bool = false,
        known: TimeWindow? = nil
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
    /// The event that is changed, nil for a new one.
    public var key: EventKey?
    /// Where a new event goes.
    public var calendarID: String
    public var unit: EventUnit
    /// The event's address; nil leaves the one that is there.
    public var url: String?
    /// Whether the time counts as taken; nil leaves what is there, and for a new event what the store does by itself.
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
    /// Seconds since 1970; of whole days, midnight by the device's clock.
    public var start: Int
    /// Seconds since 1970, the first second after it.
    public var end: Int
    public var isAllDay: Bool
    public var calendarTitle: String
    /// The event's address, by which an event of ours is known.
    public var url: String?

    public init(
        key: EventKey, title: String, start: Int, end: Int, isAllDay: Bool, calendarTitle: String, url: String? = nil
    ) {
        self.key = key
        self.title = title
        self.start = start
        self.end = end
        self.isAllDay = isAllDay
        self.calendarTitle = calendarTitle
        self.url = url
    }
}
