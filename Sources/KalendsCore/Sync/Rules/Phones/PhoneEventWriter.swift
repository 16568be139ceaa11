// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import FoundationEssentials
import Storage

/// Changes the events that a source's carrier should have in its calendar, within one transaction; each change has its
/// own time among the changes of the person's own events.
struct PhoneEventWriter {
    let transaction: any WriteTransaction
    let now: Int
    let carrier: PhoneCarrier
    private var calendar: PersonalCalendar
    private var hasChanged = false

    init(of user: String, source: String, transaction: any WriteTransaction, now: Int) throws {
        (self.transaction, self.now) = (transaction, now)
        carrier = try transaction.phoneCarrier(of: user, source: source) ?? PhoneCarrier(of: user, source: source)
        calendar = try transaction.personalCalendar(of: user)
    }

    /// Stores the time of the calendar's last change, once for all changes.
    func finish() throws {
        if hasChanged { try transaction.putPersonalCalendar(calendar, of: carrier.userID) }
    }

    /// Returns a new event that no device has seen.
    ///
    /// - Parameter start: the original start of a changed occurrence, in the form of phones.
    func new(
        _ collection: String, _ item: String, generation: Int, in circle: String?,
        _ content: PersonalEvent.Content, start: String? = nil
    ) -> PersonalEvent {
        let days = PersonalEvent.days(of: content)
        var event = PersonalEvent(
            userID: carrier.userID, id: FeedLedger.makeID(), uid: UUID().uuidString.lowercased(), content: content,
            mapping: .none, firstDay: days.first, lastDay: days.last, createdAt: now)
        event.mapping.instanceID = start
        event.mapping.instanceKey = start.flatMap { PersonalMoment($0) }?.key ?? ""
        event.tie = PersonalEvent.ItemAndDevice(
            source: carrier.source, circleID: circle, collection: collection, itemID: item, generation: generation,
            carrier: carrier.carrier, turn: carrier.turn)
        return event
    }

    /// Gives an event new contents, or restores it with them; the versions that the device may still have are
    /// remembered.
    ///
    /// - Parameter series: what the device has of an occurrence without an event of its own; nil for any other event.
    mutating func write(
        _ event: inout PersonalEvent, _ content: PersonalEvent.Content, insteadOf series: PersonalEvent.Content? = nil
    ) throws {
        guard var tie = event.tie else { return }
        var versions = try PhoneVersions(tie)
        let at = next()
        if let before = event.sequence > 0 && event.deletedAt == nil ? event.content : series {
            versions.add(before, until: at, delivered: carrier.deliveredAt)
        }
        tie.earlier = try versions.stored
        event.tie = tie
        event.content = content
        (event.firstDay, event.lastDay) = PersonalEvent.days(of: content)
        event.deletedAt = nil
        event.sequence = min(event.sequence + 1, Int(Int32.max))
        try put(&event, at: at)
    }

    /// Makes the device remove an event.
    mutating func delete(_ event: inout PersonalEvent) throws {
        event.deletedAt = now
        // Text that a person typed on a phone is dropped with the event, so that such text does not accumulate.
        (event.content.description, event.content.location) = (nil, nil)
        event.tie?.earlier = nil
        event.sequence = min(event.sequence + 1, Int(Int32.max))
        try put(&event, at: next())
    }

    /// Stores an event with its own time of change, so that the device learns of it again.
    mutating func touch(_ event: inout PersonalEvent) throws { try put(&event, at: next()) }

    mutating func next() -> Int {
        calendar.lastAt = max(now, calendar.lastAt + 1)
        hasChanged = true
        return calendar.lastAt
    }

    mutating func put(_ event: inout PersonalEvent, at time: Int) throws {
        event.updatedAt = time
        try transaction.putPersonalEvent(event)
    }
}
