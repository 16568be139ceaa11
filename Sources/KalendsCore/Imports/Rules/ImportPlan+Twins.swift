// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Events that are stored under another UID than the file's.
///
/// A stored event keeps its UID, so that it is the same event to those who subscribe to it. A series is matched first, and
/// its exceptions then belong to the stored series; otherwise they would be shown beside the occurrences that they replace.
extension ImportPlan {
    /// An event of the file, or a series with all of its exceptions.
    private struct Whole {
        let position: Int
        let exceptions: [Int]
        let likeness: ImportLikeness
        /// For each exception, the series with which the same exception is stored.
        let same: [Set<ImportedEventRecord.Key>]
    }

    private enum MatchQuality: CaseIterable {
        case equal, alike, changed
    }

    /// Matches events whose UIDs are new with stored ones that have the same start, end, title, place and rules.
    ///
    /// - Parameter decided: how many events of the file have been decided, these included.
    mutating func match(
        _ positions: [Int], _ items: inout [Item], decided: Int, _ store: any Store
    ) async throws {
        try await twins.find(positions.compactMap { items[$0].record }, owner, floatingIn: zone, store)
        let groups = Dictionary(grouping: positions) { ByteString(items[$0].event.uid) }
        var (wholes, apart): ([Whole], [Int]) = ([], [])
        for position in positions {
            let group = groups[ByteString(items[position].event.uid)] ?? []
            let isComplete = group.count == index.components(of: items[position].event.uid)
            if isComplete, let first = group.first(where: { items[$0].record?.recurrenceID.isEmpty == true }) {
                guard first == position, let record = items[position].record, twins.hasAny(like: record) else {
                    continue
                }
                wholes.append(whole(position, group.filter { $0 != position }, items))
            } else if isComplete || !owner.isSubscription {
                apart.append(position)
            }
            // A followed series whose exceptions are elsewhere in the file is stored as it comes, and the one before is
            // removed: half of it must not be shown under each UID.
        }
        // A series with exceptions is matched before one without, which would do with any of several.
        wholes.sort { ($1.exceptions.count, $0.position) < ($0.exceptions.count, $1.position) }
        var adopted: [Int] = []
        // Equal events are matched first, so that no other event takes their place.
        for quality in MatchQuality.allCases {
            var left: [Whole] = []
            for whole in wholes where !match(whole, quality, &items, &adopted) { left.append(whole) }
            wholes = left
        }
        try await matchApart(apart, decided: decided, &items, &adopted, store)
        try await adopt(adopted.sorted(), &items, store)
    }

    private func whole(_ index: Int, _ exceptions: [Int], _ items: [Item]) -> Whole {
        let same = exceptions.map { exception -> Set<ImportedEventRecord.Key> in
            guard let record = items[exception].record else { return [] }
            let candidates = twins.candidates(for: record)
            if candidates.isEmpty { return [] }
            let likeness = likeness(items[exception])
            return Set(candidates.filter { likeness.looksLike($0.likeness) }.map(\.series))
        }
        return Whole(position: index, exceptions: exceptions, likeness: likeness(items[index]), same: same)
    }

    private func likeness(_ item: Item) -> ImportLikeness {
        ImportLikeness(item.event, through: item.record?.endsAt, floatingIn: zone)
    }

