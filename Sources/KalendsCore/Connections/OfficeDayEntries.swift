// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import OfficeDays
import Storage

/// A person's office days among what a connection of theirs keeps in step.
///
/// They are the engine's to write and nobody's to merge: one that a person edited there is theirs from then on, and one
/// that they deleted stays away.
enum OfficeDayEntries {
    /// What a connection's calendar is to show of its user's office days.
    ///
    /// - Parameter window: in milliseconds since 1970.
    static func shown(
        of connection: Connection, from: Int, to: Int, in transaction: any ReadTransaction
    ) throws -> [Ours] {
        guard try transaction.officeProfile(of: connection.userID) != nil else { return [] }
        let days = OfficeBook.date(from).dayNumber - 1...OfficeBook.date(to).dayNumber + 1
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
    /// An office day as calendars are written.
    init(_ event: OfficeEvent) {
        let span: Span =
            switch event.span {
            case .allDay(let date):
                .days(
                    first: CivilDate(daysSinceEpoch: date.dayNumber),
                    until: CivilDate(daysSinceEpoch: date.dayNumber + 1))
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
