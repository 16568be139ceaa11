// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import NIOCore

/// A feed as it was rendered: its bytes, and the state that they show.
struct RenderedFeed: Sendable {
    var key: FeedCache.Key
    /// The last change of anything the bytes depend on, in milliseconds since 1970.
    var changedAt: Int
    var etag: String
    /// Shared by all answers, copied by none.
    var body: ByteBuffer

}

/// Remembers rendered feeds by what their bytes depend on, so that an unchanged poll reads no event.
actor FeedCache {
    /// Everything that a feed's bytes depend on: stored versions and the day, never the time.
    struct Key: Hashable, Sendable {
        var feedID: String
        var configChangedAt: Int
        var sequenceOffset: Int
        var circleID: String
        var circleVersion: Int
        var day: CivilDate
        var form: CalendarForm

        fileprivate var place: Place { Place(feedID: feedID, form: form) }
    }

    /// One representation of a feed: what it was rendered for last replaces what it was before.
    fileprivate struct Place: Hashable {
        var feedID: String
        var form: CalendarForm
    }

    private struct Entry {
        var key: Key
        var etag: String
        var size: Int
        /// Nil once it had to make room; the tag alone still answers an unchanged poll.
        var body: ByteBuffer?
        var lastUse: UInt64
    }

    private let limit: Int
    private var entries: [Place: Entry] = [:]
    private var underWay: [Key: Task<RenderedFeed, any Error>] = [:]
    private var bytes = 0
    private var uses: UInt64 = 0

    /// - Parameter limit: how many bytes of bodies to keep.
    init(limit: Int = 128 << 20) { self.limit = limit }

    /// The entity tag of the bytes that `key` stands for, nil when they were not made yet.
    func etag(for key: Key) -> String? {
        guard let entry = entries[key.place], entry.key == key else { return nil }
        return entry.etag
    }

    /// The feed as `key` names it, if its bytes are at hand; else as `render` makes it, once for all who wait for it.
    ///
    /// What is rendered may be newer than what was asked for: a change can commit in between.
    func feed(
        for key: Key, changedAt: Int, render: @escaping @Sendable () async throws -> RenderedFeed
    ) async throws -> RenderedFeed {
        uses += 1
        if let entry = entries[key.place], entry.key == key, let body = entry.body {
            entries[key.place]?.lastUse = uses
            return RenderedFeed(key: key, changedAt: changedAt, etag: entry.etag, body: body)
        }
        let task = underWay[key] ?? Task { try await render() }
        underWay[key] = task
        defer { underWay[key] = nil }
        let rendered = try await task.value
        keep(
            Entry(
                key: rendered.key, etag: rendered.etag, size: rendered.body.readableBytes, body: rendered.body,
                lastUse: uses))
        return rendered
    }

    /// The length of the feed as iCalendar as it was last rendered, nil when it was not since the start.
    func size(of feedID: String) -> Int? {
        entries[Place(feedID: feedID, form: .iCalendar)]?.size
    }

    private func keep(_ entry: Entry) {
        bytes -= entries[entry.key.place]?.body?.readableBytes ?? 0
        bytes += entry.body?.readableBytes ?? 0
        entries[entry.key.place] = entry
        while bytes > limit,
            let oldest = entries.values.filter({ $0.body != nil && $0.key.place != entry.key.place })
                .min(by: { $0.lastUse < $1.lastUse })
        {
            bytes -= oldest.body?.readableBytes ?? 0
            entries[oldest.key.place]?.body = nil
        }
    }
}
