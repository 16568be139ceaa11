// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Puts and deletes items within one transaction, and keeps what several of them need.
struct ScheduleWriter {
    enum Outcome {
        case created, changed, unchanged
    }

    let circle: Circle
    let zone: TimeZoneReference
    let transaction: any WriteTransaction
    let now: Int
    private var knownPatients: [ByteString: Bool] = [:]
    private var knownMembers: [ByteString: Bool] = [:]
    private var names: CircleNames?
    private(set) var hasChanged = false
    private let quotas: Quotas
    /// What the circle used before, what items add that this writer puts, and what changed occurrences do.
    private var used: Usage?
    private var added = Usage()
    private var addedByOccurrences = 0
    /// Items that were looked up together, as they will be when everything that waits is written; nil for an item that
    /// never was.
    private var known: [Key: ScheduleItem?] = [:]
    /// Puts that are written together, in their order.
    private var waiting: [ItemPut] = []
    private static let together = 100
    /// The number of the latest change that was written.
    private(set) var lastChange: Int?

    private struct Key: Hashable {
        let collection: ScheduleItem.Collection
        let id: ByteString
    }

    init(circle: Circle, quotas: Quotas, transaction: any WriteTransaction, now: Int) throws {
        self.quotas = quotas
        self.circle = circle
        self.zone = try circle.zone
        self.transaction = transaction
        self.now = now
    }

    // MARK: One item

    /// Stores an item; an item that is equal to the stored one changes nothing, not even its revision.
    ///
    /// - Parameters:
    ///   - uid: the UID of a new item; nil for one that is made at random.
    ///   - precondition: checks a request's conditions on the stored item; gets nil when it does not exist.
    mutating func put(
        _ id: String, _ draft: ItemDraft, uid: String? = nil,
        precondition: (ScheduleItem?) throws -> Void = { _ in }
    ) throws -> (ScheduleItem, Outcome) {
        let old = try transaction.itemEverKnown(id, draft.kind.collection, in: circle.id)
        let living = Self.living(old)
        try precondition(living)
        guard let put = try change(id, draft, replacing: old, uid: uid) else {
            guard let living else { throw StorageError.unexpectedResult("An item that does not exist is unchanged.") }
            return (living, .unchanged)
        }
        lastChange = try transaction.putItems([put], in: circle.id, now: now)
        try dropOrphans(id, draft, old)
        return (put.item, living == nil ? .created : .changed)
    }

    private static func living(_ item: ScheduleItem?) -> ScheduleItem? { item?.deletedAt == nil ? item : nil }

    /// Returns what is to be stored; nil if the item is stored so already.
    private mutating func change(
        _ id: String, _ draft: ItemDraft, replacing old: ScheduleItem?, uid: String? = nil
    ) throws -> ItemPut? {
        let living = Self.living(old)
        let faults = draft.faults + (try referenceFaults(of: draft, old: living))
        guard faults.isEmpty, let content = draft.content, let new = try draft.row(id, in: circle.id, zone: zone)
        else { throw Refusal.invalid(faults) }
        if let living, living.content == new.content { return nil }
        try claim(old, new)
        let isVisible = try living.map { try isShownDifferently(draft.kind.init(stored: $0.content), content) } ?? true
        hasChanged = true
        return ItemPut(new, replacing: old, newUID: uid ?? RandomUUID.text(), isVisible: isVisible, now: now)
    }

    // MARK: Many items

    /// Looks up the items that the next puts replace.
    mutating func lookUp(_ items: [(id: String, collection: ScheduleItem.Collection)]) throws {
        try write()
        known = [:]
        for (collection, items) in Dictionary(grouping: items, by: \.collection) {
            for item in items { known[Key(collection: collection, id: ByteString(item.id))] = .some(nil) }
            for item in try transaction.itemsEverKnown(items.map(\.id), collection, in: circle.id) {
                known[Key(collection: collection, id: ByteString(item.id))] = item
            }
        }
    }

    /// Does what `put` does, except that the item is written together with others, before anything else is.
    mutating func putLater(_ id: String, _ draft: ItemDraft, uid: String? = nil) throws -> Outcome {
        let key = Key(collection: draft.kind.collection, id: ByteString(id))
        let old = try known[key] ?? transaction.itemEverKnown(id, draft.kind.collection, in: circle.id)
        guard let put = try change(id, draft, replacing: old, uid: uid) else { return .unchanged }
        known[key] = put.item
        waiting.append(put)
        if waiting.count >= Self.together { try write() }
        try dropOrphans(id, draft, old)
        return Self.living(old) == nil ? .created : .changed
    }

