// SPDX-License-Identifier: Apache-2.0

import Calendar
package import FeedTokens
package import Storage
import Synchronization

/// What one feed shows as a collection that nobody can change, found by the feed's secret address.
package final class FeedCollection: CollectionSource {
    /// What an address opens, as for a read of the feed.
    package enum Opened: Sendable {
        case unknown
        case ended
        case live(CalendarCollection, LiveFeed)
    }

    private let context: FeedContext
    private let kept: KeptFeedMembers
    private let token: Secret
    /// What the request has found so far.
    private let own = Mutex<FeedMembers?>(nil)

    init(_ token: Secret, _ context: FeedContext, _ kept: KeptFeedMembers) {
        (self.token, self.context, self.kept) = (token, context, kept)
    }

    /// - Parameter segment: the last part of the address, as the request names it.
    package func open(_ segment: String) async throws -> Opened {
        let now = context.now()
        switch try await context.ledger.resolve(token, now: now) {
        case .unknown: return .unknown
        case .ended: return .ended
        case .live(let live):
            return try await context.store.read { [token, context] transaction in
                guard let open = try context.ledger.open(token, now: now, in: transaction) else { return .ended }
                let parts = try LiveFeedParts(open, context.settings)
                return .live(
                    CalendarCollection(
                        kind: .feed(open.feed.id), userID: open.feed.userID, segment: segment,
                        displayName: FeedRenderer.calendar(parts, events: []).name ?? open.circle.name,
                        components: [.event, .task], mayWrite: false,
                        number: FeedMembers.number(open.live, FeedDay(parts.zone, now: now))), live)
            }
        }
    }

    package func collections(of caller: CalDAVCaller) async throws -> [CalendarCollection] { [] }

    package func collection(_ segment: String, of caller: CalDAVCaller) async throws -> CalendarCollection? { nil }

    // MARK: Reading

    package func members(
        of collection: CalendarCollection, after name: String?, limit: Int
    ) async throws -> [CalendarMember] {
        try await shown(in: collection).after(name).prefix(limit).map(\.member)
    }

    package func members(of collection: CalendarCollection, named names: [String]) async throws -> [CalendarMember?] {
        let all = try await shown(in: collection)
        return names.map { all[$0]?.member }
    }

    package func resources(
        of collection: CalendarCollection, named names: [String], room: MemoryShare?
    ) async throws -> [CalendarResource?] {
        let all = try await shown(in: collection)
        let found = names.map { all[$0] }
        try await room?.hold(found.reduce(0) { $0 + ($1?.size ?? 0) })
        return try all.resources(found)
    }

    package func resources(
        of collection: CalendarCollection, component: CalendarComponent?, span: Range<Int>?,
        after name: String?, limit: Int
    ) async throws -> [CalendarResource] {
        let all = try await shown(in: collection)
        let found = all.after(name).lazy.filter { entry in
            (component ?? entry.component) == entry.component && (span.map { $0.overlaps(entry.span) } ?? true)
        }
        return try all.resources(found.prefix(limit).fitting(CalendarCollection.pageBytes, \.size))
            .compactMap(\.self)
    }

    /// Events that a feed no longer shows are not remembered, so that it can only be said that nothing has changed.
    package func changes(
        of collection: CalendarCollection, after number: Int, limit: Int
    ) async throws -> CollectionChanges {
        guard try await shown(in: collection).number == number else { throw CollectionFault.invalidSyncToken }
        return CollectionChanges(changed: [], removed: [], number: number, isTruncated: false)
    }

    private func shown(in collection: CalendarCollection) async throws -> FeedMembers {
        let (context, kept, token, now) = (context, kept, token, context.now())
        let key = ByteString(token.hash)
        let made: @Sendable (any ReadTransaction) throws -> (LiveFeedParts, FeedDay, Int) = { transaction in
            guard let open = try context.ledger.open(token, now: now, in: transaction) else {
                throw Refusal(.gone, detail: "This feed has ended.")
            }
            let parts = try LiveFeedParts(open, context.settings)
            let day = FeedDay(parts.zone, now: now)
            return (parts, day, FeedMembers.number(open.live, day))
        }
        let (_, _, number) = try await context.store.read(made)
        // An answer shows one state from its beginning to its end, and makes that once.
        if let known = own.withLock({ $0 }) { return known }
        if let known = kept.find(key), known.number == number { return keep(known) }
        let (found, room) = try await context.readInTurn(for: collection.userID) { transaction, room in
            typealias Found = (FeedMembers?, [(key: ContentHash, shown: ShownResource)], Int)
            let (parts, day, number) = try made(transaction)
            // Others may have made it while this one waited.
            if let known = kept.find(key), known.number == number {
                return (known, [], number) as Found
            }
            try room.take(
                parts.circle.id, andOwnOf: parts.configuration.showsOwn ? parts.feed.userID : nil, with: .whole,
                in: transaction)
            return (nil, try FeedMembers.read(parts, day, in: transaction), number)
        }
        defer { withExtendedLifetime(room) {} }
        if let known = found.0 { return keep(known) }
        let members = try await FeedMembers(found.1, number: found.2)
        kept.keep(members, for: key)
        return keep(members)
    }

    private func keep(_ members: FeedMembers) -> FeedMembers {
        own.withLock { $0 = members }
        return members
    }

    // MARK: Writing

    package func put(
        _ text: [UInt8], as name: String, in collection: CalendarCollection, if conditions: WriteConditions,
        for caller: CalDAVCaller, room: MemoryShare?
    ) async throws -> PutOutcome {
        throw CollectionFault.needsPrivileges
    }

    package func delete(
        _ name: String, from collection: CalendarCollection, if conditions: WriteConditions, for caller: CalDAVCaller,
        room: MemoryShare?
    ) async throws {
        throw CollectionFault.needsPrivileges
    }

    package func set(
        _ set: [StoredProperty], removing: [(namespace: String, name: String)], of collection: CalendarCollection,
        for caller: CalDAVCaller
    ) async throws {
        throw CollectionFault.needsPrivileges
    }
}
