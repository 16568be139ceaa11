// SPDX-License-Identifier: Apache-2.0

import FeedTokens
package import Storage

/// The feeds of a user, or of a whole circle for the host application, and the accesses to them.
package struct Feeds: Sendable {
    let context: FeedContext

    /// A feed as a list shows it, without the values for which the circle's items would have to be read.
    package struct Listed: Sendable {
        package let feed: CountedFeed
        package let rhythms: [ClientRhythm]
    }

    /// A feed as it is shown by itself.
    package struct Shown: Sendable {
        package let feed: CountedFeed
        package let health: FeedHealth

        /// - Parameter room: takes the room to calculate a weight that is not known yet; throws `CircleRoom.Needed` when
        ///   it is nil and the weight is not known.
        fileprivate init(
            _ feed: Feed, _ room: CircleRoom?, in transaction: any ReadTransaction, _ context: FeedContext
        ) throws {
            self.feed = try CountedFeed(feed, in: transaction)
            health = FeedHealth(
                weight: try FeedWeight(of: feed, room, in: transaction, context),
                clients: try ClientRhythm.all(of: feed.id, self.feed.clients, in: transaction),
                days: try transaction.clientDays(of: feed.id))
        }
    }

    /// The seconds for which a former address may continue to work.
    package static let graces = 0...2_592_000

    /// Returns the caller's feeds of a circle, or all its feeds for the installation, in order of id.
    package func list(_ page: PageRequest, in circle: String, for caller: Caller) async throws -> [Listed] {
        try await context.counter.foldForReading()
        return try await context.acts.read(in: circle, for: caller) { try $0.feeds(page) }
    }

    /// Returns one feed with its state; throws 404 for a feed that is not the caller's.
    package func get(_ id: String, for caller: Caller) async throws -> Shown {
        try await context.counter.foldForReading()
        let read: @Sendable (any ReadTransaction, CircleRoom?) throws -> Shown = { [context] transaction, room in
            try Shown(try Rights.feed(id, for: caller.identity, in: transaction), room, in: transaction, context)
        }
        do {
            return try await context.store.read { try read($0, nil) }
        } catch is CircleRoom.Needed {
            return try await context.readInTurn(for: caller.payer, read).0
        }
    }

    /// Returns the accesses to a feed, the latest first.
    ///
    /// - Parameter number: the number of the access before which the part begins.
    package func accesses(
        of id: String, before number: Int, limit: Int, for caller: Caller
    ) async throws -> [ListedAccess] {
        try await context.counter.foldForReading()
        return try await context.store.read { transaction in
            _ = try Rights.feed(id, for: caller.identity, in: transaction)
            return try transaction.accesses(of: id, before: number, limit: limit)
        }
    }
}

extension AuthorizedCircle {
    /// Returns the caller's feeds of the circle, or all its feeds for the installation, in order of id; accesses that are
    /// not folded are missing from their counts.
    package func feeds(_ page: PageRequest) throws -> [Feeds.Listed] {
        let feeds = try caller.known(after: nil, page.limit, where: caller.mayKnow) { last, count in
            let place = last?.id ?? page.after
            return if let user {
                try transaction.feeds(of: user, in: id, after: place, limit: count)
            } else {
                try transaction.feeds(in: id, after: place, limit: count)
            }
        }
        return try feeds.map { feed in
            let counted = try CountedFeed(feed, in: transaction)
            return Feeds.Listed(
                feed: counted, rhythms: try ClientRhythm.all(of: feed.id, counted.clients, in: transaction))
        }
    }

    /// Returns a feed as `feed` does, with its state.
    package func shownFeed(_ id: String, _ context: FeedContext) throws -> Feeds.Shown {
        try Feeds.Shown(try feed(id), room, in: transaction, context)
    }
}
