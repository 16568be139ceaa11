// SPDX-License-Identifier: Apache-2.0

import Base
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
    /// What the circle used before, and what this writer adds.
    private var used: Usage?
    private var added = Usage()

    init(circle: Circle, quotas: Quotas, transaction: any WriteTransaction, now: Int) throws {
        self.quotas = quotas
        self.circle = circle
        self.zone = try circle.zone
        self.transaction = transaction
        self.now = now
    }

    /// Stores an item; an item that is equal to the stored one changes nothing, not even its revision.
    ///
    /// - Parameter precondition: checks a request's conditions on the stored item; gets nil when it does not exist.
    mutating func put(
        _ id: String, _ draft: ItemDraft, precondition: (ScheduleItem?) throws -> Void = { _ in }
    ) throws -> (ScheduleItem, Outcome) {
        let old = try transaction.itemEverKnown(id, draft.kind.collection, in: circle.id)
        let living = old.flatMap { $0.deletedAt == nil ? $0 : nil }
        try precondition(living)
        let faults = draft.faults + (try referenceFaults(of: draft, old: living))
        guard faults.isEmpty, let content = draft.content else { throw Refusal.invalid(faults) }
        let new = try content.item(id, in: circle.id, zone: zone, followed: draft.followed)
        if let living, living.content == new.content { return (living, .unchanged) }
        try claim(old, new)
        let isVisible = try living.map { try isShownDifferently(draft.kind.init(stored: $0.content), content) } ?? true
        let stored = try transaction.putItem(
            new, replacing: old, newUID: RandomUUID.text(), isVisible: isVisible, now: now)
        hasChanged = true
        try dropOrphans(of: content, id, draft.followed)
        return (stored, living == nil ? .created : .changed)
    }

    /// Adds an item to the circle's usage; throws 409 when the circle's quota is used up.
    private mutating func claim(_ old: ScheduleItem?, _ new: ScheduleItem) throws {
        let bytes = new.content.utf8.count - (old?.content.utf8.count ?? 0)
        let known = try used ?? transaction.itemUsage(of: circle.id)
        used = known
        if old == nil, known.count + added.count >= quotas.itemsPerCircle {
            throw Refusal.quota("A circle has", quotas.itemsPerCircle, "items, including deleted ones")
        }
        if bytes > 0, known.bytes + added.bytes + bytes > quotas.bytesPerCircle {
            throw Refusal.quota("A circle has", quotas.bytesPerCircle, "bytes of items")
        }
        added.count += old == nil ? 1 : 0
        added.bytes += bytes
    }

    /// Deletes changed occurrences that the series no longer has.
    private func dropOrphans(
        of content: any ItemContent, _ id: String, _ followed: FollowedSeries?
    ) throws {
        guard let series = content as? AppointmentContent else { return }
        let own = series.zone(or: zone)
        let known = followed?.timing == series.timing(in: own) ? followed?.starts : nil
        for occurrence in try transaction.occurrences(of: id, in: circle.id) {
            // An occurrence that was put since the rule was followed is looked up here; if that takes too much work, it
            // stays.
            if series.recurrence != nil, let start = Instant(basic: occurrence.originalStart),
                known?[start] ?? series.hasOccurrence(at: start, in: own) ?? true
            {
                continue
            }
            _ = try transaction.deleteOccurrence(occurrence.originalStart, of: id, in: circle.id, now: now)
        }
    }

    /// Deletes an item; false when it does not exist.
    mutating func delete(_ id: String, _ collection: ScheduleItem.Collection) throws -> Bool {
        let deleted = try transaction.deleteItem(id, collection, in: circle.id, now: now)
        if deleted { hasChanged = true }
        return deleted
    }

    /// Stores one changed occurrence of an appointment, which is also a revision of the appointment.
    mutating func put(_ occurrence: ChangedOccurrence) throws {
        try transaction.putOccurrence(occurrence, now: now)
        try revise(occurrence)
    }

    /// Resets one occurrence to the fields of its series.
    mutating func delete(_ occurrence: ChangedOccurrence) throws {
        _ = try transaction.deleteOccurrence(
            occurrence.originalStart, of: occurrence.itemID, in: circle.id, now: now)
        try revise(occurrence)
    }

    private mutating func revise(_ occurrence: ChangedOccurrence) throws {
        try transaction.reviseItem(occurrence.itemID, .appointments, in: circle.id, now: now)
        hasChanged = true
    }

    /// Notes the change on the circle, once for all items that were put and deleted.
    func finish() throws {
        try transaction.addItemUsage(added, of: circle.id)
        if hasChanged { try transaction.touchCircle(circle.id, now: now) }
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
