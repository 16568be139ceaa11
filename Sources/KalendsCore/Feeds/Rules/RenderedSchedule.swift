// SPDX-License-Identifier: Apache-2.0

import Crypto
import ICalBridge
import Storage

/// A circle's events as text in one look, updated change by change.
///
/// Feeds with that look are joined from it: what a feed leaves out is decided then, without reading items.
struct RenderedSchedule {
    /// The place of an entry in the order of a feed, which depends only on what is stored.
    struct SortKey: Comparable {
        /// Items come before imported events.
        var isImported: Bool
        var startsAt: Int
        var collection: String
        var id: String
        /// The number among imported events with the same UID.
        var ordinal = 0

        static func < (one: SortKey, other: SortKey) -> Bool {
            if one.isImported != other.isImported { return other.isImported }
            if one.startsAt != other.startsAt { return one.startsAt < other.startsAt }
            if one.id.isSameText(as: other.id), one.collection == other.collection {
                return one.ordinal < other.ordinal
            }
            return (one.collection, ByteString(one.id)) < (other.collection, ByteString(other.id))
        }
    }

    /// The circle and the state of it that a schedule shows.
    struct State: Sendable {
        /// A circle that was deleted and created again is a different one, whatever its version.
        fileprivate var createdAt: Int
        fileprivate(set) var version: Int
        /// The epoch of the imported events in the schedule.
        fileprivate var epoch: Int
        /// The year around which dates of EXRULEs are listed.
        fileprivate var year: Int
        /// The span of the items in the schedule, in milliseconds since 1970.
        fileprivate var from: Int
        fileprivate var to: Int

        fileprivate func isNear(_ startsAt: Int, _ endsAt: Int?) -> Bool { (endsAt ?? .max) >= from && startsAt < to }
    }

    /// The difference between one state of a circle and a later one; it is read and rendered before a schedule is
    /// touched.
    struct Change: Sendable {
        fileprivate let base: State
        fileprivate var version: Int
        fileprivate var epoch: Int
        fileprivate var items: [EntryID] = []
        fileprivate var uids: [String] = []
        fileprivate var parts: [Part] = []
    }

    /// It is a class because thousands of parts are examined and moved for one change.
    fileprivate final class Part: Sendable {
        let sortKey: SortKey
        let traits: EntryTraits
        let extent: Extent
        let span: EntrySpan
        let text: CalendarPiece
        /// For a shift, its owner and its text in the owner's feeds, where it counts as busy time.
        let own: (userID: String, text: CalendarPiece)?

        init(
            sortKey: SortKey, traits: EntryTraits, events: [Event], span: EntrySpan, zone: TimeZoneReference,
            own: (userID: String, text: CalendarPiece)? = nil
        ) {
            self.sortKey = sortKey
            self.traits = traits
            extent = Extent(of: events, zone: zone)
            self.span = span
            text = CalendarPiece(events, hash: RenderedSchedule.digest)
            self.own = own
        }

        var id: EntryID {
            EntryID(collection: traits.collection, id: ByteString(sortKey.id), ordinal: sortKey.ordinal)
        }
        var size: Int { 200 + text.bytes.count + (own?.text.bytes.count ?? 0) }
    }

    fileprivate struct EntryID: Hashable {
        /// The kind of item; nil for an imported event.
        var collection: ScheduleItem.Collection?
        var id: ByteString
        var ordinal = 0
    }

    /// The maximum number of changes that are applied individually; for more, reading everything is cheaper.
    private static let manyChanges = 500
    /// How many rows, and bytes of contents, are made into text together at most.
    private static let (together, bytesTogether) = (256, 1 << 20)
    /// How far outside the window items are also kept, in milliseconds, so that the window can move on.
    private static let margin = 9 * 86_400_000

    let circleID: String
    let look: FeedRenderKey
    private(set) var state: State
    private var parts: [Part] = []
    private var sortKeys: [EntryID: SortKey] = [:]
    /// The last answer for each series, with what it depends on besides the look, and its cost.
    private var answers: [EntryID: (filter: SeriesFilter, exclusion: Exclusion?, cost: Int)] = [:]
    /// The approximate size in memory, in bytes.
    private(set) var size = 0

