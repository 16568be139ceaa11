// SPDX-License-Identifier: Apache-2.0

import Crypto
import ICalBridge
import Storage

/// A circle's events as text in one look, kept up with the circle change by change.
///
/// Feeds of that look are joined from it: what a feed leaves out is decided then, and costs no reading of items.
struct RenderedSchedule {
    /// Where an entry stands in a feed: an order that follows from what is stored alone.
    struct Place: Comparable {
        /// Items come before imported events.
        var isImported: Bool
        var startsAt: Int
        var collection: String
        var id: String

        static func < (one: Place, other: Place) -> Bool {
            if one.isImported != other.isImported { return other.isImported }
            if one.startsAt != other.startsAt { return one.startsAt < other.startsAt }
            return (one.collection, one.id) < (other.collection, other.id)
        }
    }

    /// A class, because thousands of them are looked at and moved for one change.
    private final class Part: Sendable {
        let place: Place
        let traits: EntryTraits
        let extent: Extent
        let text: CalendarPiece
        /// For a shift: whose it is, and what it is to them, who are busy meanwhile.
        let own: (userID: String, text: CalendarPiece)?

        init(
            place: Place, traits: EntryTraits, events: [Event], zone: TimeZoneReference,
            own: (userID: String, text: CalendarPiece)? = nil
        ) {
            self.place = place
            self.traits = traits
            extent = Extent(of: events, zone: zone)
            text = CalendarPiece(events, hash: RenderedSchedule.digest)
            self.own = own
        }

        var id: EntryID { EntryID(collection: traits.collection, id: place.id) }
        var size: Int { 200 + text.bytes.count + (own?.text.bytes.count ?? 0) }
    }

    private struct EntryID: Hashable {
        /// Nil for imported.
        var collection: ScheduleItem.Collection?
        var id: String
    }

    /// What is read anew when so much changed at once that one look at everything is cheaper.
    private static let manyChanges = 500
    /// Items this much outside of a window are kept too, so that the window can move on.
    private static let margin = 9 * 86_400_000

    let circleID: String
    let look: FeedLook
    /// A circle that was deleted and made again is another, whatever its version.
    private var createdAt: Int
    private(set) var version: Int
    /// The milliseconds since 1970 whose items are here.
    private var from: Int
    private var to: Int
    private var parts: [Part] = []
    private var places: [EntryID: Place] = [:]
    /// What each series answered for the window it was last asked about.
    private var answers: [EntryID: (from: Instant, to: Instant, exclusion: Exclusion?)] = [:]
    /// Bytes in memory, about.
    private(set) var size = 0

    /// Reads all items that a window can show.
    init(of live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction) throws {
        circleID = live.circle.id
        look = live.look
        createdAt = live.circle.createdAt
        version = live.circle.version
        from = window.from.milliseconds - Self.margin
        to = window.to.milliseconds + Self.margin
        let builder = EntryBuilder(look: look, names: try CircleNames(circleID, in: transaction))
        let changed = Dictionary(grouping: try transaction.occurrences(of: nil, in: circleID), by: \.itemID)
        let items = try transaction.items(in: circleID, from: from, to: to)
        parts.reserveCapacity(items.count)
        for item in items {
            append(try part(item, item.collection == .appointments ? changed[item.id] ?? [] : [], builder))
        }
        let imported = try ImportedEvent.all(in: circleID, from: from, to: to, transaction)
        for group in ImportedEvent.bySeries(imported) { append(part(group, builder)) }
        parts.sort { $0.place < $1.place }
    }

