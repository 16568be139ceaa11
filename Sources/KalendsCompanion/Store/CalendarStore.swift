// SPDX-License-Identifier: Apache-2.0

/// A span of time, in seconds since 1970; the end is the first second after it.
public struct TimeWindow: Hashable, Sendable, Codable {
    public var start: Int
    public var end: Int

    public init(start: Int, end: Int) {
        self.start = start
        self.end = max(start, end)
    }
}

/// A write that waits for `commit()`.
public struct SaveTicket: Hashable, Sendable {
    public let number: Int
    public init(_ number: Int) { self.number = number }
}

/// Calendars on a device: EventKit's, or a folder of files.
///
/// Nothing is asked of a person but by `requestAccess()`. A look at events is complete or it throws.
public protocol CalendarStore: Sendable {
    /// What is allowed now; it may change at any time.
    func authorization() async -> CalendarAuthorization

    /// Asks the person; the answer is what is allowed then.
    func requestAccess() async -> CalendarAuthorization

    func calendars() async throws(StoreFailure) -> [StoreCalendar]

    /// Makes a calendar where the device allows one.
    func makeCalendar(titled title: String) async throws(StoreFailure) -> StoreCalendar

    /// All events that overlap a span in these calendars, in no order; a series is one event. `calendars` must not be
    /// empty, and the span is shorter than four years.
    func events(in window: TimeWindow, calendars: [String]) async throws(StoreFailure) -> [StoreEvent]

    /// Titles and times of all occurrences that overlap a span.
    func occurrences(in window: TimeWindow, calendars: [String]) async throws(StoreFailure) -> [StoreOccurrence]

    /// The events that have this name at the calendar's server: none, one, or several.
    func events(externalID: String) async throws(StoreFailure) -> [StoreEvent]

    /// The event that has this name on this device; nil when no event has it, or when its name is now another.
    func event(localID: String) async throws(StoreFailure) -> StoreEvent?

    /// Saves an event; it is seen after `commit()`. Only an event that is there now can be changed.
    func save(_ draft: EventDraft) async throws(StoreFailure) -> SaveTicket

    /// Removes an event with all its occurrences; it is gone after `commit()`.
    func remove(_ key: EventKey) async throws(StoreFailure)

    /// Makes the writes since the last commit lasting, and returns what the store made of each saved event. After an
    /// error none of them may count as done.
    func commit() async throws(StoreFailure) -> [SaveTicket: StoreEvent]

    /// Forgets what was not committed.
    func rollback() async

    /// Says that something changed, without saying what: also for this program's own writes, and for permission.
    func changeNotices() async -> AsyncStream<Void>
}