    /// Writes the puts that wait.
    private mutating func write() throws {
        guard let last = try transaction.putItems(waiting, in: circle.id, now: now) else { return }
        (lastChange, waiting) = (last, [])
    }

    /// Adds an item to the circle's usage; throws 409 when the circle's quota is used up.
    private mutating func claim(_ old: ScheduleItem?, _ new: ScheduleItem) throws {
        let bytes = new.content.utf8.count - (old?.content.utf8.count ?? 0)
        let known = try claim(bytes)
        if old == nil, known.count + added.count >= quotas.itemsPerCircle {
            throw Refusal.quota("A circle has", quotas.itemsPerCircle, "items, including deleted ones")
        }
        added.count += old == nil ? 1 : 0
        added.bytes += bytes
    }

    /// Throws 409 if the circle cannot take this many more bytes; some of them are written later.
    mutating func expect(_ bytes: Int) throws { _ = try claim(bytes) }

    /// Throws 409 if the circle cannot take this many more bytes; returns what it used before.
    private mutating func claim(_ bytes: Int) throws -> Usage {
        let known = try used ?? transaction.itemUsage(of: circle.id)
        used = known
        if bytes > 0, known.bytes + added.bytes + addedByOccurrences + bytes > quotas.bytesPerCircle {
            throw Refusal.quota("A circle has", quotas.bytesPerCircle, "bytes of items")
        }
        return known
    }

    /// Adds changed occurrences of an appointment to the circle's usage; throws 409 if these are too many for it, or if a
    /// quota of the circle is used up.
    private mutating func claim(
        _ new: [ChangedOccurrence], insteadOf old: [ChangedOccurrence], of item: String
    ) throws {
        var own = try transaction.occurrenceUsage(of: item, in: circle.id)
        own.count += new.count - old.count
        own.bytes += new.contentBytes - old.contentBytes
        try quotas.check(own, more: new.count - old.count, new.contentBytes - old.contentBytes)
        _ = try claim(new.bytes - old.bytes)
        addedByOccurrences += new.bytes - old.bytes
    }

    /// Deletes changed occurrences that the series no longer has.
    private mutating func dropOrphans(_ id: String, _ draft: ItemDraft, _ old: ScheduleItem?) throws {
        // An item that never was has no occurrences.
        guard old != nil, let series = draft.content as? AppointmentContent else { return }
        let starts = try transaction.occurrenceStarts(of: id, in: circle.id)
        let own = series.zone(or: zone)
        let known = draft.followed?.timing == series.timing(in: own) ? draft.followed?.starts : nil
        // Those that were put since the rule was followed are looked up here; if that takes too much work, they stay.
        let open = starts.compactMap { Instant(basic: $0) }.filter { known?[$0] == nil }
        let found = series.recurrence == nil || open.isEmpty ? [] : series.occurrences(among: open, in: own)
        let gone = starts.filter { text in
            guard series.recurrence != nil, let start = Instant(basic: text) else { return true }
            return !(known?[start] ?? found?.contains(start) ?? true)
        }
        guard !gone.isEmpty else { return }
        let orphans = try transaction.occurrences(at: gone, of: id, in: circle.id)
        try write()
        // The series was put last, so that the last change that was written is its own.
        try transaction.deleteOccurrences(orphans, causedBy: lastChange, now: now)
        addedByOccurrences -= orphans.bytes
    }

    /// Deletes an item; false when it does not exist.
    mutating func delete(_ id: String, _ collection: ScheduleItem.Collection) throws -> Bool {
        try write()
        known[Key(collection: collection, id: ByteString(id))] = nil
        let deleted = try transaction.deleteItem(id, collection, in: circle.id, now: now)
        if deleted { hasChanged = true }
        return deleted
    }