    /// Matches an event with the stored one that is the most alike; returns false if none is as close.
    private mutating func match(
        _ whole: Whole, _ quality: MatchQuality, _ items: inout [Item], _ adopted: inout [Int]
    ) -> Bool {
        guard let record = items[whole.position].record else { return false }
        // The right one may be among those that were not read.
        if quality == .changed, !twins.hasAll(like: record) { return false }
        var best: (candidate: ImportDuplicates.Candidate, rank: Int)?
        for candidate in twins.candidates(for: record) {
            guard let rank = rank(candidate, whole, record, quality), rank < best?.rank ?? .max else { continue }
            let keys = keys(of: whole.exceptions, in: candidate.record, items)
            if keys.contains(where: twins.isMatched) { continue }
            best = (candidate, rank)
            if rank == 0 { break }
        }
        guard let twin = best?.candidate else { return false }
        twins.take(twin.record.key)
        settle(&items[whole.position], whole.likeness, with: twin)
        guard !whole.exceptions.isEmpty else { return true }
        twins.setSeries(twin.record, of: record.uid)
        if isOwn(twin.record.source, twin.record.importedBy, record) {
            for key in keys(of: whole.exceptions, in: twin.record, items) { twins.take(key) }
            adopted += whole.exceptions
        } else {
            for index in whole.exceptions { matchException(&items[index]) }
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

    /// Whether what is stored was brought by the same calendar, or by the same person, as an event of the file.
    private func isOwn(_ source: EventSource, _ importer: String?, _ record: ImportedEventRecord) -> Bool {
        source == record.source
            && (owner.isSubscription
                || importer.map { ByteString($0) } == record.importedBy.map { ByteString($0) })
    }

    /// Returns a number that is lower for what is more alike; nil for what is not this close.
    private func rank(
        _ candidate: ImportDuplicates.Candidate, _ whole: Whole, _ record: ImportedEventRecord, _ quality: MatchQuality
    ) -> Int? {
        let distance = whole.likeness.distance(to: candidate.likeness)
        let isOwn = isOwn(candidate.record.source, candidate.record.importedBy, record)
        let isSame = whole.same.allSatisfy { $0.contains(candidate.series) }
        switch quality {
        case .equal: return isOwn && isSame && distance == 0 ? 0 : nil
        case .alike:
            if distance > 1 { return nil }
            if isOwn { return isSame ? distance : 2 + distance }
            // Events that somebody else brought are left as they are, so everything in the file must look the same
            // there, and there must not be more of them.
            let isWhole = candidate.components == index.components(of: record.uid)
            return isSame && isWhole ? 4 + distance : nil
        case .changed: return isOwn && distance > 1 ? 0 : nil
        }
    }

    /// Matches exceptions without a series, and those of a person's file that lie far from their series.
    ///
    /// - Parameter adopted: gets the exceptions that belong to a stored series under another UID.
    private mutating func matchApart(
        _ positions: [Int], decided: Int, _ items: inout [Item], _ adopted: inout [Int], _ store: any Store
    ) async throws {
        guard !positions.isEmpty else { return }
        // The exceptions of a series that is stored under the file's UID stay with it.
        var known: Set<ByteString> = []
        var series = positions.map { (items[$0].event.uid, "") }
        while !series.isEmpty {
            let some = Array(series.prefix(try await owner.together(series, of: owner.known, store)))
            series.removeFirst(some.count)
            let stored = try await store.read { [owner] in
                try $0.importedVersions(some, of: owner.known, in: owner.circle)
            }
            known.formUnion(stored.filter { $0.value.isLive }.map(\.key.uid))
        }
        for index in positions where items[index].record?.recurrenceID.isEmpty == true {
            matchSeries(&items[index], whole(index, [], items))
        }
        for index in positions where items[index].record?.recurrenceID.isEmpty == false {
            guard let record = items[index].record, !known.contains(ByteString(record.uid)) else { continue }
            if matchException(&items[index]) { continue }
            if let series = twins.series(record.uid), isOwn(series.source, series.importedBy, record) {
                let key = ImportedEventRecord.Key(
                    series.source, uid: series.uid, recurrenceID: record.recurrenceID)
                if twins.isMatched(key) { continue }
                twins.take(key)
                adopted.append(index)
            } else {
                twins.setUnmatched(record.uid)
            }
        }
    }

    /// Matches a series whose exceptions lie far from it in the file.
    private mutating func matchSeries(_ item: inout Item, _ whole: Whole) {
        guard let record = item.record, !twins.isUnmatched(record.uid) else { return }
        let known = twins.series(record.uid)
        let closest = twins.candidates(for: record).filter { candidate in
            known.map { $0.source == candidate.record.source && $0.uid.isSameText(as: candidate.record.uid) } ?? true
        }.compactMap { candidate in
            (rank(candidate, whole, record, .alike) ?? (known != nil ? rank(candidate, whole, record, .changed) : nil))
                .map { (candidate, $0) }
        }.min { $0.1 < $1.1 }
        guard let (twin, _) = closest else { return twins.setUnmatched(record.uid) }
        twins.take(twin.record.key)
        twins.setSeries(twin.record, of: record.uid)
        settle(&item, whole.likeness, with: twin)
    }

    /// Matches an exception with what looks the same; returns false if there is nothing.
    @discardableResult
    private mutating func matchException(_ item: inout Item) -> Bool {
        guard let record = item.record, !twins.isUnmatched(record.uid) else { return false }
        let series = twins.series(record.uid)
        let likeness = self.likeness(item)
        let closest = twins.candidates(for: record).filter { candidate in
            guard likeness.looksLike(candidate.likeness) else { return false }
            // An exception of a series that the file has too belongs to that series.
            guard let series else { return !twins.isMatched(candidate.series) }
            return series.source == candidate.record.source && series.uid.isSameText(as: candidate.record.uid)
        }.min { likeness.distance(to: $0.likeness) < likeness.distance(to: $1.likeness) }
        guard let twin = closest else { return false }
        twins.take(twin.record.key)
        if series == nil, index.position(ofSeries: record.uid) != nil { twins.setSeries(twin.record, of: record.uid) }
        settle(&item, likeness, with: twin)
        return true
    }

    /// Decides what becomes of exceptions whose series are stored under another UID.
    private mutating func adopt(_ positions: [Int], _ items: inout [Item], _ store: any Store) async throws {
        let wanted = positions.compactMap { index -> (position: Int, record: ImportedEventRecord)? in
            guard var record = items[index].record, let series = twins.series(record.uid) else { return nil }
            record.rename(items[index].event, series.uid, keeping: extras)
            record.shownUID = series.shownUID
            return (index, record)
        }
        guard !wanted.isEmpty else { return }
        let sources = Array(Set(wanted.map(\.record.source)))
        let keys = wanted.map { ($0.record.uid, $0.record.recurrenceID) }
        let stored = try await store.read { [circle = owner.circle] in
            try $0.importedVersions(keys, of: sources, in: circle)
        }
        for (index, wanted) in wanted {
            items[index].storedUID = wanted.uid
            if let old = stored[wanted.key], old.isLive {
                let twin = try ImportDuplicates.Candidate(old, floatingIn: zone)
                settle(&items[index], likeness(items[index]), with: twin)
            } else {
                var record = wanted
                if let gone = stored[wanted.key] { record.sequence = max(record.sequence, gone.sequence + 1) }
                items[index].rows = Rows(record)
                items[index].reason = Sentence(
                    .seriesUnderOtherUID, "Its series exists under another UID, and so this is stored under that UID.")
            }
        }
    }

    /// Decides between an event of the file and the stored one that it was matched with.
    private func settle(
        _ item: inout Item, _ likeness: ImportLikeness, with twin: ImportDuplicates.Candidate
    ) {
        guard var record = item.record else { return }
        // An exception of a series is found by its occurrence, whatever it looks like.
        let isAlike =
            record.fingerprint.isSameText(as: twin.record.fingerprint) && likeness.looksLike(twin.likeness)
        // Events that a followed calendar brought are as the calendar has them, in every detail.
        let isEqual =
            likeness.distance(to: twin.likeness) == 0
            || isAlike && !(owner.isSubscription && twin.record.source == record.source)
        item.storedUID = twin.record.uid
        item.rows = nil
        if isEqual {
            item.change = .unchanged
            item.reason = Sentence(
                .sameUnderOtherUID,
                "The same event exists under another UID: start, end, title, place and repetition are equal.")
            if !item.event.extras.isEmpty {
                item.leftOut = item.event.stored(keeping: twin.extras.union([.reminders])).leftOut
            }
            return
        }
        record.rename(item.event, twin.record.uid, keeping: extras.union(owner.isSubscription ? [] : twin.extras))
        guard let updated = item.compare(record, with: twin.record, self) else { return }
        item.rows = Rows(updated, before: twin.record)
        item.reason = Sentence(.replacesOtherUID, "It replaces the same event, which stays under another UID.")
    }
}

extension ImportLikeness {
    /// Whether two events look the same to a person, if they have one fingerprint.
    fileprivate func looksLike(_ other: ImportLikeness) -> Bool { dates.isSameText(as: other.dates) }

    /// 0 if everything is equal, 1 if they look the same to a person, 2 otherwise.
    fileprivate func distance(to other: ImportLikeness) -> Int {
        if content.isSameText(as: other.content) { return 0 }
        return looksLike(other) ? 1 : 2
    }
}

extension ImportedEventRecord {
    /// Gives the row of a file's event another UID.
    fileprivate mutating func rename(_ event: Event, _ uid: String, keeping extras: Set<EventExtra>) {
        var event = event.importable(keeping: extras)
        event.uid = uid
        self.uid = uid
        content = StoredEvent.text(event)
    }
}
