// SPDX-License-Identifier: Apache-2.0

/// One time at which an event takes place.
public struct Occurrence: Hashable, Sendable {
    /// The component that describes the occurrence: the series' master, or the override that replaces it.
    public var event: Event
    /// The start in the form and zone of that component's DTSTART.
    public var start: EventTime
    /// The exclusive end, never before `start`.
    public var end: EventTime
    /// The time at which the series' own rules put the occurrence (RFC 5545 section 3.8.4.4); nil for an event that
    /// does not repeat.
    public var recurrenceID: EventTime?

    public init(event: Event, start: EventTime, end: EventTime, recurrenceID: EventTime? = nil) {
        self.event = event
        self.start = start
        self.end = end
        self.recurrenceID = recurrenceID
    }

    /// Whether the occurrence is cancelled; cancelled occurrences are returned, so that a reader can show them or leave
    /// them out.
    public var isCancelled: Bool { event.isCancelled }
}

/// The occurrences of a series within a window, and whether the list is complete.
public struct Expansion: Hashable, Sendable {
    /// The occurrences in order of start.
    public var occurrences: [Occurrence]
    /// False when a limit ended the expansion; the occurrences are then the first ones of each rule.
    public var isComplete: Bool

    public init(occurrences: [Occurrence], isComplete: Bool) {
        self.occurrences = occurrences
        self.isComplete = isComplete
    }
}

/// When the last occurrence of a series ends.
public enum SeriesEnd: Hashable, Sendable {
    /// No occurrence ends later.
    case at(Instant)
    /// A rule without an end continues up to the year 9999.
    case never
    /// The limits were used up before the last occurrence was found.
    case unknown
}
