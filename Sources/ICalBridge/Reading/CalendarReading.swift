// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.
@_exported public import Calendar  // What is read and written is said in its values.

/// The result of reading a file: its calendars, what was wrong, and what was done about it.
public struct CalendarReading: Hashable, Sendable {
    public var format: SourceFormat
    /// The calendars in the order of the file; each holds events, to-dos, journal entries and free/busy blocks.
    public var calendars: [ICalendar] = []
    /// The lines of each event of `calendars` in the file, from BEGIN to END: `lines[calendar][event]`.
    ///
    /// A problem whose line is within an event's lines belongs to that event.
    public var lines: [[ClosedRange<Int>]] = []
    /// The problems, by line.
    public var problems: [Problem] = []
    /// Every zone that a time named, in order of first appearance, calendar by calendar.
    public var timeZones: [TimeZoneResolution] = []
    /// The number of events, to-dos, journal entries and free/busy blocks that could not be read; a problem gives the
    /// reason for each.
    public var skipped = 0
    /// Why nothing could be read; nil when something was read, or when the file is a calendar without entries.
    public var refusalSentence: Sentence?
    /// The same in English.
    public var refusal: String? { refusalSentence?.text }

    public init(format: SourceFormat) { self.format = format }

    /// All events of all calendars.
    public var events: [Event] { calendars.flatMap(\.events) }
}
