// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import FoundationEssentials
import ICalBridge
import Storage

/// What an import does to each event, found out against what is stored; a preview shows it, a commit does it.
struct ImportPlan: Sendable {
    enum Change: String, Sendable {
        case created, updated, unchanged, skipped
    }

    struct Item: Sendable {
        var id: String
        var event: Event
        var line: Int
        var change: Change
        /// Why, for what is not plainly new or the same.
        var reason: String?
        /// The row to store, for what is created or updated.
        var record: ImportedEventRecord?
        var contentBefore: String?
    }

    var items: [Item] = []

    /// - Parameter circle: its zone is that of times that name none.
    init(
        _ source: ImportSource, circle: Circle, importedBy: String?, in transaction: any ReadTransaction, now: Int
    ) throws {
        let zone = try circle.zone.rules
        // A file may hold an event twice; the newest counts.
        var newest: [String: Int] = [:]
        for (index, read) in source.events.enumerated() {
            let id = Self.itemID(read.event, zone)
            guard let other = newest[id] else {
                newest[id] = index
                continue
            }
            if Self.isNewer(read.event, than: source.events[other].event) { newest[id] = index }
        }
        let uids = Set(source.events.map(\.event.uid))
        var matched: Set<String> = []
        items.reserveCapacity(source.events.count)
        for (index, read) in source.events.enumerated() {
            let id = Self.itemID(read.event, zone)
            var item = Item(id: id, event: read.event, line: read.line, change: .created)
            if newest[id] != index {
                item.id = "\(id)-\(index)"
                item.change = .skipped
                item.reason = "The file holds a newer version of the same event."
            } else if try transaction.ownsUID(read.event.uid) {
                item.change = .skipped
                item.reason = "This is an event of the schedule itself; it is not imported into it again."
            } else {
                try Self.compare(
                    &item, zone: zone, circle: circle.id, importedBy: importedBy, uids: uids, matched: &matched,
                    transaction, now)
            }
            items.append(item)
        }
    }

    func count(_ change: Change) -> Int { items.reduce(0) { $0 + ($1.change == change ? 1 : 0) } }

    /// The first and the last day that an event of the file touches.
    func span(zone: any TimeZoneRules) -> (from: CivilDate, to: CivilDate)? {
        let starts = items.compactMap { $0.event.start }.map { zone.civil(at: $0.instant(floatingIn: zone)).date }
        let ends = items.compactMap { $0.event.effectiveEnd }.map { end in
            // The end is exclusive: an event that ends at midnight does not touch the day that begins then.
            zone.civil(at: end.instant(floatingIn: zone).adding(seconds: -1)).date
        }
        guard let from = starts.min(), let to = ends.max() else { return nil }
        return (from, max(from, to))
    }

    private static func compare(
        _ item: inout Item, zone: any TimeZoneRules, circle: String, importedBy: String?, uids: Set<String>,
        matched: inout Set<String>, _ transaction: any ReadTransaction, _ now: Int
    ) throws {
        let event = item.event
        let kept = event.importable
        let content = try storedText(kept)
        let key = event.recurrenceKey(floatingIn: zone)
        let fingerprint = event.fingerprint(floatingIn: zone)
        let span = event.span(floatingIn: zone)
        var record = ImportedEventRecord(
            circleID: circle, uid: event.uid, recurrenceID: key, startsAt: span.start, endsAt: span.end,
            fingerprint: fingerprint, content: content, fileSequence: max(0, event.sequence),
            fileModifiedAt: event.lastModified?.milliseconds, importedBy: importedBy)
        record.createdAt = now
        record.updatedAt = now
        let old = try transaction.importedEventEverKnown(event.uid, key, in: circle)
        if let old, old.deletedAt == nil {
            if old.content == content {
                item.change = .unchanged
            } else if isOlder(record, than: old) {
                item.change = .unchanged
                item.reason = "The stored event is newer than the file's."
            } else {
                item.change = .updated
                item.contentBefore = old.content
                record.createdAt = old.createdAt
                record.sequence = max(old.sequence + 1, record.sequence)
                item.record = record
            }
            return
        }
        // An event that is the same but for its UID, and that the file does not also hold under that UID.
        let same = try transaction.importedEvents(fingerprint: fingerprint, in: circle).first {
            !uids.contains($0.uid) && !matched.contains($0.uid + "\u{0}" + $0.recurrenceID)
        }
        if let same {
            matched.insert(same.uid + "\u{0}" + same.recurrenceID)
            item.change = .unchanged
            item.reason =
                "The same event is there under another UID: start, end, title, place and repetition are equal."
            return
        }
        if let old { record.sequence = max(old.sequence + 1, record.sequence) }
        item.record = record
    }

    private static func isOlder(_ new: ImportedEventRecord, than old: ImportedEventRecord) -> Bool {
        if new.fileSequence != old.fileSequence { return new.fileSequence < old.fileSequence }
        guard let newTime = new.fileModifiedAt, let oldTime = old.fileModifiedAt else { return false }
        return newTime < oldTime
    }

    private static func isNewer(_ a: Event, than b: Event) -> Bool {
        if a.sequence != b.sequence { return a.sequence > b.sequence }
        return (a.lastModified?.seconds ?? 0) >= (b.lastModified?.seconds ?? 0)
    }

    /// The same for the same event at every import.
    private static func itemID(_ event: Event, _ zone: any TimeZoneRules) -> String {
        let key = event.uid + "\u{0}" + event.recurrenceKey(floatingIn: zone)
        return Base64URL.encode(Array(SHA256.hash(data: Data(key.utf8)).prefix(12)))
    }
}
