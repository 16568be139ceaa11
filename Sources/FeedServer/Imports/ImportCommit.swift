// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

extension ImportPlan {
    /// Stores what is created and updated, with the way back; false when nothing changed.
    func apply(toImport id: String, circle: String, in transaction: any WriteTransaction, now: Int) throws -> Bool {
        var changes: [ImportChange] = []
        for item in items {
            guard let record = item.record else { continue }
            try transaction.putImportedEvent(record)
            changes.append(
                ImportChange(
                    uid: record.uid, recurrenceID: record.recurrenceID, contentBefore: item.contentBefore,
                    contentAfter: record.content))
        }
        try transaction.insert(changes, ofImport: id)
        if !changes.isEmpty { try transaction.touchCircle(circle, now: now) }
        return !changes.isEmpty
    }
}

/// The way back from an import.
enum ImportUndo {
    /// Puts back what was there before; names what was edited since, which stays.
    static func undo(
        _ record: ImportRecord, circle: Circle, in transaction: any WriteTransaction, now: Int
    ) throws -> [JSONValue] {
        var kept: [JSONValue] = []
        let zone = try circle.zone.rules
        for change in try transaction.changes(ofImport: record.id).reversed() {
            guard var stored = try transaction.importedEventEverKnown(change.uid, change.recurrenceID, in: circle.id)
            else { continue }
            let present = stored.deletedAt == nil ? stored.content : nil
            if present == change.contentBefore { continue }
            guard present == change.contentAfter else {
                kept.append([
                    "uid": .string(change.uid), "summary": JSONValue(try ImportedEvent(stored).event.summary),
                    "reason": "It was changed since; it stays as it is.",
                ])
                continue
            }
            stored.sequence += 1
            stored.updatedAt = now
            if let before = change.contentBefore {
                stored.content = before
                stored.deletedAt = nil
                let event = try ImportedEvent(stored).event
                let span = event.span(floatingIn: zone)
                (stored.startsAt, stored.endsAt) = (span.start, span.end)
                stored.fingerprint = event.fingerprint(floatingIn: zone)
            } else {
                stored.deletedAt = now
            }
            try transaction.putImportedEvent(stored)
        }
        try transaction.touchCircle(circle.id, now: now)
        return kept
    }
}
