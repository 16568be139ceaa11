// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import ICalBridge
import Storage

/// Brings a circle's events in line with a calendar that was fetched, within one transaction.
struct SubscriptionUpdate {
    let circle: Circle
    let transaction: any WriteTransaction
    let now: Int

    /// Problems after which nobody knows what else the file held.
    private static let cutShort: Set<Problem.Code> = ["missing-end", "too-many-components", "component-refused"]

    /// Stores what is new and changed, and takes away what is no longer there; whether anything changed.
    func apply(_ source: ImportSource, to own: inout Subscription) throws -> Bool {
        let plan = try ImportPlan(source, circle: circle, importedBy: own.createdBy, in: transaction, now: now)
        let (created, updated) = (plan.count(.created), plan.count(.updated))
        if created + updated > 0 {
            // An import needs a name for its way back; of a subscription there is none.
            let id = FeedLedger.makeID()
            try transaction.putImport(
                ImportRecord(
                    id: id, circleID: circle.id, state: .previewed, importedBy: own.createdBy, report: "{}", source: "",
                    createdAt: now))
            _ = try plan.apply(toImport: id, circle: circle.id, in: transaction, now: now)
            try transaction.forgetImport(id)
        }
        for item in plan.items where item.change == .created {
            if let record = item.record { try transaction.assign(record, toSubscription: own.id) }
        }
        let gone = try vanished(source, plan, own)
        for event in gone { try remove(event) }
        guard created + updated + gone.count > 0 else { return false }
        if !gone.isEmpty { try transaction.touchCircle(circle.id, now: now) }
        (own.created, own.updated, own.deleted) = (created, updated, gone.count)
        own.lastChangedAt = now
        return true
    }

    /// Takes away all events of a subscription.
    func removeAll(of own: Subscription) throws {
        let events = try transaction.importedEvents(ofSubscription: own.id)
        for event in events { try remove(event) }
        if !events.isEmpty { try transaction.touchCircle(circle.id, now: now) }
        try transaction.forgetValidators(in: circle.id)
    }

    private func vanished(
        _ source: ImportSource, _ plan: ImportPlan, _ own: Subscription
    ) throws -> [ImportedEventRecord] {
        guard !source.problems.contains(where: { Self.cutShort.contains($0.code) }) else { return [] }
        // What could not be read this time is still there.
        let unread = Set(source.problems.filter { $0.severity == .error }.compactMap(\.uid))
        let zone = try circle.zone.rules
        let present = Set(source.events.map { Key($0.event.uid, $0.event.recurrenceKey(floatingIn: zone)) })
        let missing = try transaction.importedEvents(ofSubscription: own.id).filter {
            !present.contains(Key($0.uid, $0.recurrenceID)) && !unread.contains($0.uid)
        }
        if missing.isEmpty { return [] }
        // Some programs make new UIDs at every answer: an event that was found again under another is there.
        var found: [String: Int] = [:]
        for item in plan.items where item.change == .unchanged {
            let key = item.event.recurrenceKey(floatingIn: zone)
            let stored = try transaction.importedEventEverKnown(item.event.uid, key, in: circle.id)
            if stored.map({ $0.deletedAt != nil }) ?? true {
                found[item.event.fingerprint(floatingIn: zone), default: 0] += 1
            }
        }
        return missing.filter { event in
            guard let left = found[event.fingerprint], left > 0 else { return true }
            found[event.fingerprint] = left - 1
            return false
        }
    }

    private func remove(_ event: ImportedEventRecord) throws {
        var event = event
        event.sequence += 1
        event.updatedAt = now
        event.deletedAt = now
        try transaction.putImportedEvent(event)
    }

    private struct Key: Hashable {
        var uid: String
        var recurrence: String

        init(_ uid: String, _ recurrence: String) {
            self.uid = uid
            self.recurrence = recurrence
        }
    }
}
