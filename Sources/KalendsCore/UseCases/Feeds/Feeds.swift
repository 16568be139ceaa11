// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
package import Storage

/// The feeds of a user, or of a whole circle for the host application, and the accesses to them.
package struct Feeds: Sendable {
    package let services: Services

    package init(services: Services) { self.services = services }

    /// A feed as a list shows it, without the values for which the circle's items would have to be read.
    package struct Listed: Sendable {
        package let feed: CountedFeed
        package let rhythms: [ClientRhythm]
    }

    /// A feed as it is shown by itself.
    package struct Shown: Sendable {
        package let feed: CountedFeed
        package let health: FeedHealth
    }

    /// The seconds for which a former address may continue to work.
    package static let graces = 0...2_592_000

    /// Returns the circle of a feed; throws 404 for a feed that is not the caller's.
    package func circle(of id: String, for caller: Caller) async throws -> String {
        try await services.store.read { try Rights.feed(id, for: caller.identity, in: $0).circleID }
    }

    /// Returns the caller's feeds of a circle, or all its feeds for the installation, in order of id.
    package func list(_ page: PageRequest, in circle: String, for caller: Caller) async throws -> [Listed] {
        try await services.counter.fold()
        return try await services.store.read { transaction in
            _ = try Rights.circle(circle, for: caller.identity, .read, in: transaction)
            let feeds =
                if let user = caller.userID {
                    try transaction.feeds(of: user, in: circle, after: page.after, limit: page.limit)
                } else {
                    try transaction.feeds(in: circle, after: page.after, limit: page.limit)
                }
            return try feeds.map { feed in
                let counted = try CountedFeed(feed, in: transaction)
                return Listed(
                    feed: counted, rhythms: try ClientRhythm.all(of: feed.id, counted.clients, in: transaction))
            }
        }
    }

    /// Returns one feed with its state; throws 404 for a feed that is not the caller's.
    package func get(_ id: String, for caller: Caller) async throws -> Shown {
        let now = services.now()
        try await services.counter.fold()
        let (feed, look, clients, days) = try await services.store.read { [services] transaction in
            let counted = try CountedFeed(try Rights.feed(id, for: caller.identity, in: transaction), in: transaction)
            return (
                counted, try FeedWeight.look(at: counted.feed, in: transaction, services, now: now),
                try ClientRhythm.all(of: id, counted.clients, in: transaction), try transaction.clientDays(of: id)
            )
        }
        let weight: FeedWeight? =
            switch look {
            case .ended: nil
            case .known(let weight): weight
            case .unknown: try await FeedWeight.weigh(feed.feed, services, now: now)
            }
        return Shown(feed: feed, health: FeedHealth(weight: weight, clients: clients, days: days))
    }

    /// Returns the accesses to a feed, the latest first.
    ///
    /// - Parameter number: the number of the access before which the part begins.
    package func accesses(
        of id: String, before number: Int, limit: Int, for caller: Caller
    ) async throws -> [ListedAccess] {
        try await services.counter.fold()
        return try await services.store.read { transaction in
            _ = try Rights.feed(id, for: caller.identity, in: transaction)
            return try transaction.accesses(of: id, before: number, limit: limit)
        }
    }
}
