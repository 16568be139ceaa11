// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// A feed's representation: its bytes and what tells them from others.
struct RenderedFeed: Sendable {
    var validators: Validators
    var body: [UInt8]
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
    }

    private struct Entry {
        var key: Key
        var etag: String
        /// Nil once it had to make room; the tag alone still answers an unchanged poll.
        var body: [UInt8]?
        var lastUse: UInt64
    }

    private let limit: Int
    private var entries: [String: Entry] = [:]
    private var underWay: [Key: Task<[UInt8], any Error>] = [:]
    private var bytes = 0
    private var uses: UInt64 = 0

    /// - Parameter limit: how many bytes of bodies to keep.
    init(limit: Int = 128 << 20) { self.limit = limit }

    /// The entity tag of the bytes that `key` stands for, nil when they were not made yet.
    func etag(for key: Key) -> String? {
        guard let entry = entries[key.feedID], entry.key == key else { return nil }
        return entry.etag
    }

    /// The bytes and their tag, made by `render` unless they are at hand; once for all who wait for the same.
    func body(
        for key: Key, render: @escaping @Sendable () async throws -> [UInt8]
    ) async throws -> (etag: String, body: [UInt8]) {
        uses += 1
        if let entry = entries[key.feedID], entry.key == key, let body = entry.body {
            entries[key.feedID]?.lastUse = uses
            return (entry.etag, body)
        }
        let task = underWay[key] ?? Task { try await render() }
        underWay[key] = task
        defer { underWay[key] = nil }
        let body = try await task.value
        let etag = entityTag(body)
        keep(Entry(key: key, etag: etag, body: body, lastUse: uses))
        return (etag, body)
    }

    private func keep(_ entry: Entry) {
        bytes -= entries[entry.key.feedID]?.body?.count ?? 0
        bytes += entry.body?.count ?? 0
        entries[entry.key.feedID] = entry
        while bytes > limit,
            let oldest = entries.values.filter({ $0.body != nil && $0.key.feedID != entry.key.feedID })
                .min(by: { $0.lastUse < $1.lastUse })
        {
            bytes -= oldest.body?.count ?? 0
            entries[oldest.key.feedID]?.body = nil
        }
    }
}
