// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
package import ICalBridge
import Outbound
package import Storage

/// Where calendar apps want to hear of changes of collections (draft-bitfire-webdav-push).
package struct PushRegistrations: Acting {
    let acts: Acts
    let settings: ServerSettings
    let sealingKey: SealingKey
    let isSealingKeyRight: Bool
    let pushKeys: PushKeys
    let leases: Leases
    let metrics: Metrics
    let databaseID: String

    /// The longest life of a registration in milliseconds: seven days.
    package static let longestLife = 7 * 86_400_000

    /// A registration as its app knows it.
    package struct Registered: Sendable {
        package let id: String
        /// Milliseconds since 1970.
        package let expiresAt: Int
        package let isNew: Bool
    }

    /// The public key that apps give to their push services; nil if the server lacks the key under which it is sealed, or
    /// could not make one: calendars are read all the same.
    package func publicKey() async -> String? { try? await pushKeys.key().publicText }

    /// Registers a push resource for a collection, or renews its registration.
    ///
    /// - Parameter body: the element `push-register`.
    /// - Throws: `PushFault`, and `CollectionFault.insufficientStorage` beyond the person's quota.
    package func register(
        _ body: XMLElement, at collection: CalendarCollection, for caller: CalDAVCaller
    ) async throws -> Registered {
        guard let place = collection.kind.stored, isSealingKeyRight else { throw PushFault.notAvailable }
        let request = try PushRequest(body, accepts: isUsable)
        let (quota, sealing) = (settings.quotas.pushRegistrationsPerUser, sealingKey)
        return try await acts.act(
            on: .user(caller.userID, touchingNoCircle: "No feed shows whom the server notifies of changes."),
            for: caller.caller
        ) { act in
            let (transaction, user, now) = (act.transaction, caller.userID, act.now)
            guard try transaction.appPassword(caller.passwordID)?.isLive(at: now) == true,
                let collection = try Self.collection(place, for: caller, in: transaction),
                let state = try transaction.collectionState(of: place.kind, place.id)
            else { throw PushFault.notAvailable }
            let known = try transaction.pushRegistration(
                of: user, place.kind, place.id, resourceHash: request.target.hash)
            // An expired registration has heard of nothing since.
            var registration =
                known.flatMap { $0.expiresAt > now ? $0 : nil }
                ?? PushRegistration(
                    id: known?.id ?? FeedLedger.makeID(), userID: user, kind: place.kind, collectionID: place.id,
                    resourceHash: request.target.hash, sent: state, shown: Self.look(of: collection), now: now)
            if known == nil {
                guard try transaction.pushRegistrationCount(of: user, now: now) < quota else {
                    throw CollectionFault.insufficientStorage(
                        Sentence(
                            .pushRegistrationsFull,
                            "Your calendar apps have \(quota, .most) push registrations, which is the maximum."))
                }
            }
            registration.passwordID = caller.passwordID
            registration.sealed = try request.target.sealed(with: sealing, of: registration.id)
            (registration.wantsContent, registration.wantsProperties) = (request.wantsContent, request.wantsProperties)
            let latest = now + Self.longestLife
            let wanted = request.expires.map { min(max($0, 0), latest / 1000) * 1000 } ?? latest
            registration.expiresAt = wanted > now ? wanted : latest
            (registration.nextAt, registration.attempts) = (0, 0)
            try transaction.putPushRegistration(registration)
            return .unnoted(
                "Where a person's apps hear of changes is their own concern, and ends within days.",
                Registered(id: registration.id, expiresAt: registration.expiresAt, isNew: known == nil))
        }
    }

    /// Ends a registration; throws `CollectionFault.missing` unless it is one of the caller's.
    package func remove(_ id: String, for caller: CalDAVCaller) async throws {
        try await acts.act(
            on: .user(caller.userID, touchingNoCircle: "No feed shows whom the server notifies of changes."),
            for: caller.caller
        ) { act in
            guard let registration = try act.transaction.pushRegistration(id), registration.expiresAt > act.now,
                registration.userID.isSameText(as: caller.userID)
            else { throw CollectionFault.missing }
            try act.transaction.deletePushRegistration(id)
            return .unnoted("Where a person's apps hear of changes is their own concern.", ())
        }
    }

    /// Returns what keeps the changes of a task from some of the caller's registrations, or from all there are.
    ///
    /// - Parameter ids: nil for all.
    package func mute(
        _ ids: [String]?, at collections: [CalendarCollection], for caller: CalDAVCaller
    ) -> PushMute {
        let settings = settings
        return PushMute(
            ids.map { .some($0, of: caller.userID) } ?? .all, in: collections.compactMap(\.kind.stored)
        ) { try Self.hasNews($0, settings, in: $1) }
    }

    // MARK: Where messages go

    /// Whether messages may be sent to an address: on the public Internet over TLS, or at a host that the operator named.
    func isUsable(_ address: String) -> Bool {
        let settings = settings
        guard settings.allowsMessages(to: address), let origin = WebOrigin(ofAddress: address) else { return false }
        let hosts = settings.connections.privatePushHosts
        if hosts.contains(ByteString(origin.host)) || hosts.contains("\(origin.host):\(origin.port)") { return true }
        guard let url = try? PublicURL(address, allowsHTTP: false) else { return false }
        if case .address(let address) = url.host { return settings.fetching.permits(address) }
        return true
    }
}

