// SPDX-License-Identifier: Apache-2.0

/// What a file turned out to hold: its calendars, what was wrong, and what was done about it.
public struct CalendarReading: Hashable, Sendable {
    public var format: SourceFormat
    /// In the order of the file; events, to-dos, journal entries and free/busy blocks in each.
    public var calendars: [ICalendar] = []
    /// The lines of the file, from BEGIN to END, of each event of `calendars`: `lines[calendar][event]`.
    ///
    /// A problem whose line lies within them is about that event.
    public var lines: [[ClosedRange<Int>]] = []
    /// By line.
    public var problems: [Problem] = []
    /// Every zone that a time named, in the order they were met, calendar by calendar.
    public var timeZones: [TimeZoneResolution] = []
    /// Components with a place in time that could not be read and are lost; a problem says why for each.
    public var skipped = 0
    /// One sentence that says why nothing could be read; nil when something was, or when it is a calendar without
    /// entries.
    public var refusal: String?

    public init(format: SourceFormat) { self.format = format }
}

extension CalendarReading {
    /// All events of all calendars.
    public var events: [Event] { calendars.flatMap(\.events) }

    /// The problems within the lines of one event.
    public func problems(ofEvent event: Int, inCalendar calendar: Int) -> ArraySlice<Problem> {
        guard lines.indices.contains(calendar), lines[calendar].indices.contains(event) else { return [] }
        let span = lines[calendar][event]
        let first = firstIndex { $0.line >= span.lowerBound }
        return problems[first..<max(first, firstIndex { $0.line > span.upperBound })]
    }

    /// The first problem for which something holds that holds for all after it.
    private func firstIndex(where holds: (Problem) -> Bool) -> Int {
        var low = 0
        var high = problems.count
        while low < high {
            let middle = (low + high) / 2
            if holds(problems[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
