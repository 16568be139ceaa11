// SPDX-License-Identifier: Apache-2.0

public import Foundation

// The names and numbers of EventKit's headers that the adapter uses.

public enum EKEntityType: UInt, Sendable { case event, reminder }

public enum EKAuthorizationStatus: Int, Sendable { case notDetermined, restricted, denied, fullAccess, writeOnly }

public enum EKSpan: Int, Sendable { case thisEvent, futureEvents }

public enum EKCalendarType: Int, Sendable { case local, calDAV, exchange, subscription, birthday }

public enum EKEventAvailability: Int, Sendable {
    case notSupported = -1
    case busy, free, tentative, unavailable
}

public struct EKError: Error, Hashable, Sendable {
    public enum Code: Int, Sendable {
        case eventNotMutable, noCalendar, noStartDate, noEndDate, datesInverted, internalFailure, calendarReadOnly
        case durationGreaterThanRecurrence, alarmGreaterThanRecurrence, startDateTooFarInFuture
        case startDateCollidesWithOtherOccurrence, objectBelongsToDifferentStore, invitesCannotBeMoved, invalidSpan
        case calendarHasNoSource, calendarSourceCannotBeModified, calendarIsImmutable
        case sourceDoesNotAllowCalendarAddDelete, recurringReminderRequiresDueDate, structuredLocationsNotSupported
        case reminderLocationsNotSupported, alarmProximityNotSupported, calendarDoesNotAllowEvents
        case calendarDoesNotAllowReminders, sourceDoesNotAllowReminders, sourceDoesNotAllowEvents, priorityIsInvalid
        case invalidEntityType, procedureAlarmsNotMutable, eventStoreNotAuthorized, osNotSupported
    }

    public let code: Code

    public init(_ code: Code) { self.code = code }
}

extension NSNotification.Name {
    public static let EKEventStoreChanged = NSNotification.Name("EKEventStoreChangedNotification")
}

public final class EKSource {
    public let sourceIdentifier: String
    public let title: String

    init(_ title: String) { (sourceIdentifier, self.title) = (title, title) }
}

public final class EKCalendar {
    public internal(set) var calendarIdentifier: String
    public var title: String
    public internal(set) var type: EKCalendarType
    public internal(set) var allowsContentModifications: Bool
    public internal(set) var isImmutable = false
    public var source: EKSource?

    /// A calendar that is not saved yet.
    public init(for type: EKEntityType, eventStore: EKEventStore) {
        (calendarIdentifier, title, self.type, allowsContentModifications) = ("", "", .local, true)
    }

    init(_ calendar: StandInDevice.Calendar) {
        calendarIdentifier = calendar.id
        title = calendar.title
        type = calendar.type
        allowsContentModifications = calendar.canWrite
        source = EKSource("Stand-in")
    }
}