// MARK: - What has changed

extension PushRegistrations {
    /// How many changes are read at once to find one that counts.
    private static let page = 100

    /// Returns a collection as an app sees it now; nil once it is gone, or the app reaches it no more.
    static func collection(
        _ place: (kind: CollectionProperty.Kind, id: String), for caller: CalDAVCaller,
        in transaction: any ReadTransaction
    ) throws -> CalendarCollection? {
        switch place.kind {
        case .events, .tasks:
            guard caller.reaches(place.id), let circle = try transaction.circle(place.id),
                let member = try transaction.member(caller.userID, in: place.id)
            else { return nil }
            return try CircleSegment(circle: place.id, list: place.kind == .events ? .events : .tasks).collection(
                circle, member, caller, in: transaction)
        case .own:
            guard caller.own, let calendar = try transaction.ownCalendar(place.id),
                calendar.userID.isSameText(as: caller.userID)
            else { return nil }
            return try OwnCalendars.shown(calendar, to: caller, in: transaction)
        case .home: return nil
        }
    }

    /// Whether something in a collection that its person sees has changed since its app was told.
    static func hasNews(
        _ registration: PushRegistration, _ settings: ServerSettings, in transaction: any ReadTransaction
    ) throws -> Bool {
        guard let state = try transaction.collectionState(of: registration.kind, registration.collectionID),
            state != registration.sent
        else { return false }
        let list: ResourceName.List
        switch registration.kind {
        case .events: list = .events
        case .tasks: list = .tasks
        case .own, .home: return true
        }
        guard try transaction.member(registration.userID, in: registration.collectionID) != nil else { return false }
        let reader = try CircleReader(
            registration.collectionID, for: registration.userID, settings, in: transaction)
        var since = CircleNumber(version: registration.sent.number, epoch: registration.sent.epoch)
        let now = CircleNumber(reader.circle)
        while true {
            // When the changes are not known in detail, a message is sent.
            guard var changes = try reader.changes(since: since, until: now, limit: page) else { return true }
            if changes.items.contains(where: { reader.isIn(list, $0.collection) }) { return true }
            // Only of imported events their texts say whether they are in a list.
            changes.skip(changes.items.count)
            try reader.read(&changes)
            if changes.left > 0 || changes.shown.contains(where: { reader.isIn(list, $0.0) }) { return true }
            if try !reader.names(of: changes.gone, in: list).isEmpty { return true }
            guard !changes.isWhole, changes.number != since else { return false }
            since = changes.number
        }
    }

    /// How a collection looks apart from its contents and the person's properties, as a hash.
    static func look(of collection: CalendarCollection) -> String {
        Hexadecimal.text(SHA256.hash(data: Array("\(collection.mayWrite)/\(collection.displayName)".utf8)))
    }
}

extension CalendarCollection {
    /// The topic of the messages about it, which no other collection of anybody has.
    package var pushTopic: String {
        let text = "kalends/push-topic/\(PercentEncoding.encode(userID))/\(kind.identity)"
        return Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8)).prefix(18)))
    }
}
