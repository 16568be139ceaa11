// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import OfficeDays
import Storage

/// A person's office days among the events that their connection synchronizes.
///
/// The engine only writes them and never merges them: an event that the person edited in the calendar is theirs from
/// then on, and one that they deleted stays deleted.
enum OfficeDayEntries {
    /// Returns the office days of its user that a connection's calendar should show.
    ///
    /// - Parameters:
    ///   - from: the start of the window, in milliseconds since 1970.
    ///   - to: the end of the window, in milliseconds since 1970.
    static func shown(
        of connection: Connection, from: Int, to: Int, in transaction: any ReadTransaction
    ) throws -> [Ours] {
        guard try transaction.officeProfile(of: connection.userID) != nil else { return [] }
        let days = OfficeBook.date(from).daysSinceEpoch - 1...OfficeBook.date(to).daysSinceEpoch + 1
        return try OfficeDayEvents.entries(
            of: connection.userID, for: .connection(connection.id), on: days, in: transaction
        ).filter { $0.state == .managed }.map { event in
            Ours(
                item: ItemKey(.officeDays, event.date.description), entry: Entry(event),
                changedAt: Instant(seconds: event.changedAt), revision: event.revision)
        }
    }
}

extension Entry {
    /// Creates the entry of an office day.
    init(_ event: OfficeEvent) {
        let span: TimeSpan =
            switch event.span {
            case .allDay(let date):
                .days(
                    first: date,
                    until: CivilDate(daysSinceEpoch: date.daysSinceEpoch + 1))
            case .timed(let start, let end, let zone):
                .timed(
                    start: Instant(seconds: start), end: Instant(seconds: end),
                    zone: TimeZoneReference(zone)?.identifier ?? "UTC")
            }
        self.init(
            title: event.title, notes: event.notes, location: event.location ?? "", span: span,
            availability: event.availability == .free ? .free : .busy)
    }
}
