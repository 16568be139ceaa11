// SPDX-License-Identifier: Apache-2.0

import FeedTokens
package import Storage

/// A feed with its clients and problems.
package struct CountedFeed: Sendable {
    package var feed: Feed
    package var clients: [FeedClient] = []
    package var attention: [FeedAttention] = []
    /// When the last former address stops being answered, or stopped, in milliseconds since 1970; nil for none.
    package var formerUntil: Int?
    /// When the address replaced another, if no calendar app is known to have read the feed there.
    package var unreadSince: Int?

    /// Creates the value for a new feed, which nobody has read.
    init(_ new: Feed) { feed = new }

    init(_ feed: Feed, in transaction: any ReadTransaction) throws {
        self.feed = feed
        clients = try transaction.clients(of: feed.id)
        attention = try transaction.attention(of: feed.id)
        guard feed.revokedAt == nil else { return }
        let (ends, since) = try transaction.tokenTimes(of: feed.id)
        formerUntil = ends.map { min($0, feed.expiresAt ?? $0) }
        // A feed whose first address nobody has read waits for its first reader. While the former address is answered,
        // a read says nothing about this one.
        let read = clients.filter { ClientFamily(code: $0.client).subscribes }.map(\.lastSeenAt).max()
        if let since, let read, read < max(since, formerUntil ?? since) { unreadSince = since }
    }
}
