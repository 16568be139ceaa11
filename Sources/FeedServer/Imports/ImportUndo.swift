// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// The way back from an import.
enum ImportUndo {
    /// How many changes are looked at together.
    private static let group = 200

    /// Puts back what was there before; names what was edited since, which stays.
    static func undo(
        _ record: ImportRecord, circle: Circle, in transaction: any WriteTransaction, now: Int
    ) throws -> [JSONValue] {
        var kept: [JSONValue] = []
        let zone = try circle.zone.rules
        var end = Int.max
        while true {
            let changes = try transaction.changes(ofImport: record.id, before: end, limit: group)
            guard let last = changes.last else { break }
            end = last.position
            let stored = try Dictionary(
                transaction.importedEventsEverKnown(changes.map(\.change.uid), in: circle.id).map { ($0.key, $0) },
                uniquingKeysWith: { first, _ in first })
            var restored: [ImportedEventRecord] = []
            for (change, _) in changes {
                guard var event = stored[change.key] else { continue }
                let present = event.deletedAt == nil ? event.content : nil
                if try StoredEvent.isSame(present, change.contentBefore) { continue }
                guard try StoredEvent.isSame(present, change.contentAfter) else {
                    kept.append([
                        "uid": .string(change.uid), "summary": JSONValue(try StoredEvent.event(event.content).summary),
                        "reason": "It was changed since; it stays as it is.",
                    ])
                    continue
                }
                try restore(&event, change.contentBefore, zone, now)
                restored.append(event)
            }
            try transaction.putImportedEvents(restored)
        }
        try transaction.touchCircle(circle.id, now: now)
        return kept
    }

    private static func restore(
        _ stored: inout ImportedEventRecord, _ content: String?, _ zone: any TimeZoneRules, _ now: Int
    ) throws {
        stored.sequence += 1
        stored.updatedAt = now
        guard let content else {
            stored.deletedAt = now
            return
        }
        stored.content = content
        stored.deletedAt = nil
        let event = try StoredEvent.event(content)
        let span = event.span(floatingIn: zone)
        (stored.startsAt, stored.endsAt) = (span.start, span.end)
        stored.fingerprint = event.fingerprint(floatingIn: zone)
    }
}
