// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import Storage

/// Reports which readers of feeds and which connected calendars have the latest change of an item.
///
/// A reader has the change once it received a response that was made from a state of the circle with the change in it.
/// Each access is stored with the version of its response, so the result follows from the accesses and does not depend
/// on clocks or on concurrent changes.
package struct Reach: Sendable {
    let context: FeedContext

    /// A family of programs that reads a feed.
    package struct Reader: Sendable {
        /// Nil when the owner of the circle sees another person's feed; the owner sees only the client family.
        package var feed: Feed?
        package var client: ClientFamily
        package var hasIt: Bool
        /// When the reader last read the feed, in milliseconds since 1970, as are all times here.
        package var fetchedAt: Int
        /// When the next read is expected by the reader's rhythm; a time in the past means that it is late. Nil without
        /// a rhythm.
        package var expectedAt: Int?
    }

    /// A connected calendar.
    package struct ConnectedCalendar: Sendable {
        /// Nil when the owner of the circle sees another person's connection.
        package var connectionID: String?
        package var provider: Connection.Provider
        package var hasIt: Bool
        /// When the connection's last run ended.
        package var syncedAt: Int?
    }

    /// One of the caller's own feeds that does not show the item.
    package struct Silent: Sendable {
        package var feed: Feed
        package var why: Exclusion
    }

    package struct Shown: Sendable {
        package var change: ItemChange
        package var readers: [Reader]
        package var connections: [ConnectedCalendar]
        package var silent: [Silent]

        package var have: Int { readers.count(where: \.hasIt) + connections.count(where: \.hasIt) }
        package var of: Int { readers.count + connections.count }
    }

    /// For how many days a deleted item can be requested.
    private static let daysOfDeletion = 90
    /// A program that has not read for this many days is not counted as a reader.
    private static let daysOfReader = 90
    private static let day = 86_400_000
    /// The maximum number of feeds and connections that one response considers, and the number of a feed's latest reads
    /// from which rhythms are derived.
    private static let most = 1_000
    private static let visits = 200

    /// Returns who has an item's latest change, as far as the caller may know; throws 404 for an item that never
    /// existed, and for one that was deleted too long ago.
    package func of(
        _ id: String, _ kind: any ItemContent.Type, in circle: String, for caller: Caller
    ) async throws -> Shown {
        try await context.counter.foldForReading()
        return try await context.store.read { transaction in
            try of(
                id, kind,
                in: try Rights.authorized(circle, for: caller.identity, of: kind.resource, in: transaction))
        }
    }

    /// Returns what the other function does; accesses that are not folded are missing from it.
    package func of(_ id: String, _ kind: any ItemContent.Type, in circle: AuthorizedCircle) throws -> Shown {
        let (now, user, transaction) = (context.now(), circle.user, circle.transaction)
        guard let item = try transaction.itemEverKnown(id, kind.collection, in: circle.id),
            let change = try transaction.change(of: id, kind.collection, in: circle.id),
            item.deletedAt.map({ now - $0 <= Self.daysOfDeletion * Self.day }) ?? true, !item.isEmptied
        else { throw Refusal.missing(kind.resource) }
        let whole = circle.member.map { $0.role == .owner } ?? true
        let look = try ReachQuery(item, change, circle.circle, now: now, context.settings, in: transaction)
        return Shown(
            change: change, readers: try Self.readers(look, whole, circle.caller, transaction),
            connections: try Self.connections(look, whole, user, transaction),
            silent: try Self.silent(look, circle.caller, transaction))
    }

    /// - Parameter caller: the installation has no feeds of its own.
    private static func silent(
        _ look: ReachQuery, _ caller: Identity, _ transaction: any ReadTransaction
    ) throws -> [Silent] {
        guard let user = caller.userID else { return [] }
        let feeds = try transaction.feeds(of: user, in: look.circle.id, limit: most).filter { caller.mayKnow($0) }
        return try feeds.compactMap { feed in try look.exclusion(from: feed).map { Silent(feed: feed, why: $0) } }
    }

    /// - Parameters:
    ///   - whole: whether the caller sees all readers of the circle.
    ///   - caller: only readers of feeds that may exist for the caller are shown.
    private static func readers(
        _ look: ReachQuery, _ whole: Bool, _ caller: Identity, _ transaction: any ReadTransaction
    ) throws -> [Reader] {
        let user = caller.userID
        let feeds =
            if let user, !whole {
                try transaction.feeds(of: user, in: look.circle.id, limit: most)
            } else {
                try transaction.feeds(in: look.circle.id, after: "", limit: most)
            }
        var shown: [Int: Feed] = [:]
        for feed in feeds where try caller.mayKnow(feed) && look.concerns(feed) { shown[feed.number] = feed }
        let since = look.now - daysOfReader * day
        let found = try transaction.readers(of: shown.keys.sorted(), since: since)
        var times: [Int: [FeedVisit]] = [:]
        return try found.compactMap { reader in
            let client = ClientFamily(code: reader.client)
            // A browser keeps nothing that a later change has to arrive in.
            guard let feed = shown[reader.feed], client.subscribes else { return nil }
            let visits = try times[reader.feed] ?? transaction.visits(of: feed.id, limit: Self.visits)
            times[reader.feed] = visits
            let rhythm = ClientRhythm(
                reader.client, lastSeenAt: reader.lastSeenAt,
                times: visits.lazy.filter { $0.client == reader.client }.map(\.at))
            let isOthers = user.map { feed.userID != $0 } ?? false
            return Reader(
                feed: isOthers ? nil : feed, client: client,
                hasIt: reader.seenVersion >= look.change.version, fetchedAt: reader.lastSeenAt,
                expectedAt: rhythm.expectedAt)
        }
    }

    private static func connections(
        _ look: ReachQuery, _ whole: Bool, _ user: String?, _ transaction: any ReadTransaction
    ) throws -> [ConnectedCalendar] {
        let all =
            if let user, !whole {
                try transaction.connections(of: user, in: look.circle.id, after: "", limit: most)
            } else {
                try transaction.connections(in: look.circle.id, after: "", limit: most)
            }
        return try all.compactMap { own in
            guard let hasIt = try look.isHeld(by: own, in: transaction) else { return nil }
            let isOthers = user.map { own.userID != $0 } ?? false
            return ConnectedCalendar(
                connectionID: isOthers ? nil : own.id, provider: own.provider, hasIt: hasIt, syncedAt: own.lastSyncAt)
        }
    }
}
