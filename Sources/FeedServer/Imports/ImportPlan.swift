// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// What an import does to each event, found out against what is stored, a block of the file at a time.
///
/// A preview shows it, a commit does it.
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

    let index: ImportIndex
    let circle: String
    let zone: any TimeZoneRules
    let importedBy: String?
    let now: Int
    var tally = ImportTally()
    /// Stored events that were found under another UID.
    private(set) var matched: Set<ImportedEventRecord.Key> = []
    /// Items that are left out at the caller's wish, those not met yet.
    private(set) var unmetExclusions: Set<String>
    private let excluded: Set<String>

    /// - Parameter circle: its zone is that of times that name none.
    init(_ index: ImportIndex, circle: Circle, importedBy: String?, excluded: Set<String> = [], now: Int) throws {
        self.index = index
        self.circle = circle.id
        zone = try circle.zone.rules
        self.importedBy = importedBy
        self.excluded = excluded
        unmetExclusions = excluded
        self.now = now
    }

    /// - Parameter first: where in the file's order the events begin.
    mutating func decide(
        _ events: [ReadEvent], first: Int, in transaction: any ReadTransaction
    ) throws -> [Item] {
        var items = events.enumerated().map { place, read in
            Item(id: index.keys[first + place].text, event: read.event, line: read.line, change: .created)
        }
        let own = try transaction.ownedUIDs(events.map(\.event.uid))
        for place in items.indices {
            if !index.isNewest(first + place) {
                items[place].id += "-\(first + place)"
                items[place].change = .skipped
                items[place].reason = "The file holds a newer version of the same event."
            } else if own.contains(items[place].event.uid) {
                items[place].change = .skipped
                items[place].reason = "This is an event of the schedule itself; it is not imported into it again."
            }
        }
        try compare(&items, in: transaction)
        for place in items.indices where excluded.contains(items[place].id) {
            unmetExclusions.remove(items[place].id)
            items[place].change = .skipped
            items[place].reason = "It was excluded."
            items[place].record = nil
        }
        for item in items { tally.add(item, zone) }
        return items
    }

    private mutating func compare(_ items: inout [Item], in transaction: any ReadTransaction) throws {
        let places = items.indices.filter { items[$0].change != .skipped }
        let stored = try Dictionary(
            transaction.importedEventsEverKnown(places.map { items[$0].event.uid }, in: circle).map {
                ($0.key, $0)
            }, uniquingKeysWith: { first, _ in first })
        var unknown: [Int] = []
        for place in places {
            var record = try record(items[place].event)
            let old = stored[record.key]
            guard let old, old.deletedAt == nil else {
                if let old { record.sequence = max(old.sequence + 1, record.sequence) }
                items[place].record = record
                unknown.append(place)
                continue
            }
            if try StoredEvent.isSame(old.content, record.content) {
                items[place].change = .unchanged
            } else if Self.isOlder(record, than: old) {
                items[place].change = .unchanged
                items[place].reason = "The stored event is newer than the file's."
            } else {
                items[place].change = .updated
                items[place].contentBefore = old.content
                record.createdAt = old.createdAt
                record.sequence = max(old.sequence + 1, record.sequence)
                items[place].record = record
            }
        }
        let prints = unknown.compactMap { items[$0].record?.fingerprint }
        let alike = Dictionary(
            grouping: try transaction.importedEvents(fingerprints: prints, in: circle), by: \.fingerprint)
        for place in unknown {
            guard let fingerprint = items[place].record?.fingerprint else { continue }
            // An event that is the same but for its UID, and that the file does not also hold under that UID.
            let same = alike[fingerprint]?.first { !index.uids.contains($0.uid) && !matched.contains($0.key) }
            guard let same else { continue }
            matched.insert(same.key)
            items[place].change = .unchanged
            items[place].record = nil
            items[place].reason =
                "The same event is there under another UID: start, end, title, place and repetition are equal."
        }
    }

    private func record(_ event: Event) throws -> ImportedEventRecord {
        let span = event.span(floatingIn: zone)
        var record = ImportedEventRecord(
            circleID: circle, uid: event.uid, recurrenceID: event.recurrenceKey(floatingIn: zone),
            startsAt: span.start, endsAt: span.end, fingerprint: event.fingerprint(floatingIn: zone),
            content: StoredEvent.text(event.importable), fileSequence: max(0, event.sequence),
            fileModifiedAt: event.lastModified?.milliseconds, importedBy: importedBy)
        record.createdAt = now
        record.updatedAt = now
        return record
    }

    private static func isOlder(_ new: ImportedEventRecord, than old: ImportedEventRecord) -> Bool {
        if new.fileSequence != old.fileSequence { return new.fileSequence < old.fileSequence }
        guard let newTime = new.fileModifiedAt, let oldTime = old.fileModifiedAt else { return false }
        return newTime < oldTime
    }
}