    /// Reads all items that a window can show.
    init(of live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction) throws {
        circleID = live.circle.id
        look = live.look
        state = State(
            createdAt: live.circle.createdAt, version: live.circle.version, epoch: live.circle.eventsEpoch,
            year: window.today.year, from: window.from.milliseconds - Self.margin,
            to: window.to.milliseconds + Self.margin)
        try transaction.expect { next in
            _ = try CircleNames(circleID, in: next)
            _ = try next.occurrences(of: nil, in: circleID)
            try next.eachItem(in: circleID, from: state.from, to: state.to) { _ in }
            try next.eachImportedUID(in: live.circle, from: state.from, to: state.to) { _ in }
        }
        let builder = EntryBuilder(
            look: look, names: try CircleNames(circleID, in: transaction), kinds: live.kinds, year: state.year)
        var changed: [ByteString: [ChangedOccurrence]] = Dictionary(
            grouping: try transaction.occurrences(of: nil, in: circleID), by: \.itemID)
        // Only the text of each row is kept: as values, a large circle would take several times as much memory. It is made
        // by other threads while this one reads the next rows.
        let making = ParallelWork<[Part]>()
        var rows: [(ScheduleItem, [ChangedOccurrence])] = []
        var bytes = 0
        func make() {
            making.add { [rows] in try rows.map { try Self.part($0.0, $0.1, builder) } }
            (rows, bytes) = ([], 0)
        }
        try transaction.eachItem(in: circleID, from: state.from, to: state.to) { item in
            let occurrences = item.hasOccurrences ? changed.removeValue(forKey: ByteString(item.id)) ?? [] : []
            rows.append((item, occurrences))
            bytes += item.content.utf8.count + occurrences.reduce(0) { $0 + $1.bytes }
            if rows.count == Self.together || bytes > Self.bytesTogether { make() }
        }
        // Small parts are made here: another thread would begin when it is done.
        let rest = try rows.map { try Self.part($0.0, $0.1, builder) }
        for part in try making.results().joined() { append(part) }
        for part in rest { append(part) }
        try ImportedSeries.each(in: live.circle, from: state.from, to: state.to, transaction) { series in
            append(Self.part(series, builder))
        }
        parts.sort { $0.sortKey < $1.sortKey }
    }

    /// Reads the change from a state to the circle's state in the transaction, with the same number of queries for a
    /// hundred changes as for one.
    ///
    /// - Returns: nil if there is no such change: the state belongs to another circle with this id, is a later one or
    ///   covers other days, or too much has changed.
    static func change(
        since state: State, of live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction
    ) throws -> Change? {
        let circle = live.circle
        guard circle.createdAt == state.createdAt, circle.version >= state.version,
            window.today.year == state.year, window.from.milliseconds - EntrySpan.slack >= state.from,
            window.to.milliseconds + EntrySpan.slack <= state.to
        else { return nil }
        var change = Change(base: state, version: circle.version, epoch: circle.eventsEpoch)
        if circle.version == state.version { return change }
        try transaction.expect { next in
            _ = try next.items(in: circle.id, changedAfter: state.version)
            _ = try CircleNames(circle.id, in: next)
        }
        let items = try transaction.items(in: circle.id, changedAfter: state.version)
        let builder = EntryBuilder(
            look: live.look, names: try CircleNames(circle.id, in: transaction), kinds: live.kinds, year: state.year)
        guard items.count <= manyChanges,
            let uids = try transaction.importedUIDs(
                in: circle, changedAfter: state.epoch, limit: manyChanges - items.count)
        else { return nil }
        change.items = items.map { EntryID(collection: $0.collection, id: ByteString($0.id)) }
        change.uids = uids
        let living = items.filter { $0.deletedAt == nil }
        let changed: [ByteString: [ChangedOccurrence]] = Dictionary(
            grouping: try transaction.occurrences(
                of: living.filter(\.hasOccurrences).map(\.id), in: circle.id), by: \.itemID)
        for item in living {
            let occurrences = item.hasOccurrences ? changed[item.id] ?? [] : []
            if state.isNear(item.startsAt, item.endsAt)
                || occurrences.contains(where: { state.isNear($0.startsAt, $0.endsAt) })
            {
                change.parts.append(try part(item, occurrences, builder))
            }
        }
        for all in try ImportedSeries.all(uids: uids, in: circle, transaction).values
        where all.contains(where: { $0.events.contains { state.isNear($0.record.startsAt, $0.record.endsAt) } }) {
            for series in all { change.parts.append(part(series, builder)) }
        }
        return change
    }

