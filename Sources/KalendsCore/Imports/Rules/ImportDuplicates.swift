// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import FoundationEssentials
import ICalBridge
import Storage

/// Stored events that have other UIDs than a file's and the same fingerprints, since some programs change UIDs in every
/// export.
///
/// Where many have one fingerprint, none is visited twice.
struct ImportDuplicates: Sendable {
    /// A stored event that may be the same as one of the file.
    final class Candidate: Sendable {
        let record: ImportedEventRecord
        let likeness: ImportLikeness
        /// The people and files that are stored with it.
        let extras: Set<EventExtra>
        /// How many components of the event are stored, itself included.
        let components: Int

        init(_ record: ImportedEventRecord, components: Int = 1, floatingIn zone: any TimeZoneRules) throws {
            (self.record, self.components) = (record, components)
            let event = try StoredEvent.event(record.content)
            likeness = ImportLikeness(event, through: record.endsAt, floatingIn: zone)
            extras = event.extras
        }

        /// The series that this is, or whose exception it is.
        var series: ImportedEventRecord.Key {
            ImportedEventRecord.Key(record.source, uid: record.uid, recurrenceID: "")
        }
    }

    /// What has to be known about a stored series to give it an exception from the file.
    struct StoredSeries: Sendable {
        let uid: String
        let source: EventSource
        let shownUID: String?
        let importedBy: String?
    }

    /// How many events of the file have one fingerprint, and who sees them.
    private struct Demand {
        let count: Int
        private let audiences: Set<ByteString?>

        init(_ records: [ImportedEventRecord]) {
            count = records.count
            audiences = Set(records.map { $0.visibleTo.map { ByteString($0) } })
        }

        func suits(_ twin: ReadTransaction.DuplicateEvent) -> Bool { audiences.contains(twin.visibleTo) }
    }

    /// This many more rows than events are read, to find the row that is most like an event.
    private static let more = 16

    /// The events that were found last and not yet matched, by fingerprint.
    private var candidates: [ByteString: [Candidate]] = [:]
    private var fingerprints: [ImportedEventRecord.Key: ByteString] = [:]
    /// The fingerprints for which more rows are stored than were read.
    private var cut: Set<ByteString> = []
    /// The last UID visited among events that are equal, by fingerprint.
    private var last: [ByteString: String] = [:]
    private var matched: Set<ImportedEventRecord.Key> = []
    /// The stored series with which a series of the file was matched, by its UID in the file; only for series with
    /// exceptions.
    private var series: [ByteString: StoredSeries] = [:]
    /// The UIDs, in the file, of series with an unmatched component, so that their other components are not matched either.
    private var unmatched: Set<ByteString> = []

    func isMatched(_ key: ImportedEventRecord.Key) -> Bool { matched.contains(key) }

    /// Finds stored events with the fingerprints of some of the file's, for the same audiences.
    ///
    /// - Parameter zone: the zone of times that name none.
    mutating func find(
        _ records: [ImportedEventRecord], _ owner: ImportOwner, floatingIn zone: any TimeZoneRules, _ store: any Store
    ) async throws {
        // Twins left over are dropped; a later search continues where the last one ended.
        (candidates, fingerprints, cut) = ([:], [:], [])
        guard !records.isEmpty, owner.known.contains(where: { (owner.sources[$0]?.events ?? 0) > 0 }) else { return }
        let wanted = Dictionary(grouping: records) { ByteString($0.fingerprint) }.mapValues { Demand($0) }
        let fresh = wanted.keys.filter { last[$0] == nil }
        // There is about one twin for each event, and some are not free. If there are more, each kind is looked up in
        // pages.
        let most = max(400, 2 * records.count)
        let found = try await store.read {
            try $0.twins(fresh.map(\.string), of: owner.known, in: owner.circle, limit: most)
        }
        var free: [ByteString: [ReadTransaction.DuplicateEvent]] = [:]
        for twin in found ?? [] where isFree(twin, owner) && wanted[twin.fingerprint]?.suits(twin) == true {
            free[twin.fingerprint, default: []].append(twin)
        }
        for (fingerprint, demand) in wanted where found == nil || last[fingerprint] != nil {
            free[fingerprint] = try await search(fingerprint, demand, free[fingerprint] ?? [], owner, store)
        }
        try await load(free, for: wanted, owner, floatingIn: zone, store)
    }

