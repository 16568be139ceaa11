// SPDX-License-Identifier: Apache-2.0

/// One time at which an event takes place.
public struct Occurrence: Hashable, Sendable {
    /// The component that describes it: the series' master, or the override that replaces it.
    public var event: Event
    /// The start in the form and zone of that component's DTSTART.
    public var start: EventTime
    /// Exclusive, and never before `start`.
    public var end: EventTime
    /// Where the series' own rules put it (RFC 5545 section 3.8.4.4); nil for an event that does not repeat.
    public var recurrenceID: EventTime?

    public init(event: Event, start: EventTime, end: EventTime, recurrenceID: EventTime? = nil) {
        self.event = event
        self.start = start
        self.end = end
        self.recurrenceID = recurrenceID
    }

    /// Whether it was called off: a cancelled occurrence is given, so that a reader can show or leave it out.
    public var isCancelled: Bool { event.isCancelled }
}

/// The occurrences of a series within a window, and whether they are all.
public struct Expansion: Hashable, Sendable {
    /// In order of start.
    public var occurrences: [Occurrence]
    /// False when a limit ended the expansion; the occurrences given are then the first ones of each rule.
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