    /// Updates the schedule to a later state.
    ///
    /// - Returns: false if the change does not apply to this state; the schedule is then unchanged.
    mutating func apply(_ change: Change) -> Bool {
        let base = change.base
        // A schedule that another change has updated in the meantime can take this change too, which includes all of
        // the other.
        guard base.createdAt == state.createdAt, (base.version...change.version).contains(state.version),
            base.from == state.from, base.to == state.to, base.year == state.year
        else { return false }
        if state.version == change.version { return true }
        for id in change.items { remove(id) }
        for uid in change.uids {
            var ordinal = 0
            while remove(EntryID(collection: nil, id: ByteString(uid), ordinal: ordinal)) { ordinal += 1 }
        }
        for part in change.parts { insert(part) }
        (state.version, state.epoch) = (change.version, change.epoch)
        return true
    }

    /// Returns half of a SHA-256 hash: long enough that no two pieces in the life of a feed share one.
    static func digest(_ bytes: [UInt8]) -> SIMD2<UInt64> {
        unsafe SHA256.hash(data: bytes).withUnsafeBytes { unsafe $0.loadUnaligned(as: SIMD2<UInt64>.self) }
    }

    /// Calls the body with the pieces that a feed shows of the schedule, in order.
    ///
    /// Each piece is passed on once and not kept: in a circle with a hundred thousand items, examining each a second
    /// time would cost as much as all other work.
    mutating func eachPiece(_ filter: FeedFilter, _ body: (CalendarPiece) -> Void) {
        var budget = RecurrenceBudget(steps: SeriesWork.ofFeed)
        for part in parts
        where filter.exclusion(of: part.traits) == nil && exclusion(of: part, filter, &budget) == nil {
            if let own = part.own, own.userID == filter.userID {
                body(own.text)
            } else {
                body(part.text)
            }
        }
    }

    /// Returns the filter's answer; a cached answer takes as much of the budget as a new one.
    private mutating func exclusion(
        of part: Part, _ filter: FeedFilter, _ budget: inout RecurrenceBudget
    ) -> Exclusion? {
        guard case .series(let series) = part.extent, part.span.isNear(filter.window), budget.left > 0 else {
            return filter.exclusion(by: part.extent, part.span, &budget)
        }
        if let answer = answers[part.id], answer.filter == filter.ofSeries {
            budget.spend(answer.cost)
            return answer.exclusion
        }
        let (exclusion, cost) = filter.exclusion(of: series)
        answers[part.id] = (filter.ofSeries, exclusion, cost)
        budget.spend(cost)
        return exclusion
    }

    /// Whether this schedule shows a later state of the same circle.
    func isLater(than other: RenderedSchedule) -> Bool {
        state.createdAt == other.state.createdAt && state.version > other.state.version
    }

    private static func part(
        _ item: ScheduleItem, _ occurrences: [ChangedOccurrence], _ builder: EntryBuilder
    ) throws -> Part {
        let content = try builder.kinds.content(of: item)
        let events = try builder.events(of: item, content, occurrences: occurrences, isOwn: false)
        var own: (userID: String, text: CalendarPiece)?
        if type(of: content).isOwnersTime, let owner = content.ownerID {
            own = (
                owner,
                CalendarPiece(
                    try builder.events(of: item, content, occurrences: occurrences, isOwn: true), hash: digest)
            )
        }
        return Part(
            sortKey: SortKey(
                isImported: false, startsAt: item.startsAt, collection: item.collection.rawValue, id: item.id),
            traits: EntryTraits(item, content), events: events, span: EntrySpan(item, occurrences),
            zone: builder.look.zone,
            own: own)
    }

    private static func part(_ series: ImportedSeries, _ builder: EntryBuilder) -> Part {
        let events = builder.events(of: series)
        return Part(
            sortKey: SortKey(
                isImported: true, startsAt: series.startsAt, collection: "",
                id: series.uid, ordinal: series.ordinal),
            traits: EntryTraits(series), events: events, span: EntrySpan(series), zone: builder.look.zone)
    }

    private mutating func append(_ part: Part) {
        sortKeys[part.id] = part.sortKey
        size += part.size
        parts.append(part)
    }

    private mutating func insert(_ part: Part) {
        sortKeys[part.id] = part.sortKey
        size += part.size
        parts.insert(part, at: index(of: part.sortKey))
    }

    @discardableResult
    private mutating func remove(_ id: EntryID) -> Bool {
        guard let sortKey = sortKeys.removeValue(forKey: id) else { return false }
        let index = index(of: sortKey)
        size -= parts[index].size
        answers[id] = nil
        parts.remove(at: index)
        return true
    }

    /// Returns the index of the first part at or after a place.
    private func index(of sortKey: SortKey) -> Int {
        var (low, high) = (0, parts.count)
        while low < high {
            let middle = (low + high) / 2
            if parts[middle].sortKey < sortKey { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
