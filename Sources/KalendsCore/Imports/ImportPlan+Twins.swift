// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Storage

/// Events that are stored under another UID than the file's.
///
/// A stored event keeps its UID, so that it is the same event to those who subscribe to it. A series is matched first, and
/// its exceptions then belong to the stored series; otherwise they would be shown beside the occurrences that they replace.
extension ImportPlan {
    /// Matches events whose UIDs are new with stored ones that have the same start, end, title, place and rules.
    ///
    /// - Parameter decided: how many events of the file have been decided, these included.
    mutating func match(
        _ places: [Int], _ items: inout [Item], decided: Int, _ store: any Store
    ) async throws {
        try await twins.find(places.compactMap { items[$0].record }, owner, floatingIn: zone, store)
        var exceptions: [ByteString: [Int]] = [:]
        for place in places {
            guard let record = items[place].record, !record.recurrenceID.isEmpty else { continue }
            exceptions[ByteString(record.uid), default: []].append(place)
        }
        for place in places where items[place].record?.recurrenceID.isEmpty == true {
            let with = exceptions[ByteString(items[place].event.uid)] ?? []
            try matchSeries(&items[place], with: with.map { items[$0] })
        }
        var adopted: [Int] = []
        for place in exceptions.values.joined().sorted() {
            let uid = items[place].event.uid
            if let series = twins.series(uid), series.source == items[place].record?.source {
                adopted.append(place)
            } else if twins.series(uid) != nil || index.place(ofSeries: uid).map({ $0 >= decided }) ?? true {
                // Without its series, an exception is an event by itself.
                try matchException(&items[place])
            }
        }
        try await adopt(adopted, &items, store)
    }

    private mutating func matchSeries(_ item: inout Item, with exceptions: [Item]) throws {
        guard let record = item.record else { return }
        let candidates = twins.candidates(for: record)
        guard !candidates.isEmpty else { return }
        let likeness = ImportLikeness(item.event, floatingIn: zone)
        // The stored exceptions that are the same as those of the file.
        let same = exceptions.map { exception -> Set<ByteString> in
            guard let record = exception.record else { return [] }
            let likeness = ImportLikeness(exception.event, floatingIn: zone)
            return Set(twins.candidates(for: record).filter { likeness.looksLike($0.likeness) }.map(\.uid))
        }
        var best: (candidate: ImportTwins.Candidate, rank: Int)?
        for candidate in candidates {
            let isWhole = same.allSatisfy { $0.contains(candidate.uid) }
            // What somebody else brought is left as it is, so it is the same event only if nothing of it differs.
            if candidate.record.source != record.source, !isWhole || !likeness.looksLike(candidate.likeness) {
                continue
            }
            let rank = 2 * likeness.distance(to: candidate.likeness) + (isWhole ? 0 : 1)
            if best.map({ rank < $0.rank }) ?? true { best = (candidate, rank) }
            if rank == 0 { break }
        }
        guard let twin = best?.candidate else { return }
        twins.take(twin.record)
        twins.setSeries(twin.record, of: item.event.uid)
        try settle(&item, likeness, with: twin)
    }

    private mutating func matchException(_ item: inout Item) throws {
        guard let record = item.record else { return }
        let series = twins.series(item.event.uid)
        let likeness = ImportLikeness(item.event, floatingIn: zone)
        let twin = twins.candidates(for: record).first { candidate in
            likeness.looksLike(candidate.likeness)
                && series.map { $0.source == candidate.record.source && ByteString($0.uid) == candidate.uid } ?? true
        }
        guard let twin else { return }
        twins.take(twin.record)
        try settle(&item, likeness, with: twin)
    }

    /// Decides what becomes of exceptions whose series are stored under another UID.
    private mutating func adopt(_ places: [Int], _ items: inout [Item], _ store: any Store) async throws {
        guard !places.isEmpty else { return }
        let wanted = places.compactMap { place -> ImportedEventRecord? in
            guard var record = items[place].record, let series = twins.series(record.uid) else { return nil }
            record.rename(items[place].event, series.uid)
            record.shownUID = series.shownUID
            return record
        }
        let sources = Array(Set(wanted.map(\.source)))
        let keys = wanted.map { ($0.uid, $0.recurrenceID) }
        let stored = try await store.read { [circle = owner.circle] in
            try $0.importedVersions(keys, of: sources, in: circle)
        }
        for (place, wanted) in zip(places, wanted) {
            twins.take(wanted)
            if let old = stored[wanted.key], old.isLive {
                let likeness = ImportLikeness(try StoredEvent.event(old.content), floatingIn: zone)
                try settle(
                    &items[place], ImportLikeness(items[place].event, floatingIn: zone),
                    with: ImportTwins.Candidate(record: old, likeness: likeness))
            } else {
                var record = wanted
                if let gone = stored[wanted.key] { record.sequence = max(record.sequence, gone.sequence + 1) }
                items[place].rows = Rows(record)
                items[place].reason = "Its series exists under another UID, which it is stored under."
            }
        }
    }

    /// Decides between an event of the file and the stored one that it was matched with.
    private func settle(
        _ item: inout Item, _ likeness: ImportLikeness, with twin: ImportTwins.Candidate
    ) throws {
        guard var record = item.record else { return }
        let isEqual =
            likeness.distance(to: twin.likeness) == 0 || likeness.looksLike(twin.likeness) && !follows(twin.record)
        item.rows = nil
        if isEqual {
            item.change = .unchanged
            item.reason = "The same event exists under another UID: start, end, title, place and repetition are equal."
            return
        }
        record.rename(item.event, twin.record.uid)
        guard let updated = try item.compare(record, with: twin.record, self) else { return }
        item.rows = Rows(updated, before: twin.record)
        item.reason = "It replaces the same event, which is stored under another UID and keeps it."
    }

    /// Whether an event comes from the calendar that is being read: it is then as the calendar has it, to every detail.
    private func follows(_ record: ImportedEventRecord) -> Bool { record.source.isSubscription }
}

extension ImportLikeness {
    /// Whether two events with one fingerprint look the same to a person.
    fileprivate func looksLike(_ other: ImportLikeness) -> Bool { dates.isSameText(as: other.dates) }

    /// 0 if everything is equal, 1 if they look the same to a person, 2 otherwise.
    fileprivate func distance(to other: ImportLikeness) -> Int {
        if content.isSameText(as: other.content) { return 0 }
        return looksLike(other) ? 1 : 2
    }
}

extension ImportedEventRecord {
    /// Gives the row of a file's event another UID.
    fileprivate mutating func rename(_ event: Event, _ uid: String) {
        var event = event.importable
        event.uid = uid
        self.uid = uid
        content = StoredEvent.text(event)
    }
}
