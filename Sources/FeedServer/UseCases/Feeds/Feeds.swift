// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import Storage

/// The feeds of a user, or of a whole circle for the host application: which there are, and who reads them.
struct Feeds: Sendable {
    let services: Services

    /// A feed as a list shows it: what takes a look at the circle's items is worked out for one feed at a time.
    struct Listed: Sendable {
        let feed: CountedFeed
        let rhythms: [ClientRhythm]
    }

    /// A feed as it is shown when it is looked at.
    struct Shown: Sendable {
        let feed: CountedFeed
        let health: FeedHealth
    }

    /// The caller's feeds of a circle, or all of its feeds for the installation, in the order of their ids.
    ///
    /// - Parameter after: the id that the part begins after, empty for the first part.
    func list(in circle: String, for caller: Identity, after: String, limit: Int) async throws -> [Listed] {
        try await services.counter.fold()
        return try await services.store.read { transaction in
            _ = try Rights.circle(circle, for: caller, .read, in: transaction)
            let feeds =
                if let user = caller.userID {
                    try transaction.feeds(of: user, in: circle, after: after, limit: limit)
                } else {
                    try transaction.feeds(in: circle, after: after, limit: limit)
                }
            return try feeds.map { feed in
                let counted = try CountedFeed(feed, in: transaction)
                return Listed(
                    feed: counted, rhythms: try ClientRhythm.all(of: feed.id, counted.clients, in: transaction))
            }
        }
    }

    /// One feed and how it is doing; throws 404 for one that is not the caller's.
    func feed(_ id: String, for caller: Identity) async throws -> Shown {
        let now = services.now()
        try await services.counter.fold()
        let (feed, look, clients, days) = try await services.store.read { [services] transaction in
            let counted = try CountedFeed(try Rights.feed(id, for: caller, in: transaction), in: transaction)
            return (
                counted, try FeedWeight.look(at: counted.feed, in: transaction, services, now: now),
                try ClientRhythm.all(of: id, counted.clients, in: transaction), try transaction.clientDays(of: id)
            )
        }
        var weight: FeedWeight?
        if let look { weight = try await FeedWeight.weigh(look, services) }
        return Shown(feed: feed, health: FeedHealth(weight: weight, clients: clients, days: days))
    }

    /// Who read a feed, the latest first.
    ///
    /// - Parameter number: of the access that the part begins before.
    func accesses(
        of id: String, for caller: Identity, before number: Int, limit: Int
    ) async throws -> [ListedAccess] {
        try await services.counter.fold()
        return try await services.store.read { transaction in
            _ = try Rights.feed(id, for: caller, in: transaction)
            return try transaction.accesses(of: id, before: number, limit: limit)
        }
    }
}
