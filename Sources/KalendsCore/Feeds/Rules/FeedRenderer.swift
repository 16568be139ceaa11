// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import ICalBridge
import Storage
import Synchronization

/// Makes feeds' bytes from cached pieces, for as many circles and looks as memory allows.
package final class FeedRenderer: Sendable {
    /// Must be raised whenever the same state would give different bytes than before, in a feed or to a calendar app:
    /// readers learn of the change, and tokens of before end.
    package static let version = 6

    /// How often readers are asked to read a feed again.
    private static let refreshInterval = ICalDuration(seconds: 3600)

    /// A feed's bytes, and a hash that identifies them.
    struct Rendered: Sendable {
        let text: FeedText
        let hash: ContentHash

        /// The size in bytes.
        var size: Int { text.count }
        /// Whether the whole circle was read, and how long rendering took; both nil for a feed rendered from values.
        var isWhole: Bool?
        var duration: Duration?
    }

    /// The bytes of all schedules that are kept.
    var size: Int { cache.withLock(\.size) }

    private struct Key: Hashable {
        var circleID: String
        var look: FeedRenderKey
    }

    /// Holds one schedule, which is locked while it is updated and joined, and never while the store is queried.
    private final class CacheEntry: Sendable {
        let schedule = Mutex<RenderedSchedule?>(nil)
    }

    private struct Cache {
        var all: [Key: (cacheEntry: CacheEntry, size: Int, lastUse: UInt64)] = [:]
        var size = 0
        var uses: UInt64 = 0
    }

    private let limit: Int
    private let cache = Mutex(Cache())

    private let turns = KeyedLock<Key>()

    /// - Parameter limit: the most bytes of pieces to keep.
    package init(limit: Int = 64 << 20) { self.limit = limit }

    /// Does work exclusively for one circle and look, so that simultaneous requests read the circle only once.
    func inTurn<Value>(_ live: LiveFeedParts, _ work: () async throws -> Value) async rethrows -> Value {
        try await turns.alone(Key(circleID: live.circle.id, look: live.look), work)
    }

    /// The parts from which a feed in a form other than iCalendar is made.
    enum Source: Sendable {
        /// The feed as iCalendar.
        case text(Rendered)
        /// The events that the feed shows, without notices about its address.
        case events([Event])
    }

    /// Other forms take long to make and are requested rarely, so feeds as iCalendar do not wait for their thread.
    private static let threads = TurnThreads(width: 1, comesLast: true)

    /// Returns a feed's bytes in a form other than iCalendar, and a hash that identifies them.
    ///
    /// - Parameter room: the room held for the bytes as long as they exist.
    static func rendered(
        _ source: consuming Source, of live: LiveFeedParts, window: FeedWindow, as form: CalendarForm,
        room: MemoryShare?
    ) async throws -> Rendered {
        try await threads.run(for: ByteString(live.feed.userID)) { [source] in
            var (text, hash) = (FeedText.Maker(), SHA256())
            func add(_ part: [UInt8]) throws {
                hash.update(data: part)
                try text.add(part)
            }
            switch source {
            case .text(let feed) where form == .jCal: try ICalendar.jCal(fromStrictText: feed.text.parts, to: add)
            case .text(let feed): try ICalendar.xCal(fromStrictText: feed.text.parts, to: add)
            case .events(let events):
                try add(
                    calendar(live, events: FeedFilter(live, window: window).notices + events)
                        .bytes(as: form, coverage: window.from...window.to))
            }
            return Rendered(text: try text.finish(room: room), hash: ContentHash(of: hash.finalize()))
        }
    }

    /// Returns a feed's bytes as iCalendar, and a hash that identifies them.
    ///
    /// - Parameter room: the room held for the bytes as long as they exist.
    func render(
        _ live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction, room: MemoryShare? = nil
    ) throws -> Rendered {
        let start = ContinuousClock.now
        var (text, isWhole) = try withSchedule(
            live, window: window, in: transaction, Self.joined(window.from...window.to))
        try Self.eachOwnPiece(live, window: window, in: transaction) { text.add($0) }
        return Self.finish(text, of: live, isWhole: isWhole, since: start, room: room)
    }

    /// Returns the same as `render`, with few of the entries in memory at a time; nothing is kept of them.
    ///
    /// - Parameter room: the room held for the bytes as long as they exist, which are in a spool.
    func renderSpooled(
        _ live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction, room: MemoryShare?
    ) throws -> Rendered {
        let start = ContinuousClock.now
        var (text, spooling) = (JoinedText(coverage: window.from...window.to), try FeedText.Spooling())
        for notice in FeedFilter(live, window: window).notices {
            try text.add(CalendarPiece([notice], hash: RenderedSchedule.digest), to: &spooling)
        }
        try FeedContents.each(of: live, window: window, in: transaction) { entry in
            guard entry.exclusion == nil else { return }
            try text.add(CalendarPiece(entry.events, hash: RenderedSchedule.digest), to: &spooling)
        }
        var rendered = try text.finish(Self.calendar(live, events: []), &spooling, room: room)
        (rendered.isWhole, rendered.duration) = (true, ContinuousClock.now - start)
        return rendered
    }

    /// Returns the bytes of a feed without entries of its owner, like `render`, if nobody has to be waited for: the
    /// circle's text is kept and follows its changes, or nobody else reads the circle.
    ///
    /// - Parameters:
    ///   - room: the room held for the bytes until a reader counts them.
    ///   - mayReadAll: whether the whole circle may be read.
    func renderNow(
        _ live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction, room: MemoryShare,
        mayReadAll: Bool
    ) throws -> Rendered? {
        let (start, coverage) = (ContinuousClock.now, window.from...window.to)
        if let text = try withKeptSchedule(live, window: window, in: transaction, Self.joined(coverage)) {
            return Self.finish(text, of: live, isWhole: false, since: start, room: room)
        }
        guard mayReadAll else { return nil }
        return try turns.aloneNow(Key(circleID: live.circle.id, look: live.look)) {
            try render(live, window: window, in: transaction, room: room)
        }
    }

    /// Returns what joins a schedule's pieces.
    private static func joined(
        _ coverage: ClosedRange<Instant>
    ) -> (inout RenderedSchedule, FeedFilter) -> JoinedText {
        { schedule, filter in
            var text = JoinedText(coverage: coverage)
            // Notices come first, where even a reader with a size limit finds them.
            for notice in filter.notices { text.add(CalendarPiece([notice], hash: RenderedSchedule.digest)) }
            schedule.eachPiece(filter) { text.add($0) }
            return text
        }
    }

    private static func finish(
        _ text: consuming JoinedText, of live: LiveFeedParts, isWhole: Bool, since start: ContinuousClock.Instant,
        room: MemoryShare? = nil
    ) -> Rendered {
        var rendered = text.finish(calendar(live, events: []), room: room)
        (rendered.isWhole, rendered.duration) = (isWhole, ContinuousClock.now - start)
        return rendered
    }

    /// Returns the length of a feed as iCalendar in bytes, without making it.
    func size(
        of live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction
    ) throws -> Int {
        let coverage = window.from...window.to
        let owner = live.configuration.showsOwn ? live.feed.userID : nil
        if try CircleRoom.isSpooled(live.circle.id, andOwnOf: owner, in: transaction) {
            var (head, count) = (CalendarHead(coverage: coverage), JoinedCalendar.tail.count)
            func add(_ events: [Event]) {
                let piece = CalendarPiece(events)
                head.cover(piece)
                count += piece.bytes.count
            }
            for notice in FeedFilter(live, window: window).notices { add([notice]) }
            try FeedContents.each(of: live, window: window, in: transaction) { entry in
                if entry.exclusion == nil { add(entry.events) }
            }
            return head.bytes(of: Self.calendar(live, events: [])).count + count
        }
        var (found, _) = try withSchedule(live, window: window, in: transaction) { schedule, filter in
            var head = CalendarHead(coverage: coverage)
            var count = JoinedCalendar.tail.count
            func add(_ piece: CalendarPiece) {
                head.cover(piece)
                count += piece.bytes.count
            }
            for notice in filter.notices { add(CalendarPiece([notice], hash: RenderedSchedule.digest)) }
            schedule.eachPiece(filter, add)
            return (head, count)
        }
        try Self.eachOwnPiece(live, window: window, in: transaction) { piece in
            found.0.cover(piece)
            found.1 += piece.bytes.count
        }
        return found.0.bytes(of: Self.calendar(live, events: [])).count + found.1
    }

    /// Calls the body with the pieces of the owner's own entries, which come after those of the circle.
    private static func eachOwnPiece(
        _ live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction,
        _ body: (CalendarPiece) -> Void
    ) throws {
        guard live.configuration.showsOwn else { return }
        try OwnEntries.each(of: live, window: window, in: transaction) { entry in
            if entry.exclusion == nil { body(CalendarPiece(entry.events, hash: RenderedSchedule.digest)) }
        }
    }

    /// Calls the body with the circle's schedule in the state of the transaction, rebuilt if necessary.
    private func withSchedule<Result: Sendable>(
        _ live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction,
        _ body: (inout RenderedSchedule, FeedFilter) -> Result
    ) throws -> (Result, isWhole: Bool) {
        if let result = try withKeptSchedule(live, window: window, in: transaction, body) { return (result, false) }
        let key = Key(circleID: live.circle.id, look: live.look)
        // A text that is no longer used is not kept in memory together with its replacement.
        knownCacheEntry(key)?.schedule.withLock { schedule in
            if let known = schedule, known.state.version < live.circle.version { schedule = nil }
        }
        var new = try RenderedSchedule(of: live, window: window, in: transaction)
        let result = body(&new, FeedFilter(live, window: window))
        let size = cacheEntry(key).schedule.withLock { schedule in
            // A schedule older than the cached one is used for this answer but not cached.
            if let known = schedule, known.isLater(than: new) { return known.size }
            schedule = new
            return new.size
        }
        keep(key, size: size)
        return (result, true)
    }

    /// Like `withSchedule`; returns nil if no schedule is kept, or too much has changed since.
    private func withKeptSchedule<Result: Sendable>(
        _ live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction,
        _ body: (inout RenderedSchedule, FeedFilter) -> Result
    ) throws -> Result? {
        let key = Key(circleID: live.circle.id, look: live.look)
        guard let cacheEntry = knownCacheEntry(key), let state = cacheEntry.schedule.withLock({ $0?.state }),
            let change = try RenderedSchedule.change(since: state, of: live, window: window, in: transaction)
        else { return nil }
        let found = cacheEntry.schedule.withLock { schedule -> (Result, size: Int)? in
            guard schedule?.apply(change) == true else { return nil }
            return schedule.mutate { (body(&$0, FeedFilter(live, window: window)), $0.size) }
        }
        guard let found else { return nil }
        keep(key, size: found.size)
        return found.0
    }

    /// Returns a calendar with the feed's properties and events.
    static func calendar(_ live: LiveFeedParts, events: [Event]) -> ICalendar {
        // It has only the circle's name: a reader's label may not be meant for the people who see the calendar.
        let isReduced = live.configuration.level >= .minimal
        var calendar = ICalendar(name: isReduced ? "\(live.titlePrefix) Calendar" : live.circle.name, events: events)
        calendar.method = "PUBLISH"
        calendar.refreshInterval = refreshInterval
        calendar.color = live.configuration.color
        if !isReduced { calendar.description = "The schedule of \(live.circle.name), kept by Kalends." }
        return calendar
    }

    /// Drops everything cached for a deleted circle.
    func forget(circle id: String) {
        cache.withLock { cache in
            for key in cache.all.keys where key.circleID == id {
                cache.size -= cache.all.removeValue(forKey: key)?.size ?? 0
            }
        }
    }

    private func knownCacheEntry(_ key: Key) -> CacheEntry? { cache.withLock { $0.all[key]?.cacheEntry } }

    private func cacheEntry(_ key: Key) -> CacheEntry {
        cache.withLock { cache in
            if let known = cache.all[key] { return known.cacheEntry }
            let new = CacheEntry()
            cache.uses += 1
            cache.all[key] = (new, 0, cache.uses)
            return new
        }
    }

    /// Records the size of a schedule, and drops the least recently used ones when the total is too large.
    ///
    /// A schedule larger than the whole limit is dropped itself.
    private func keep(_ key: Key, size: Int) {
        // A schedule may have a hundred thousand parts, so it is released outside the lock.
        let dropped = cache.withLock { cache -> [CacheEntry] in
            guard let known = cache.all[key] else { return [] }
            guard size <= limit else {
                cache.size -= known.size
                cache.all[key] = nil
                return [known.cacheEntry]
            }
            var dropped: [CacheEntry] = []
            cache.uses += 1
            cache.size += size - known.size
            cache.all[key] = (known.cacheEntry, size, cache.uses)
            while cache.size > limit,
                let oldest = cache.all.filter({ $0.key != key }).min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                cache.size -= oldest.value.size
                cache.all[oldest.key] = nil
                dropped.append(oldest.value.cacheEntry)
            }
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }
}

extension Optional {
    /// Changes the value in place, without a copy; returns nil if there is none.
    fileprivate mutating func mutate<Result>(_ body: (inout Wrapped) -> Result) -> Result? {
        guard var value = take() else { return nil }
        defer { self = value }
        return body(&value)
    }
}
