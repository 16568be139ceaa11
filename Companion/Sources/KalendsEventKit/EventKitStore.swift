// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.
import Foundation
public import KalendsCompanion
import OfficeDays

#if canImport(EventKit)
internal import EventKit
#else
internal import EventKitStandIn
#endif

/// A store for the calendars of Apple's devices.
///
/// A program has only one: EventKit's objects belong to the store that made them, and only one thread at a time may use
/// it.
public actor EventKitStore: CalendarStore {
    let events = EKEventStore()
    let zones: Zones
    private var next = 1
    var unsaved: [Unsaved] = []
    private var observers: [any NSObjectProtocol] = []

    /// A save that waits for its commit.
    struct Unsaved {
        var ticket: SaveTicket
        var event: EKEvent
        var draft: EventDraft
        var span: EKSpan
    }

    public init(zones: Zones) { self.zones = zones }

    // MARK: Permission

    public func authorization() -> CalendarAuthorization {
        switch EKEventStore.authorizationStatus(for: .event) {
        case .notDetermined: .notDetermined
        case .restricted: .restricted
        case .denied: .denied
        case .fullAccess: .fullAccess
        case .writeOnly: .writeOnly
        @unknown default: .denied
        }
    }

    public func requestAccess() async -> CalendarAuthorization {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            // The reply comes on any thread; the permission is read again below.
            events.requestFullAccessToEvents { _, _ in done.resume() }
        }
        // Data that the store read before the person answered is no longer valid.
        events.reset()
        return authorization()
    }

    func allowed() throws(StoreFailure) {
        guard authorization() == .fullAccess else { throw .notAuthorized }
    }

    // MARK: Calendars

    public func calendars() throws(StoreFailure) -> [StoreCalendar] {
        try allowed()
        let first = events.defaultCalendarForNewEvents?.calendarIdentifier
        return events.calendars(for: .event).map { calendar in
            StoreCalendar(
                id: calendar.calendarIdentifier, title: calendar.title, color: Self.color(of: calendar),
                canWrite: Self.canWrite(calendar), isDefault: calendar.calendarIdentifier == first)
        }
    }

    public func makeCalendar(titled title: String) throws(StoreFailure) -> StoreCalendar {
        try allowed()
        let calendar = EKCalendar(for: .event, eventStore: events)
        calendar.title = title
        // Many accounts refuse new calendars; the account of the default calendar is the most likely to accept one.
        calendar.source = events.defaultCalendarForNewEvents?.source
        do { try events.saveCalendar(calendar, commit: true) } catch { throw Self.failure(error) }
        return StoreCalendar(id: calendar.calendarIdentifier, title: title)
    }

    private static func canWrite(_ calendar: EKCalendar) -> Bool {
        calendar.allowsContentModifications && !calendar.isImmutable && calendar.type != .subscription
            && calendar.type != .birthday
    }

    private static func color(of calendar: EKCalendar) -> String? {
        #if canImport(EventKit)
        guard let parts = calendar.cgColor?.components, parts.count >= 3 else { return nil }
        return "#"
            + parts[0..<3].map { part in
                String(decoding: Hexadecimal.digits(of: UInt8(max(0, min(255, part * 255)))), as: UTF8.self)
            }.joined()
        #else
        return nil
        #endif
    }

    // MARK: Notices

    public func changeNotices() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        observers.append(
            NotificationCenter.default.addObserver(forName: .EKEventStoreChanged, object: events, queue: nil) { _ in
                continuation.yield()
            })
        return stream
    }

    func ticket() -> SaveTicket {
        defer { next += 1 }
        return SaveTicket(next)
    }

    /// Converts an error of EventKit to a store failure.
    static func failure(_ error: any Error) -> StoreFailure {
        let code = (error as? EKError)?.code
        switch code {
        case .eventStoreNotAuthorized?: return .notAuthorized
        case .eventNotMutable?, .calendarReadOnly?, .calendarIsImmutable?, .sourceDoesNotAllowCalendarAddDelete?,
            .calendarDoesNotAllowEvents?, .sourceDoesNotAllowEvents?:
            return .readOnly
        case .noCalendar?: return .calendarGone("")
        case .noStartDate?, .noEndDate?, .datesInverted?, .durationGreaterThanRecurrence?,
            .alarmGreaterThanRecurrence?, .startDateTooFarInFuture?, .startDateCollidesWithOtherOccurrence?,
            .invalidSpan?:
            return .invalid("eventKit\(code?.rawValue ?? 0)")
        default: return .temporary("eventKit")
        }
    }
}
