// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import FoundationEssentials
import ICalBridge
import Storage

/// Changes a user's own events within one transaction; each change has its own time.
///
/// The time is the clock's, or one millisecond after the previous change. A reader who continues from the last time it
/// saw misses nothing and sees nothing twice, however many changes fall into one millisecond.
struct PersonalWriter {
    enum Outcome: Sendable {
        case created, updated, unchanged
    }

    let user: String
    let now: Int
    let quotas: Quotas
    let transaction: any WriteTransaction
    /// The id of the calling device; nil for other callers.
    let device: String?
    private var calendar: PersonalCalendar
    private(set) var hasChanged = false
    /// Connections whose items the device changed; their next run judges the changes.
    var changedSources: Set<ByteString> = []
    /// Nil until the value was read.
    private var showsItems: Bool?
    private var isPhoneRead: Bool?
    /// The bytes of the events that show items.
    private var itemBytes: Int?
    private var carriers: [ByteString: PhoneCarrier] = [:]

    init(
        of user: String, by device: String? = nil, quotas: Quotas, transaction: any WriteTransaction, now: Int
    ) throws {
        (self.user, self.quotas, self.transaction, self.now) = (user, quotas, transaction, now)
        self.device = device
        calendar = try transaction.personalCalendar(of: user)
    }

    /// Stores the time of the calendar's last change, once for all changes.
    func finish() throws {
        guard hasChanged else { return }
        try transaction.putPersonalCalendar(calendar, of: user)
        try transaction.touchOwnFeeds(of: user, now: now)
    }

    // MARK: The host application and pages

    /// Returns one of the person's own events that is not deleted.
    func living(_ id: String) throws -> PersonalEvent? {
        let event = try transaction.personalEventEverKnown(id, of: user)
        return event?.deletedAt == nil && event?.tie == nil ? event : nil
    }

    /// Creates or replaces an event; a deleted event comes back.
    mutating func put(_ id: String, _ edit: PersonalEdit) throws -> (PersonalEvent, Outcome) {
        let old = try transaction.personalEventEverKnown(id, of: user)
        if old?.tie != nil { throw Refusal.idOfItem }
        let content = try edit.applied(to: nil, at: "")
        guard var event = old else { return (try insert(id, content, .none, changedAt: now), .created) }
        let isBack = event.deletedAt != nil
        if !isBack, event.content == content { return (event, .unchanged) }
        event.deletedAt = nil
        try store(&event, content, changedAt: now)
        return (event, isBack ? .created : .updated)
    }

    /// Changes some fields of an existing event.
    mutating func change(_ event: PersonalEvent, _ edit: PersonalEdit) throws -> PersonalEvent {
        var event = event
        let content = try edit.applied(to: event.content, at: "")
        if content != event.content { try store(&event, content, changedAt: now) }
        return event
    }

    mutating func delete(_ event: PersonalEvent, changedAt: Int) throws {
        var event = event
        event.deletedAt = changedAt
        try store(&event, event.content, changedAt: changedAt)
    }

    // MARK: Devices

    /// Takes a device's report of an event: the later change wins, and the earlier one changes nothing.
    ///
    /// - Returns: the event; nil for the deletion of an unknown event.
    mutating func take(_ sent: SentEvent, at pointer: String) throws -> (PersonalEvent?, Outcome) {
        guard sent.faults.isEmpty, let externalID = sent.externalID else { throw Refusal.invalid(sent.faults) }
        let known = try find(sent, externalID)
        if let taken = try takeItem(sent, externalID, known, at: pointer) { return taken }
        // A time in the future counts as the present.
        let time = min(sent.lastModified ?? now, now)
        // A report of where the server's own event is in the person's calendar does not count as reading that calendar.
        let isLink = known.map { $0.mapping.externalID != externalID } ?? false
        if !sent.isDeletion, !isLink, try !readsPhone() {
            throw Refusal.invalid("", code: .calendarUnread, Refusal.phoneUnread.detail)
        }
        guard let known else {
            if sent.isDeletion { return (nil, .unchanged) }
            let content = try sent.edit.applied(to: nil, at: pointer)
            var mapping = PersonalEvent.Mapping.none.taking(sent)
            mapping.sourceDevice = sent.sourceDevice ?? sent.sender
            return (try insert(FeedLedger.makeID(), content, mapping, changedAt: time), .created)
        }
        let isLate = EditSide.later(kalends: known.changedAt, calendar: time) == .kalends
        if sent.isDeletion {
            if isLate || known.deletedAt != nil { return (known, .unchanged) }
            try delete(known, changedAt: time)
            return (try transaction.personalEventEverKnown(known.id, of: user), .updated)
        }
        if isLate, known.deletedAt != nil { return (known, .unchanged) }
        return try update(known, sent, at: pointer, time: time, isLate: isLate)
    }