    /// Reads the rows of about as many twins as there are events, and no more bytes than that, so that memory is for these
    /// only.
    private mutating func load(
        _ free: [ByteString: [ReadTransaction.DuplicateEvent]], for wanted: [ByteString: Demand],
        _ owner: ImportOwner, floatingIn zone: any TimeZoneRules, _ store: any Store
    ) async throws {
        var (chosen, bytes): ([ReadTransaction.DuplicateEvent], Int) = ([], 0)
        for (fingerprint, twins) in free {
            // An event of another source must not take the place of the owner's.
            var positions: [EventSource: Int] = [:]
            for twin in twins {
                let taken = positions[twin.key.source, default: 0]
                guard taken < (wanted[fingerprint]?.count ?? 0) + Self.more, bytes + twin.size <= ImportOwner.mostRead
                else {
                    cut.insert(fingerprint)
                    continue
                }
                bytes += twin.size
                positions[twin.key.source] = taken + 1
                chosen.append(twin)
            }
        }
        guard !chosen.isEmpty else { return }
        let keys = chosen.map { ($0.key.uid.string, $0.key.recurrenceID.string) }
        let (stored, counts) = try await store.read { transaction in
            let stored = try transaction.importedVersions(keys, of: owner.known, in: owner.circle)
            // Only what others may have brought is matched with all of its components or not at all.
            let shared = Set(stored.keys.filter { $0.source == .shared && $0.recurrenceID.string.isEmpty }.map(\.uid))
            let counts = try transaction.componentCounts(shared.map(\.string), of: .shared, in: owner.circle)
            return (stored, Dictionary(counts.map { ($0.uid, $0.count) }) { $1 })
        }
        for twin in chosen {
            guard let record = stored[twin.key] else { continue }
            let components = record.source == .shared ? counts[twin.key.uid] ?? 1 : 1
            candidates[twin.fingerprint, default: []].append(
                try Candidate(record, components: components, floatingIn: zone))
            fingerprints[twin.key] = twin.fingerprint
        }
    }

    private mutating func search(
        _ fingerprint: ByteString, _ demand: Demand, _ free: [ReadTransaction.DuplicateEvent], _ owner: ImportOwner,
        _ store: any Store
    ) async throws -> [ReadTransaction.DuplicateEvent] {
        let length = 200
        cut.insert(fingerprint)
        // A followed calendar's own events are found, however many others there are.
        func isOwn(_ twin: ReadTransaction.DuplicateEvent) -> Bool {
            !owner.isSubscription || twin.key.source.isSubscription
        }
        var twins = free
        var (own, others) = (twins.count(where: isOwn), twins.count { !isOwn($0) })
        while own < demand.count {
            let position = last[fingerprint] ?? ""
            let page = try await store.read {
                try $0.twins(fingerprint.string, behind: position, of: owner.known, in: owner.circle, limit: length)
            }
            for twin in page {
                // The page ends at a UID, so that no component is skipped.
                if own >= demand.count,
                    last[fingerprint].map({ !twin.key.uid.string.isSameText(as: $0) }) ?? true
                {
                    break
                }
                last[fingerprint] = twin.key.uid.string
                guard isFree(twin, owner), demand.suits(twin), isOwn(twin) || others < demand.count else { continue }
                twins.append(twin)
                if isOwn(twin) { own += 1 } else { others += 1 }
            }
            if page.count < length { break }
        }
        return twins
    }

    private func isFree(_ twin: ReadTransaction.DuplicateEvent, _ owner: ImportOwner) -> Bool {
        // The file may also contain the event under that UID.
        !owner.index.contains(twin.key.uid.string) && !matched.contains(twin.key)
    }

    /// Returns those that have the fingerprint and the audience of an event and that no other event has taken.
    func candidates(for record: ImportedEventRecord) -> [Candidate] {
        (candidates[ByteString(record.fingerprint)] ?? []).filter {
            $0.record.isSeen(like: record) && ($0.record.source == .tasks) == (record.source == .tasks)
        }
    }

    func hasAny(like record: ImportedEventRecord) -> Bool { candidates[ByteString(record.fingerprint)] != nil }

    /// Whether all events with the fingerprint of an event were read.
    func hasAll(like record: ImportedEventRecord) -> Bool { !cut.contains(ByteString(record.fingerprint)) }

