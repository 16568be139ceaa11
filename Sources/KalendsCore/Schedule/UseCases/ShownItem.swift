// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
package import Storage

/// An item as it is stored, with the zone of its times when the item has no zone itself.
package struct StoredItem: Sendable {
    package let item: ScheduleItem
    package let zone: TimeZoneReference
    package let kind: any ItemContent.Type

    package var content: any ItemContent { get throws { try kind.init(stored: item.content) } }
}

/// An item as a caller reads it.
package struct ShownItem: Sendable {
    /// The original and the new start of a changed occurrence, without its other changes.
    package struct Moved: Sendable {
        /// The original start in the form of paths: `YYYYMMDDTHHMMSSZ`.
        package let originalStart: String
        package let startAt: Instant
        package let endAt: Instant
    }

    /// The maximum number of changed occurrences that an appointment itself lists; a separate list has all of them.
    package static let mostMoved = 1000

    package let item: ScheduleItem
    /// The circle's zone.
    package let zone: TimeZoneReference
    /// Nil for an item that was deleted.
    package let content: (any ItemContent)?
    /// The changed occurrences in order of original start; empty unless the item is a repeating appointment.
    package let moved: [Moved]

    init(
        _ item: ScheduleItem, _ kind: any ItemContent.Type, _ zone: TimeZoneReference,
        in transaction: any ReadTransaction
    ) throws {
        (self.item, self.zone) = (item, zone)
        guard item.deletedAt == nil else {
            (content, moved) = (nil, [])
            return
        }
        let content = try kind.init(stored: item.content)
        self.content = content
        guard let series = content as? AppointmentContent, series.recurrence != nil else {
            moved = []
            return
        }
        moved = try transaction.occurrenceTimes(of: item.id, in: item.circleID, limit: Self.mostMoved).map {
            Moved(
                originalStart: $0.originalStart, startAt: Instant(milliseconds: $0.startsAt),
                endAt: Instant(milliseconds: $0.endsAt))
        }
    }
}
