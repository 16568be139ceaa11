// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import ICalBridge
import Storage
import Synchronization

/// The resources of the feeds that calendar apps asked for last, by the hash of the token.
final class KeptFeedMembers: Sendable {
    /// The maximum size in bytes of all of them: enough for one of the largest feeds, which an app requests page by page.
    static let limit = 96 << 20

    private let kept = Mutex(LeastRecentlyUsed<ByteString, FeedMembers>(limit: limit))

    /// The bytes of all of them.
    var size: Int { kept.withLock(\.cost) }

    func find(_ token: ByteString) -> FeedMembers? { kept.withLock { $0.find(token) } }

    func keep(_ members: FeedMembers, for token: ByteString) {
        kept.withLock { $0.keep(members, for: token, cost: members.size) }
    }
}

/// The resources of a feed in one version on one day, in the order of their names. Their texts are packed, because all of
/// them would take ten times as much memory.
struct FeedMembers: Sendable {
    /// What is known about a resource without its text, in as few bytes as possible.
    struct Entry: Sendable {
        fileprivate let key: ContentHash
        private let etag: ContentHash
        /// When it may have something, in seconds since 1970.
        let span: ClosedRange<Int>
        private let modified: Int
        private let length: UInt32
        fileprivate let block: UInt32
        private let start: UInt32
        let component: CalendarComponent

        fileprivate init(_ key: ContentHash, _ shown: ShownResource, block: Int, start: Int) {
            (self.key, etag, span, modified) = (key, shown.etag, shown.span, shown.modified)
            (length, component) = (UInt32(clamping: shown.text.count), shown.component)
            (self.block, self.start) = (UInt32(clamping: block), UInt32(clamping: start))
        }

        /// The length of the text in bytes.
        var size: Int { Int(length) }

        var member: CalendarMember {
            CalendarMember(
                name: FeedMembers.name(key), etag: etag.text, size: size, component: component, modified: modified)
        }

        fileprivate func text(in block: [UInt8]) -> [UInt8] { Array(block[Int(start)..<Int(start) + size]) }
    }

    let number: Int
    let entries: [Entry]
    /// The texts of neighbours, packed together.
    private let blocks: [[UInt8]]

    /// The bytes of texts that are packed together, unless one text is longer.
    private static let blockBytes = 64 << 10

    /// The approximate bytes in memory.
    var size: Int {
        blocks.reduce(entries.count * MemoryLayout<Entry>.stride) { $0 + $1.count + MemoryLayout<[UInt8]>.stride }
    }

    /// A number that rises whenever the feed shows something else: the time of its last change, or the beginning of the
    /// day on which its window is placed.
    static func number(_ live: LiveFeed, _ day: FeedDay) -> Int { max(live.changedAt, day.from) }

    fileprivate static func name(_ key: ContentHash) -> String { key.text + ".ics" }

    // MARK: Making

    /// Returns what a feed shows, in any order.
    static func read(
        _ parts: LiveFeedParts, _ day: FeedDay, in transaction: any ReadTransaction
    ) throws -> [(key: ContentHash, shown: ShownResource)] {
        let window = FeedWindow(parts.configuration, today: day.date, zone: parts.zone)
        var found: [ContentHash: ShownResource] = [:]
        func add(_ collection: String, _ id: String, _ events: [Event]) {
            guard let first = events.first else { return }
            let modified = events.compactMap { $0.lastModified ?? $0.timestamp }.max()?.milliseconds ?? 0
            found[ContentHash(of: SHA256.hash(data: Array("\(collection)\u{0}\(id)".utf8)))] = ShownResource(
                .item(.init(rawValue: collection), id: ByteString(id)), uid: first.uid, events, [],
                modified: modified, from: window.from.milliseconds, to: window.to.milliseconds)
        }
        for notice in FeedFilter(parts, window: window).notices { add("notices", notice.uid, [notice]) }
        try FeedContents.each(of: parts, window: window, in: transaction) { entry in
            if entry.exclusion == nil { add(entry.collection, entry.id, entry.events) }
        }
        return found.map { (key: $0.key, shown: $0.value) }
    }

    /// Packs what a feed shows, and lets others come first now and then.
    ///
    /// - Parameter number: the result of `number` in the same transaction.
    init(_ found: [(key: ContentHash, shown: ShownResource)], number: Int) async throws {
        let sorted = found.map { (name: ByteString(Self.name($0.key)), key: $0.key, shown: $0.shown) }
            .sorted { $0.name < $1.name }
        var (entries, blocks, open): ([Entry], [[UInt8]], [UInt8]) = ([], [], [])
        entries.reserveCapacity(sorted.count)
        for (_, key, shown) in sorted {
            entries.append(Entry(key, shown, block: blocks.count, start: open.count))
            open += shown.text
            guard open.count >= Self.blockBytes else { continue }
            blocks.append(try GzipStream().pack(open, isLast: true))
            open.removeAll(keepingCapacity: true)
            await Task.yield()
        }
        if !open.isEmpty { blocks.append(try GzipStream().pack(open, isLast: true)) }
        (self.number, self.entries, self.blocks) = (number, entries, blocks)
    }

    // MARK: Reading

    func after(_ name: String?) -> ArraySlice<Entry> { entries.after(name) { ByteString(Self.name($0.key)) } }

    subscript(name: String) -> Entry? { entries.first(named: name) { ByteString(Self.name($0.key)) } }

    /// Returns some entries with their texts, each in its place; nil for those that are nil.
    func resources(_ some: [Entry?]) throws -> [CalendarResource?] {
        var unpacked: [UInt32: [UInt8]] = [:]
        return try some.map { entry in
            guard let entry else { return nil }
            // Nothing was made from a resource without a text.
            guard entry.size > 0 else { return CalendarResource(member: entry.member, text: .failure(.failed)) }
            let block = try unpacked[entry.block] ?? Gunzip.unpack(blocks[Int(entry.block)], limit: .max)
            unpacked[entry.block] = block
            return CalendarResource(member: entry.member, text: .success(entry.text(in: block)))
        }
    }
}
