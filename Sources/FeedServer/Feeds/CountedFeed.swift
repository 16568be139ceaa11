// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage

/// A feed with what was counted of it.
struct CountedFeed: Sendable {
    var feed: Feed
    var clients: [FeedClient] = []
    var attention: [FeedAttention] = []

    /// A feed that nobody has read.
    init(_ new: Feed) { feed = new }

    init(_ feed: Feed, in transaction: any ReadTransaction) throws {
        self.feed = feed
        clients = try transaction.clients(of: feed.id)
        attention = try transaction.attention(of: feed.id)
    }
}
