// SPDX-License-Identifier: Apache-2.0

public import Foundation

public class EKCalendarItem {
    /// The number of the database's row; nil for an item that is not saved.
    var row: Int?
    public internal(set) var calendarItemIdentifier = UUID().uuidString
    public internal(set) var calendarItemExternalIdentifier: String?
    public var title: String?
    public var location: String?
    public var notes: String?
    public var url: URL?
    public var timeZone: TimeZone?
    public var calendar: EKCalendar?
    public internal(set) var lastModifiedDate: Date?
    public var recurrenceRules: [EKRecurrenceRule]?
    public internal(set) var hasAttendees = false

    let store: EKEventStore

    init(store: EKEventStore) { self.store = store }

    public var hasRecurrenceRules: Bool { recurrenceRules?.isEmpty == false }
}

public final class EKEvent: EKCalendarItem {
    /// The occurrence's original start in the unit of the row; nil for an event that does not repeat.
    var moment: Int?
    public internal(set) var eventIdentifier: String?
    public var startDate: Date?
    public var endDate: Date?
    public var isAllDay = false
    public var availability = EKEventAvailability.busy
    public internal(set) var occurrenceDate: Date?
    public internal(set) var isDetached = false

    public init(eventStore: EKEventStore) { super.init(store: eventStore) }

    /// Reads the event again; false when it no longer exists.
    public func refresh() -> Bool {
        guard let row, let fresh = store.device.occurrence(row, moment, store) else { return false }
        copy(fresh)
        return true
    }

    func copy(_ other: EKEvent) {
        title = other.title
        location = other.location
        notes = other.notes
        url = other.url
        timeZone = other.timeZone
        calendar = other.calendar
        lastModifiedDate = other.lastModifiedDate
        recurrenceRules = other.recurrenceRules
        calendarItemIdentifier = other.calendarItemIdentifier
        calendarItemExternalIdentifier = other.calendarItemExternalIdentifier
        eventIdentifier = other.eventIdentifier
        startDate = other.startDate
        endDate = other.endDate
        isAllDay = other.isAllDay
        availability = other.availability
        occurrenceDate = other.occurrenceDate
        isDetached = other.isDetached
    }
}