    private mutating func update(
        _ known: PersonalEvent, _ sent: SentEvent, at pointer: String, time: Int, isLate: Bool
    ) throws -> (PersonalEvent, Outcome) {
        var event = known
        var mapping = known.mapping.taking(sent)
        // A device's report that it made the server's event in its calendar counts even if the event was changed later.
        let isLinking = mapping.externalID != known.mapping.externalID
        if isLate, !isLinking { return (known, .unchanged) }
        let edited = try sent.edit.applied(to: known.content, at: pointer)
        let content = isLate ? known.content : edited
        event.deletedAt = nil
        if known.deletedAt != nil, sent.state == nil { mapping.state = .linked }
        event.mapping = mapping
        if event == known, content == known.content { return (known, .unchanged) }
        event.mapping.sourceDevice = sent.sourceDevice ?? known.mapping.sourceDevice ?? sent.sender
        if content != known.content || known.deletedAt != nil {
            try store(&event, content, changedAt: time)
        } else {
            // The mapping is not part of what calendars show, so this is not a revision.
            try store(&event)
        }
        return (event, .updated)
    }

    /// Finds an event by the provider's id, or else by the server's id.
    private func find(_ sent: SentEvent, _ externalID: String) throws -> PersonalEvent? {
        if let known = try transaction.personalEventEverKnown(
            externalID, instance: sent.instance?.key ?? "", of: "apple", user: user)
        {
            return known
        }
        return try sent.id.flatMap { try transaction.personalEventEverKnown($0, of: user) }
    }

    // MARK: Storing

    private mutating func insert(
        _ id: String, _ content: PersonalEvent.Content, _ mapping: PersonalEvent.Mapping, changedAt: Int
    ) throws -> PersonalEvent {
        guard calendar.events < quotas.personalEventsPerUser else {
            throw Refusal.quota(
                "A user has", quotas.personalEventsPerUser, "events of their own, including deleted ones")
        }
        let days = PersonalEvent.days(of: content)
        var event = PersonalEvent(
            userID: user, id: id, uid: UUID().uuidString.lowercased(), content: content, mapping: mapping,
            firstDay: days.first, lastDay: days.last, createdAt: now)
        event.changedAt = changedAt
        try store(&event)
        calendar.events += 1
        return event
    }

    private mutating func store(
        _ event: inout PersonalEvent, _ content: PersonalEvent.Content, changedAt: Int
    ) throws {
        event.sequence = min(event.sequence + 1, Int(Int32.max))
        event.content = content
        (event.firstDay, event.lastDay) = PersonalEvent.days(of: content)
        event.changedAt = changedAt
        try store(&event)
    }

    private mutating func store(_ event: inout PersonalEvent) throws {
        let growth = event.bytes - event.storedBytes
        guard growth <= 0 || calendar.bytes + growth <= quotas.personalBytesPerUser else {
            throw Refusal.quota(
                "A user's own events have", quotas.personalBytesPerUser, "bytes, including deleted ones")
        }
        calendar.bytes += growth
        try put(&event, at: try time())
    }

    // MARK: Items

    /// Returns a time that no other change of the user's events has.
    mutating func time() throws -> Int {
        calendar.lastAt = max(now, calendar.lastAt + 1)
        hasChanged = true
        return calendar.lastAt
    }

    /// Runs work in the same transaction that gives its own times to changes of the user's events.
    mutating func lendCalendar(to body: (any WriteTransaction) throws -> Void) throws {
        try finish()
        try body(transaction)
        calendar = try transaction.personalCalendar(of: user)
    }

    mutating func put(_ event: inout PersonalEvent, at time: Int) throws {
        try checkSize(of: event)
        event.updatedAt = time
        try transaction.putPersonalEvent(event)
        event.noteStored()
    }

    /// Throws 409 for an item's event with which those of the user would have far more text than their circle's items,
    /// which are counted by themselves.
    private mutating func checkSize(of event: PersonalEvent) throws {
        // A row by itself counts, too.
        let growth = event.bytes - event.storedBytes + (event.storedBytes == 0 ? 1024 : 0)
        guard let tie = event.tie, growth > 0 else { return }
        let size = try itemBytes ?? transaction.itemEventBytes(of: user)
        let items = try tie.circleID.map { try transaction.itemUsage(of: $0).bytes } ?? 0
        let most = quotas.personalBytesPerUser + 2 * items
        guard size + growth <= most else {
            throw Refusal.quota("The events of a user's phones that show items have", most, "bytes")
        }
        itemBytes = size + growth
    }

    /// Stores an event as it is, so that devices learn of it again.
    mutating func touch(_ event: inout PersonalEvent) throws { try put(&event, at: try time()) }

    /// Whether the user has events that show items.
    mutating func hasItems() throws -> Bool {
        let found = try showsItems ?? transaction.hasPhoneItems(user)
        showsItems = found
        return found
    }

    /// Whether the user lets the calendar of their phone be read.
    private mutating func readsPhone() throws -> Bool {
        let found = try isPhoneRead ?? transaction.readsPhone(of: user)
        isPhoneRead = found
        return found
    }

    mutating func carrier(of source: String) throws -> PhoneCarrier? {
        if let known = carriers[ByteString(source)] { return known }
        let found = try transaction.phoneCarrier(of: user, source: source)
        carriers[ByteString(source)] = found
        return found
    }
}

extension Refusal {
    fileprivate static let idOfItem = Refusal.conflict(
        "An event with this id shows an item of a circle.", code: .conflict)
}