    /// Stores changed occurrences of an appointment, or resets them to the fields of the series, which is one revision of
    /// the appointment.
    ///
    /// - Parameter changes: each start once, with nil for an occurrence as the series has it.
    mutating func put(_ changes: [(start: String, new: ChangedOccurrence?)], of item: String) throws {
        try write()
        let stored = try transaction.occurrences(at: changes.map(\.start), of: item, in: circle.id)
        let old = Dictionary(uniqueKeysWithValues: stored.map { (ByteString($0.originalStart), $0) })
        let gone = changes.compactMap { $0.new == nil ? old[ByteString($0.start)] : nil }
        let new = changes.compactMap(\.new).filter { old[ByteString($0.originalStart)]?.content != $0.content }
        guard !gone.isEmpty || !new.isEmpty else { return }
        let replaced = new.compactMap { old[ByteString($0.originalStart)] }
        try claim(new, insteadOf: replaced + gone, of: item)
        try transaction.deleteOccurrences(gone, now: now)
        try transaction.putOccurrences(new, replacing: replaced, now: now)
        try revise(item)
    }

    /// Brings back changed occurrences of a series that has none at these starts, as a part of its latest change.
    mutating func restore(_ occurrences: [ChangedOccurrence]) throws {
        try write()
        guard let first = occurrences.first, let lastChange else { return }
        try claim(occurrences, insteadOf: [], of: first.itemID)
        try transaction.putOccurrences(occurrences, causedBy: lastChange, now: now)
        try revise(first.itemID)
    }

    /// Stores what one person keeps of an item, which changes no item; that person's apps have to hear of it all the
    /// same.
    mutating func keep(_ part: PersonalPart) throws {
        try transaction.putPersonalPart(part, changedIn: circle.version + 1)
        hasChanged = true
    }

    private mutating func revise(_ appointment: String) throws {
        known = [:]
        try transaction.reviseItem(appointment, .appointments, in: circle.id, now: now)
        hasChanged = true
    }

    /// Writes what waits, and notes the change on the circle, once for all items that were put and deleted.
    mutating func finish() throws {
        try write()
        try transaction.addItemUsage(added, of: circle.id)
        guard hasChanged else { return }
        try transaction.touchCircle(circle.id, now: now)
        try transaction.trimKeptContents(in: circle.id, to: quotas.keptBytesPerCircle)
    }

    /// Whether calendars show the item differently; some changes are visible only to filters.
    private mutating func isShownDifferently(_ old: any ItemContent, _ new: any ItemContent) throws -> Bool {
        let names = try self.names ?? CircleNames(circle.id, in: transaction)
        self.names = names
        // The owner decides who is busy, even if two owners have the same name.
        if type(of: new).isOwnersTime, old.ownerID != new.ownerID { return true }
        let (oldZone, newZone) = (old.zone(or: zone), new.zone(or: zone))
        return oldZone != newZone || old.careItem(names, in: oldZone) != new.careItem(names, in: newZone)
    }

    /// Returns the faults for a patient or an owner whom the circle does not know.
    ///
    /// An item keeps a person who has left since, so that putting it again changes nothing.
    private mutating func referenceFaults(of content: ItemDraft, old: ScheduleItem?) throws -> [Fault] {
        var faults: [Fault] = []
        if let patient = content.patientID, patient != old?.patientID {
            if knownPatients[patient] == nil {
                let known = try transaction.patientEverKnown(patient, in: circle.id)
                knownPatients[patient] = known.map { $0.removedAt == nil } ?? false
            }
            if knownPatients[patient] != true {
                faults.append(
                    Fault(pointer: "/patientId", code: .unknownReference, message: "The circle has no such patient."))
            }
        }
        if let owner = content.ownerID, owner != old?.ownerID {
            if knownMembers[owner] == nil { knownMembers[owner] = try transaction.member(owner, in: circle.id) != nil }
            if knownMembers[owner] != true {
                faults.append(
                    Fault(pointer: "/ownerId", code: .unknownReference, message: "The circle has no such member."))
            }
        }
        return faults
    }
}

extension [ChangedOccurrence] {
    fileprivate var contentBytes: Int { reduce(0) { $0 + $1.content.utf8.count } }
}

extension Circle {
    /// The circle's zone; throws when the machine's tzdata no longer has that zone.
    var zone: TimeZoneReference {
        get throws {
            guard let zone = TimeZoneReference(timeZone) else {
                throw StorageError.unusable("This machine's tzdata lacks the zone \(timeZone).")
            }
            return zone
        }
    }
}
