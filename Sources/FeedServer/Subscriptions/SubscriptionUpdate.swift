// SPDX-License-Identifier: Apache-2.0

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
    func apply(_ reading: ImportReading, to own: inout Subscription) throws -> Bool {
        let index = try ImportIndex(reading.events, zone: try circle.zone.rules, in: transaction)
        var plan = try ImportPlan(index, circle: circle, importedBy: own.createdBy, now: now)
        var present: Set<ImportedEventRecord.Key> = []
        for block in 0..<reading.events.blocks {
            let events = try ImportBlock.events(try reading.events.packed(block, in: transaction))
            for read in events {
                present.insert(
                    ImportedEventRecord.Key(
                        uid: read.event.uid, recurrenceID: read.event.recurrenceKey(floatingIn: plan.zone)))
            }
            let items = try plan.decide(events, first: block * ImportBlock.size, in: transaction)
            try transaction.putImportedEvents(items.compactMap(\.record))
            for item in items where item.change == .created {
                if let record = item.record { try transaction.assign(record, toSubscription: own.id) }
            }
        }
        // Some programs make new UIDs at every answer: an event that was found again under another is there.
        let known = present.union(plan.matched)
        let gone = try vanished(reading.summary.problems, known, own)
        for event in gone { try remove(event) }
        let (created, updated) = (plan.tally.count(.created), plan.tally.count(.updated))
        guard created + updated + gone.count > 0 else { return false }
        try transaction.touchCircle(circle.id, now: now)
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
        _ problems: [Problem], _ known: Set<ImportedEventRecord.Key>, _ own: Subscription
    ) throws -> [ImportedEventRecord] {
        guard !problems.contains(where: { Self.cutShort.contains($0.code) }) else { return [] }
        // What could not be read this time is still there.
        let unread = Set(problems.filter { $0.severity == .error }.compactMap(\.uid))
        return try transaction.importedEvents(ofSubscription: own.id).filter {
            !known.contains($0.key) && !unread.contains($0.uid)
        }
    }

    private func remove(_ event: ImportedEventRecord) throws {
        var event = event
        event.sequence += 1
        event.updatedAt = now
        event.deletedAt = now
        try transaction.putImportedEvents([event])
    }
}
