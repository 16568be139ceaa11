// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// A write that waits for `commit()`.
public struct SaveTicket: Hashable, Sendable {
    public let number: Int
    public init(_ number: Int) { self.number = number }
}

/// The calendars on a device: EventKit's, or a folder of files.
///
/// Only `requestAccess()` asks the person. Reading events either returns all of them or throws.
public protocol CalendarStore: Sendable {
    /// Returns the current permission, which may change at any time.
    func authorization() async -> CalendarAuthorization

    /// Asks the person, and returns the permission afterwards.
    func requestAccess() async -> CalendarAuthorization

    /// Returns the uses that the person switched off in the app while the system permits them; a refusal for such a use
    /// is not a lost permission.
    func switchedOff() async -> Set<CalendarUse>

    func calendars() async throws(StoreFailure) -> [StoreCalendar]

    /// Makes a calendar if the device allows that.
    func makeCalendar(titled title: String) async throws(StoreFailure) -> StoreCalendar

    /// Returns all events that overlap a span in these calendars, in no particular order; a series is one event.
    /// `calendars` must not be empty, and the span must be shorter than four years.
    func events(in window: TimeRange, calendars: [String]) async throws(StoreFailure) -> [StoreEvent]

    /// Returns the titles and times of all occurrences that overlap a span.
    func occurrences(in window: TimeRange, calendars: [String]) async throws(StoreFailure) -> [StoreOccurrence]

    /// Returns the events with this id at the calendar's server: none, one, or several.
    func events(externalID: String) async throws(StoreFailure) -> [StoreEvent]

    /// Returns the event with this id on this device; nil when no event has it, or when the event's id has changed.
    func event(localID: String) async throws(StoreFailure) -> StoreEvent?

    /// Saves an event, which is visible after `commit()`. Only an event that exists can be changed.
    func save(_ draft: EventDraft) async throws(StoreFailure) -> SaveTicket

    /// Removes an event with all its occurrences; it is gone after `commit()`.
    func remove(_ key: EventKey) async throws(StoreFailure)

    /// Makes the writes since the last commit permanent, and returns each saved event as the store has it, or why this
    /// save by itself was not completed. After an error, none of the writes counts as done.
    func commit() async throws(StoreFailure) -> [SaveTicket: Result<StoreEvent, StoreFailure>]

    /// Drops uncommitted writes.
    func rollback() async

    /// Reports that something changed, but not what; also after this program's own writes and changes of the
    /// permission.
    func changeNotices() async -> AsyncStream<Void>
}

extension CalendarStore {
    /// Only a store with toggles of its own has something to add to the system's permission.
    public func switchedOff() async -> Set<CalendarUse> { [] }
}
