// SPDX-License-Identifier: Apache-2.0

import Base
import Crypto
package import FeedTokens
import ICalBridge
package import Storage
import Synchronization

/// What one feed shows as a collection that nobody can change, found by the feed's secret address.
package struct FeedCollection: CollectionSource {
    /// What an address opens, as for a read of the feed.
    package enum Opened: Sendable {
        case unknown
        case ended
        case live(CalendarCollection, LiveFeed)
    }

    private let services: Services
    private let token: Secret

    package init(_ token: Secret, services: Services) { (self.token, self.services) = (token, services) }

    /// - Parameter segment: the last part of the address, as the request names it.
    package func open(_ segment: String) async throws -> Opened {
        let now = services.now()
        switch try await services.ledger.resolve(token, now: now) {
        case .unknown: return .unknown
        case .ended: return .ended
        case .live(let live):
            return try await services.store.read { [token, services] transaction in
                guard let open = try services.ledger.open(token, now: now, in: transaction) else { return .ended }
                let parts = try LiveFeedParts(open, services.settings)
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
        try await shown(in: collection).all(after: name).prefix(limit).map { $0.shown.member($0.name.string) }
    }

    package func members(of collection: CalendarCollection, named names: [String]) async throws -> [CalendarMember?] {
        let all = try await shown(in: collection)
        return names.map { name in all[name]?.member(name) }
    }

    package func resources(
        of collection: CalendarCollection, named names: [String]
    ) async throws -> [CalendarResource?] {
        let all = try await shown(in: collection)
        return names.map { name in all[name]?.calendarResource(name) }
    }

    package func resources(
        of collection: CalendarCollection, component: CalendarComponent?, span: Range<Int>?,
        after name: String?, limit: Int
    ) async throws -> [CalendarResource] {
        try await shown(in: collection).all(after: name).lazy.filter { one in
            (component ?? one.shown.component) == one.shown.component
                && (span.map { $0.overlaps(one.shown.span) } ?? true)
        }.prefix(limit).fitting(CalendarCollection.pageBytes) { $0.shown.text.count }
            .map { $0.shown.calendarResource($0.name.string) }
    }

    /// What a feed stopped showing is not kept, so that only what is unchanged can be said.
    package func changes(
        of collection: CalendarCollection, after number: Int, limit: Int
    ) async throws -> CollectionChanges {
        guard try await shown(in: collection).number == number else { throw CollectionFault.invalidSyncToken }
        return CollectionChanges(changed: [], removed: [], number: number, isTruncated: false)
    }

    private func shown(in collection: CalendarCollection) async throws -> FeedMembers {
        let (services, token, now) = (services, token, services.now())
        let key = ByteString(token.hash)
        let made: @Sendable (any ReadTransaction) throws -> (LiveFeedParts, FeedDay, Int) = { transaction in
            guard let open = try services.ledger.open(token, now: now, in: transaction) else {
                throw Refusal(.gone, detail: "This feed has ended.")
            }
            let parts = try LiveFeedParts(open, services.settings)
            let day = FeedDay(parts.zone, now: now)
            return (parts, day, FeedMembers.number(open.live, day))
        }
        let (_, _, number) = try await services.store.read(made)
        if let known = services.feedMembers.find(key), known.number == number { return known }
        let (members, room) = try await services.readInTurn(for: collection.userID) { transaction, room in
            let (parts, day, number) = try made(transaction)
            try room.take(
                parts.circle.id, andOwnOf: parts.configuration.showsOwn ? parts.feed.userID : nil, withText: true,
                in: transaction)
            return try FeedMembers(of: parts, day, number, in: transaction)
        }
        defer { withExtendedLifetime(room) {} }
        services.feedMembers.keep(members, for: key)
        return members
    }

    // MARK: Writing

    package func put(
        _ text: [UInt8], as name: String, in collection: CalendarCollection, if conditions: WriteConditions,
        for caller: CalDAVCaller
    ) async throws -> PutOutcome {
        throw CollectionFault.needsPrivileges
    }

    package func delete(
        _ name: String, from collection: CalendarCollection, if conditions: WriteConditions, for caller: CalDAVCaller
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

/// The resources of the feeds that calendar apps asked for last, by the hash of the token.
final class KeptFeedMembers: Sendable {
    /// The most bytes of all of them.
    private static let limit = 32 << 20

    private let kept = Mutex(LeastRecentlyUsed<ByteString, FeedMembers>(limit: limit))

    func find(_ token: ByteString) -> FeedMembers? { kept.withLock { $0.find(token) } }

    func keep(_ members: FeedMembers, for token: ByteString) {
        kept.withLock { $0.keep(members, for: token, cost: members.size) }
    }
}

/// The resources of a feed in one version on one day, in the order of their names.
struct FeedMembers: Sendable {
    let number: Int
    private let resources: [(name: ByteString, shown: ShownResource)]

    /// A number that rises whenever the feed shows something else: the time of its last change, or the beginning of the
    /// day on which its window is placed.
    static func number(_ live: LiveFeed, _ day: FeedDay) -> Int { max(live.changedAt, day.from) }

    init(
        of parts: LiveFeedParts, _ day: FeedDay, _ number: Int, in transaction: any ReadTransaction
    ) throws {
        self.number = number
        let window = FeedWindow(parts.configuration, today: day.date, zone: parts.zone)
        var found: [ByteString: ShownResource] = [:]
        func add(_ collection: String, _ id: String, _ events: [Event]) {
            guard let first = events.first else { return }
            let name = Array("\(collection)\u{0}\(id)".utf8)
            let modified = events.compactMap { $0.lastModified ?? $0.timestamp }.max()?.milliseconds ?? 0
            found[ByteString(ContentHash(of: SHA256.hash(data: name)).text + ".ics")] = ShownResource(
                .item(.init(rawValue: collection), id: ByteString(id)), uid: first.uid, events, [],
                modified: modified, from: window.from.milliseconds, to: window.to.milliseconds)
        }
        for notice in FeedFilter(parts, window: window).notices { add("notices", notice.uid, [notice]) }
        try FeedContents.each(of: parts, window: window, in: transaction) { entry in
            if entry.exclusion == nil { add(entry.collection, entry.id, entry.events) }
        }
        resources = found.map { (name: $0.key, shown: $0.value) }.sorted { $0.name < $1.name }
    }

    /// The approximate bytes in memory.
    var size: Int { resources.reduce(0) { $0 + $1.shown.text.count + 300 } }

    func all(after name: String?) -> ArraySlice<(name: ByteString, shown: ShownResource)> {
        resources.after(name) { $0.name }
    }

    subscript(name: String) -> ShownResource? { resources.first(named: name) { $0.name }?.shown }
}