    /// Matches a stored event, so that no other event of the file is taken for it.
    mutating func take(_ key: ImportedEventRecord.Key) {
        matched.insert(key)
        guard let fingerprint = fingerprints[key] else { return }
        candidates[fingerprint]?.removeAll { $0.record.key == key }
    }

    /// The stored series that the file has under this UID; nil unless it was matched and has exceptions.
    func series(_ uid: String) -> StoredSeries? { series[ByteString(uid)] }

    mutating func setSeries(_ twin: ImportedEventRecord, of uid: String) {
        series[ByteString(uid)] = StoredSeries(
            uid: twin.uid, source: twin.source, shownUID: twin.shownUID, importedBy: twin.importedBy)
    }

    func isUnmatched(_ uid: String) -> Bool { unmatched.contains(ByteString(uid)) }

    mutating func setUnmatched(_ uid: String) { unmatched.insert(ByteString(uid)) }
}

/// What is compared in two events besides their fingerprints.
struct ImportLikeness: Sendable {
    /// A digest of the event without its UID, the time at which it was created, reminders, people and files.
    let content: String
    /// Whether it takes place, the dates that are added to its rules or left out, and what decides when its other
    /// occurrences are.
    let dates: String

    /// - Parameters:
    ///   - last: the end of the last occurrence, in milliseconds since 1970; nil if the series has no end or an unknown one.
    ///   - zone: the zone of times that name none.
    init(_ event: Event, through last: Int?, floatingIn zone: any TimeZoneRules) {
        var nameless = event.importable(keeping: [])
        nameless.uid = ""
        // An export with new UIDs also says that its events were just created.
        nameless.created = nil
        content = ContentHash(of: SHA256.hash(data: Array(StoredEvent.text(nameless).utf8))).text
        func name(_ time: EventTime) -> String {
            if case .date(let date) = time { date.basic } else { time.instant(floatingIn: zone).basic }
        }
        func end(_ addition: Recurrence.Addition) -> String {
            switch addition.end {
            case nil: ""
            case .time(let time): name(time)
            case .duration(let duration): name(addition.start.adding(duration))
            }
        }
        func list(_ words: [String]) -> String {
            Set(words.map { ByteString($0) }).sorted().map(\.string).joined(separator: ",")
        }
        dates = [
            event.isCancelled ? "cancelled" : "", list(event.recurrence.exclusions.map(name)),
            list(event.recurrence.additions.map { "\(name($0.start))/\(end($0))" }),
            list(event.recurrence.exclusionRules.map(\.description)), event.appliesToFuture ? "future" : "",
            Self.clock(event, through: last, floatingIn: zone),
        ].joined(separator: ";")
    }

    /// The changes of the clock that a series follows, as long as it lasts: two zones that agree on the first occurrence
    /// can differ on others. Empty for all else.
    ///
    /// In the first year, the clock is read each week (Morocco changes it for the month of Ramadan), and a change is found
    /// to the quarter of an hour. Then it is read four times a year, for twenty years.
    private static func clock(_ event: Event, through end: Int?, floatingIn zone: any TimeZoneRules) -> String {
        guard !event.recurrence.rules.isEmpty, let start = event.start else { return "" }
        let rules: any TimeZoneRules
        switch start {
        case .date, .utc: return ""
        case .floating: rules = zone
        case .zoned(_, let reference): rules = reference.rules
        }
        func offset(_ time: Int) -> Int { rules.offset(at: Instant(seconds: time)) }
        let first = start.instant(floatingIn: zone).seconds
        let last = end.map { $0 / 1000 } ?? .max
        let week = 604_800
        var (time, known) = (first, offset(first))
        var changes = known == 0 ? [] : ["0:\(known)"]
        for step in 0..<132 where time < last {
            let next = min(time + (step < 52 ? week : 13 * week), last)
            let found = offset(next)
            if found != known {
                var (before, after) = (time, next)
                while step < 52, after - before > 900 {
                    let middle = before + (after - before) / 2
                    if offset(middle) == known { before = middle } else { after = middle }
                }
                changes.append("\(after - first):\(found)")
            }
            (time, known) = (next, found)
        }
        // A clock that is never changed from UTC is the same as that of a time in UTC.
        return changes.joined(separator: ",")
    }
}

extension ImportedEventRecord {
    /// Whether the same people see both.
    fileprivate func isSeen(like other: ImportedEventRecord) -> Bool {
        visibleTo.map { ByteString($0) } == other.visibleTo.map { ByteString($0) }
    }
}
