// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Replaces one imported event by itself, with all its components: as a calendar app has it now, or as it was before.
///
/// It is used in the circle's turn, once what was staged there is discarded.
struct SeriesReplacement {
    /// The circle as it shows the event before.
    let circle: Circle
    let uid: String
    let source: EventSource
    /// Those of whoever does it.
    let quotas: Quotas
    /// As `EventStaging.publish` has them.
    let limits: EventLimits?

    /// Shows other components from now on, with a revision above all that were shown, and keeps those from before.
    ///
    /// - Parameters:
    ///   - old: what is there; empty if the event is gone.
    ///   - new: what replaces it; empty to remove it.
    /// - Returns: the number of the change.
    func write(
        _ old: [ImportedEventRecord], replacedBy new: [ImportedEventRecord], in transaction: any WriteTransaction,
        now: Int
    ) throws -> Int {
        if new.count > old.count {
            let known = try transaction.importedUsage(in: circle.id).count
            guard known + new.count - old.count <= quotas.eventsPerCircle else {
                throw Refusal.quota("A circle has", quotas.eventsPerCircle, "imported events")
            }
        }
        var new = new
        let sequence = try sequence(after: old + new, transaction)
        let isTaken = try old.isEmpty && isUIDTaken(transaction)
        for index in new.indices {
            new[index].sequence = sequence
            if isTaken { new[index].shownUID = new[index].shownUID ?? StoredEvent.derivedUID(uid, of: source) }
        }
        try transaction.beginStaging(in: circle)
        try transaction.stageEnd(of: old.map(\.key), in: circle)
        try transaction.stage(new, in: circle)
        let (added, bytes) = try transaction.publishEvents(in: circle, [source: new.count - old.count], now: now)
        try limits?.check(bytes, added: added)
        let isHidden = try ImportedSeries.all(old + new).contains { !$0.privateTo.isEmpty }
        let number = try transaction.noteEvent(
            uid, new.isEmpty ? .deleted : old.isEmpty ? .created : .updated,
            keeping: try KeptEvent(old, replacedBy: new).text(), in: circle.id,
            seenBy: isHidden ? (old + new).first?.importedBy : nil, now: now)
        try transaction.trimKeptContents(in: circle.id, to: quotas.keptBytesPerCircle)
        return number
    }

    private func sequence(after records: [ImportedEventRecord], _ transaction: any ReadTransaction) throws -> Int {
        let known = try transaction.importedVersions(
            records.map { (uid: uid, recurrenceID: $0.recurrenceID) }, of: [source], in: circle)
        let floor = try transaction.eventSources(in: circle.id)[source]?.sequenceFloor ?? 0
        return max(floor, (known.values.map(\.sequence).max() ?? -1) + 1)
    }

    /// Whether something else that everybody may see has the UID by now.
    private func isUIDTaken(_ transaction: any ReadTransaction) throws -> Bool {
        if try transaction.itemsEverKnown(uids: [uid], in: circle.id).contains(where: { $0.deletedAt == nil }) {
            return true
        }
        return try transaction.sameUIDEvents([uid], of: source, visibleTo: nil, in: circle)
            .contains { $0.visibleTo == nil && $0.shownUID == nil && $0.source != .tasks }
    }
}

extension KeptEvent {
    /// The rows that bring the event back as it was before the change.
    func records(of uid: String, in circle: Circle, now: Int) throws -> [ImportedEventRecord] {
        let zone = try circle.zone.rules
        return try components.map { component in
            let event = try component.event()
            let span = event.span(floatingIn: zone)
            var row = ImportedEventRecord(
                circleID: circle.id, source: source, uid: uid, recurrenceID: component.recurrenceID,
                startsAt: span.start, endsAt: span.end, fingerprint: event.fingerprint(floatingIn: zone),
                content: component.content, fileSequence: component.fileSequence,
                fileModifiedAt: component.fileModifiedAt, importedBy: ownerID, now: now)
            (row.createdAt, row.shownUID) = (component.createdAt, component.shownUID)
            row.visibleTo = isPrivate ? ownerID ?? "" : nil
            return row
        }
    }
}