    /// Brings the schedule to the circle's state in the transaction.
    ///
    /// - Returns: false when it cannot: it is of another circle of this id, of a later state, or of other days.
    mutating func update(
        to live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction
    ) throws -> Bool {
        guard live.circle.createdAt == createdAt, live.circle.version >= version, window.from.milliseconds >= from,
            window.to.milliseconds <= to
        else { return false }
        if live.circle.version == version { return true }
        let items = try transaction.items(in: circleID, changedAfter: version)
        let uids = try transaction.importedUIDs(in: circleID, changedAfter: version)
        guard items.count + uids.count <= Self.manyChanges else { return false }
        let builder = EntryBuilder(look: look, names: try CircleNames(circleID, in: transaction))
        for item in items {
            remove(EntryID(collection: item.collection, id: item.id))
            guard item.deletedAt == nil else { continue }
            let occurrences =
                item.collection == .appointments ? try transaction.occurrences(of: item.id, in: circleID) : []
            if isNear(item.startsAt, item.endsAt) || occurrences.contains(where: { isNear($0.startsAt, $0.endsAt) }) {
                insert(try part(item, occurrences, builder))
            }
        }
        for uid in uids {
            remove(EntryID(collection: nil, id: uid))
            let records = try transaction.importedEvents(uid: uid, in: circleID)
            guard records.contains(where: { isNear($0.startsAt, $0.endsAt) }) else { continue }
            for group in ImportedEvent.bySeries(try records.map(ImportedEvent.init)) {
                insert(part(group, builder))
            }
        }
        version = live.circle.version
        return true
    }

    /// Half of SHA-256: enough that no two pieces of a feed's life share one.
    static func digest(_ bytes: [UInt8]) -> SIMD2<UInt64> {
        unsafe SHA256.hash(data: bytes).withUnsafeBytes { unsafe $0.loadUnaligned(as: SIMD2<UInt64>.self) }
    }

    /// Goes over what a feed shows of the schedule, in order.
    ///
    /// Each piece is handed over once and kept by nobody here: in a circle of a hundred thousand, looking at each a
    /// second time costs as much as all the rest.
    mutating func eachPiece(_ filter: FeedFilter, _ body: (CalendarPiece) -> Void) {
        for part in parts where filter.exclusion(of: part.traits) == nil && exclusion(of: part, filter) == nil {
            if let own = part.own, own.userID == filter.userID {
                body(own.text)
            } else {
                body(part.text)
            }
        }
    }

    private mutating func exclusion(of part: Part, _ filter: FeedFilter) -> Exclusion? {
        guard case .series = part.extent else { return filter.exclusion(by: part.extent) }
        let window = filter.window
        if let answer = answers[part.id], answer.from == window.from, answer.to == window.to {
            return answer.exclusion
        }
        let exclusion = filter.exclusion(by: part.extent)
        answers[part.id] = (window.from, window.to, exclusion)
        return exclusion
    }

    /// Whether it shows a later state of the same circle.
    func isLater(than other: RenderedSchedule) -> Bool { createdAt == other.createdAt && version > other.version }

    private func isNear(_ startsAt: Int, _ endsAt: Int?) -> Bool { (endsAt ?? .max) >= from && startsAt < to }

    private func part(
        _ item: ScheduleItem, _ occurrences: [ChangedOccurrence], _ builder: EntryBuilder
    ) throws -> Part {
        let content = try ItemContent(item)
        let events = try builder.events(of: item, content, occurrences: occurrences, isOwn: false)
        var own: (userID: String, text: CalendarPiece)?
        if item.collection == .shifts, let owner = content.ownerID {
            own = (
                owner,
                CalendarPiece(
                    try builder.events(of: item, content, occurrences: occurrences, isOwn: true), hash: Self.digest)
            )
        }
        return Part(
            place: Place(
                isImported: false, startsAt: item.startsAt, collection: item.collection.rawValue, id: item.id),
            traits: EntryTraits(item, content), events: events, zone: look.zone, own: own)
    }

    private func part(_ group: [ImportedEvent], _ builder: EntryBuilder) -> Part {
        let events = builder.events(of: group)
        return Part(
            place: Place(
                isImported: true, startsAt: group.map(\.record.startsAt).min() ?? 0, collection: "",
                id: group.first?.uid ?? ""),
            traits: EntryTraits(group), events: events, zone: look.zone)
    }

    private mutating func append(_ part: Part) {
        places[part.id] = part.place
        size += part.size
        parts.append(part)
    }

    private mutating func insert(_ part: Part) {
        places[part.id] = part.place
        size += part.size
        parts.insert(part, at: index(of: part.place))
    }

    private mutating func remove(_ id: EntryID) {
        guard let place = places.removeValue(forKey: id) else { return }
        let index = index(of: place)
        size -= parts[index].size
        answers[id] = nil
        parts.remove(at: index)
    }

    /// Where the first part at or after a place is.
    private func index(of place: Place) -> Int {
        var (low, high) = (0, parts.count)
        while low < high {
            let middle = (low + high) / 2
            if parts[middle].place < place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
