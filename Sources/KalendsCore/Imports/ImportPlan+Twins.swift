// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Storage

/// Events that are stored under another UID than the file's.
///
/// A stored event keeps its UID, so that it is the same event to those who subscribe to it. A series is matched first, and
/// its exceptions then belong to the stored series; otherwise they would be shown beside the occurrences that they replace.
extension ImportPlan {
    /// An event of the file, or a series with all of its exceptions.
    private struct Whole {
        let place: Int
        let exceptions: [Int]
        let likeness: ImportLikeness
        /// For each exception, the UIDs under which the same is stored.
        let same: [Set<ByteString>]
    }

    private enum Closeness: CaseIterable {
        case equal, alike, changed
    }

    /// Matches events whose UIDs are new with stored ones that have the same start, end, title, place and rules.
    ///
    /// - Parameter decided: how many events of the file have been decided, these included.
    mutating func match(
        _ places: [Int], _ items: inout [Item], decided: Int, _ store: any Store
    ) async throws {
        try await twins.find(places.compactMap { items[$0].record }, owner, floatingIn: zone, store)
        guard twins.hasAny else { return }
        let groups = Dictionary(grouping: places) { ByteString(items[$0].event.uid) }
        var (wholes, apart): ([Whole], [Int]) = ([], [])
        for place in places {
            let group = groups[ByteString(items[place].event.uid)] ?? []
            let isComplete = group.count == index.components(of: items[place].event.uid)
            if isComplete, let first = group.first(where: { items[$0].record?.recurrenceID.isEmpty == true }) {
                guard first == place, let record = items[place].record, twins.hasAny(like: record) else { continue }
                wholes.append(whole(place, group.filter { $0 != place }, items))
            } else if isComplete || !owner.isSubscription {
                apart.append(place)
            }
            // A followed series whose exceptions are elsewhere in the file is stored as it comes, and the one before is
            // removed: half of it must not be shown under each UID.
        }
        var adopted: [Int] = []
        // What is equal is matched first, so that no other event takes its place.
        for closeness in Closeness.allCases {
            var left: [Whole] = []
            for whole in wholes where try !match(whole, closeness, &items, &adopted) { left.append(whole) }
            wholes = left
        }
        try matchApart(apart, decided: decided, &items)
        try await adopt(adopted.sorted(), &items, store)
    }

    private func whole(_ place: Int, _ exceptions: [Int], _ items: [Item]) -> Whole {
        let same = exceptions.map { exception -> Set<ByteString> in
            guard let record = items[exception].record else { return [] }
            let candidates = twins.candidates(for: record)
            if candidates.isEmpty { return [] }
            let likeness = ImportLikeness(items[exception].event, floatingIn: zone)
            return Set(candidates.filter { likeness.looksLike($0.likeness) }.map(\.uid))
        }
        return Whole(
            place: place, exceptions: exceptions, likeness: ImportLikeness(items[place].event, floatingIn: zone),
            same: same)
    }

    /// Matches an event with the stored one that is the most alike; returns false if none is as close.
    private mutating func match(
        _ whole: Whole, _ closeness: Closeness, _ items: inout [Item], _ adopted: inout [Int]
    ) throws -> Bool {
        guard let record = items[whole.place].record else { return false }
        var best: (candidate: ImportTwins.Candidate, rank: Int)?
        for candidate in twins.candidates(for: record) {
            guard let rank = rank(candidate, whole, record, closeness), rank < best?.rank ?? .max else { continue }
            let keys = keys(of: whole.exceptions, in: candidate.record, items)
            if keys.contains(where: twins.isMatched) { continue }
            best = (candidate, rank)
            if rank == 0 { break }
        }
        guard let twin = best?.candidate else { return false }
        twins.take(twin.record)
        try settle(&items[whole.place], whole.likeness, with: twin)
        guard !whole.exceptions.isEmpty else { return true }
        twins.setSeries(twin.record, of: record.uid)
        if twin.record.source == record.source {
            twins.take(keys(of: whole.exceptions, in: twin.record, items))
            adopted += whole.exceptions
        } else {
            for place in whole.exceptions { try matchException(&items[place]) }
        }
        return true
    }

    private func keys(
        of exceptions: [Int], in series: ImportedEventRecord, _ items: [Item]
    ) -> [ImportedEventRecord.Key] {
        exceptions.compactMap { items[$0].record?.recurrenceID }.map {
            ImportedEventRecord.Key(series.source, uid: series.uid, recurrenceID: $0)
        }
    }

    /// Returns a number that is lower for what is more alike; nil for what is not this close.
    private func rank(
        _ candidate: ImportTwins.Candidate, _ whole: Whole, _ record: ImportedEventRecord, _ closeness: Closeness
    ) -> Int? {
        let distance = whole.likeness.distance(to: candidate.likeness)
        let isOwn = candidate.record.source == record.source
        let isSame = whole.same.allSatisfy { $0.contains(candidate.uid) }
        switch closeness {
        case .equal: return isOwn && isSame && distance == 0 ? 0 : nil
        case .alike:
            if distance > 1 { return nil }
            if isOwn { return isSame ? distance : 2 + distance }
            // What somebody else brought is left as it is, so all of it must look the same.
            return isSame ? 4 + distance : nil
        case .changed:
            // The right one may be among those that were not read.
            return isOwn && distance > 1 && twins.hasAll(like: record) ? 0 : nil
        }
    }

    /// Matches exceptions without a series, and those that lie far from their series in a person's file, one by one and only
    /// with what looks the same.
    private mutating func matchApart(_ places: [Int], decided: Int, _ items: inout [Item]) throws {
        for place in places where items[place].record?.recurrenceID.isEmpty == true {
            let whole = whole(place, [], items)
            guard let record = items[place].record,
                let twin = twins.candidates(for: record).first(where: { rank($0, whole, record, .alike) != nil })
            else { continue }
            twins.take(twin.record)
            twins.setSeries(twin.record, of: record.uid)
            try settle(&items[place], whole.likeness, with: twin)
        }
        for place in places where items[place].record?.recurrenceID.isEmpty == false {
            let uid = items[place].event.uid
            let isAhead = index.place(ofSeries: uid).map { $0 >= decided } ?? true
            if isAhead || twins.series(uid) != nil { try matchException(&items[place]) }
        }
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
            items[place].storedUID = wanted.uid
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
        // An exception of a series is found by its occurrence, whatever it looks like.
        let isAlike =
            record.fingerprint.isSameText(as: twin.record.fingerprint) && likeness.looksLike(twin.likeness)
        let isEqual = likeness.distance(to: twin.likeness) == 0 || isAlike && !follows(twin.record)
        item.storedUID = twin.record.uid
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
