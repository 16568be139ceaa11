// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

/// The events of a circle on some days, as one of its members may see them, with series expanded, in order of time.
package struct CircleDays: Sendable {
    /// One event on the requested days.
    package struct Entry: Sendable {
        package let id: String
        /// The item's own fields; nil for an imported event.
        package let content: (any ItemContent)?
        package let occurrence: Occurrence
    }

    package let entries: [Entry]
    package let names: CircleNames
    /// False when there are more entries than are returned, or when a rule takes too much work to follow.
    package let isComplete: Bool

    /// The maximum number of entries in one response.
    static let most = 5_000

    /// - Parameters:
    ///   - to: the day after the last.
    ///   - zone: the zone in which days begin and end.
    package init(
        of circle: AuthorizedCircle, from: CivilDate, to: CivilDate, in zone: TimeZoneReference,
        _ settings: ServerSettings
    ) throws {
        guard let room = circle.room else { throw CircleRoom.Needed() }
        try room.take(circle.id, andOwnOf: nil, in: circle.transaction)
        let (start, end) = (
            zone.rules.instant(of: CivilDateTime(startOf: from)), zone.rules.instant(of: CivilDateTime(startOf: to))
        )
        names = try circle.names
        var work = try Work(
            circle.circle, names, from: start, to: end, in: zone, reader: circle.user, settings)
        try work.addAll(in: circle.transaction)
        entries = work.entries.sorted { $0.occurrence.order(in: zone) < $1.occurrence.order(in: zone) }
        isComplete = work.isComplete
    }

    /// Returns the occurrences of a feed's entries on some days, in order of time, and whether these are all.
    package static func occurrences(
        of preview: FeedPreview, from: CivilDate, to: CivilDate, in zone: TimeZoneReference
    ) -> (found: [(entry: FeedContents.Entry, occurrence: Occurrence)], isComplete: Bool) {
        let (start, end) = (
            zone.rules.instant(of: CivilDateTime(startOf: from)), zone.rules.instant(of: CivilDateTime(startOf: to))
        )
        var budget = RecurrenceBudget(steps: SeriesWork.ofFeed)
        var found: [(entry: FeedContents.Entry, occurrence: Occurrence)] = []
        var isComplete = !preview.isCut
        for entry in preview.entries where entry.exclusion == nil {
            guard found.count < most else {
                isComplete = false
                break
            }
            let (occurrences, isWhole) = entry.events.occurrences(
                from: start, to: end, in: zone, most: most - found.count, &budget)
            found += occurrences.map { (entry, $0) }
            isComplete = isComplete && isWhole
        }
        return (found.sorted { $0.occurrence.order(in: zone) < $1.occurrence.order(in: zone) }, isComplete)
    }

    /// Visits the rows that may touch the days; only their occurrences are kept in memory.
    private struct Work {
        private let circle: Circle
        private let (start, end): (Instant, Instant)
        private let zone: TimeZoneReference
        private let builder: EntryBuilder
        private let filter: FeedFilter
        private var budget = RecurrenceBudget(steps: SeriesWork.ofFeed)
        private(set) var entries: [Entry] = []
        private(set) var isComplete = true

        init(
            _ circle: Circle, _ names: CircleNames, from: Instant, to: Instant, in zone: TimeZoneReference,
            reader: String?, _ settings: ServerSettings
        ) throws {
            (self.circle, start, end, self.zone) = (circle, from, to, zone)
            // The configuration shows everything that a feed could show to this reader, without a window.
            var configuration = FeedConfiguration()
            configuration.completedTasks = .keep
            let own = try circle.zone
            let look = FeedRenderKey(
                style: CareStyle(titlePrefix: settings.titlePrefix, detail: .full), zone: own, sequenceOffset: 0,
                shownChangedAt: 0, linkTemplate: nil)
            builder = EntryBuilder(look: look, names: names, kinds: settings.kinds, writesText: false)
            filter = FeedFilter(
                configuration, userID: reader ?? "",
                window: FeedWindow(configuration, today: CivilDate(daysSinceEpoch: 0), zone: own), zone: own)
        }

        mutating func addAll(in transaction: any ReadTransaction) throws {
            let (first, last) = (start.milliseconds - EntrySpan.slack, end.milliseconds + EntrySpan.slack)
            let changed: [ByteString: [ChangedOccurrence]] = Dictionary(
                grouping: try transaction.occurrences(of: nil, in: circle.id), by: \.itemID)
            try transaction.eachItem(in: circle.id, from: first, to: last) { row in
                guard hasRoom else {
                    isComplete = false
                    return
                }
                let content = try builder.kinds.content(of: row)
                let occurrences = row.hasOccurrences ? changed[row.id] ?? [] : []
                let events = try builder.events(of: row, content, occurrences: occurrences, isOwn: false)
                add(events) { Entry(id: row.id, content: content, occurrence: $0) }
            }
            try ImportedSeries.eachInOrder(in: circle, from: first, to: last, transaction) { series in
                guard hasRoom else {
                    isComplete = false
                    return false
                }
                // This comes first: what is private to somebody else must not appear.
                if filter.exclusion(of: EntryTraits(series)) == nil {
                    add(builder.events(of: series)) {
                        Entry(id: series.shownUID, content: nil, occurrence: $0)
                    }
                }
                return true
            }
        }

        private var hasRoom: Bool { entries.count < CircleDays.most }

        private mutating func add(_ events: [Event], _ make: (Occurrence) -> Entry) {
            let (occurrences, isWhole) = events.occurrences(
                from: start, to: end, in: zone, most: CircleDays.most - entries.count, &budget)
            isComplete = isComplete && isWhole
            entries += occurrences.map(make)
        }
    }
}

extension [Event] {
    /// Returns the occurrences of an entry's components in a span; a to-do counts at its due time.
    func occurrences(
        from: Instant, to: Instant, in zone: TimeZoneReference, most: Int, _ budget: inout RecurrenceBudget
    ) -> ([Occurrence], isWhole: Bool) {
        var (found, isWhole): ([Occurrence], Bool) = ([], true)
        for event in self where event.start == nil {
            guard let due = event.effectiveEnd else { continue }
            let instant = due.instant(floatingIn: zone.rules)
            if instant >= from, instant < to { found.append(Occurrence(event: event, start: due, end: due)) }
        }
        for series in Series.group(filter { $0.start != nil }) {
            let expansion = series.occurrences(
                from: from, to: to, floatingIn: zone.rules, maximum: Swift.max(0, most - found.count), budget: &budget)
            found += expansion.occurrences
            isWhole = isWhole && expansion.isComplete
        }
        return (found, isWhole)
    }
}

extension Occurrence {
    /// Returns a sort key by the start in a zone; whole days come before the other events of the day.
    func order(in zone: TimeZoneReference) -> (Int, Int) {
        (start.instant(floatingIn: zone.rules).seconds, start.isDate ? 0 : 1)
    }
}
