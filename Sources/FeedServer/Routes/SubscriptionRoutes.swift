// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import Logging
import Outbound
import Storage

/// Calendars elsewhere that a circle follows.
struct SubscriptionRoutes: Sendable {
    let services: Services

    private static let minutes = 60...10_080

    func add(to routes: inout RouteTable) {
        routes.section(.imports)
        let (path, one): (String, Schema) = ("/v1/circles/{circle}/subscriptions", .named("Subscription"))
        routes.on(
            .get, path,
            Operation(
                "listSubscriptions", "List the calendars that a circle follows", .circle(.read), .scope(.imports),
                query: .page,
                [.list(of: one)]), list)
        routes.on(
            .post, path,
            Operation(
                "createSubscription", "Follow a calendar elsewhere", .circle(.write), .scope(.imports),
                details: "Its events come, change and go with it.", body: .json(.named("SubscriptionInput")),
                [.created(one)], refusals: [409]), create)
        routes.on(
            .get, "\(path)/{subscription}",
            Operation(
                "getSubscription", "Read a subscription", .circle(.read), .scope(.imports), [.ok(one)], hasTag: true),
            get)
        routes.on(
            .patch, "\(path)/{subscription}",
            Operation(
                "changeSubscription", "Change or pause a subscription", .circle(.write), .scope(.imports),
                body: .json(.named("SubscriptionChange"), isRequired: false), [.ok(one)], hasTag: true), change)
        routes.on(
            .delete, "\(path)/{subscription}",
            Operation(
                "deleteSubscription", "Follow a calendar no more", .circle(.write), .scope(.imports),
                details: "Its events go with it.",
                [.noContent], hasTag: true), delete)
        routes.on(
            .post, "\(path)/{subscription}/refresh",
            Operation(
                "refreshSubscription", "Fetch a calendar now", .circle(.write), .scope(.imports),
                details:
                    "What went wrong stands in `lastProblem`. Whoever asks while it is being fetched gets that result.",
                [.ok(one)], refusals: [409]), refresh)
    }

    private enum Wish: String, CaseIterable { case active, paused }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, caller, page) = (
            try context.identifier("circle"), try context.caller().identity, try Page(request)
        )
        let found = try await services.store.read { transaction in
            _ = try Rights.circle(circleID, for: caller, .read, in: transaction)
            return try transaction.subscriptions(in: circleID, after: page.after, limit: page.fetchLimit).map {
                ($0, try transaction.eventCount(ofSubscription: $0.id))
            }
        }
        return try page.answer(found, key: \.0.id) { .object($0.0.json(events: $0.1)) }
    }

    @Sendable
    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, caller, now) = (try context.identifier("circle"), try context.caller().identity, services.now())
        var fields = FieldReader(try await request.json(context))
        let text = fields.text("url", isRequired: true, maximum: 8192)
        let label = fields.text("label")
        let minutes = fields.integer("refreshMinutes", in: Self.minutes) ?? 360
        fields.finish()
        var url: PublicURL?
        do { url = try text.map { try services.fetcher.url($0) } } catch let refusal as Refusal {
            fields.add(refusal.faults)
        }
        // Before the faults, which tell nothing to those who may not ask.
        _ = try await services.store.read { try Rights.circle(circleID, for: caller, .write, in: $0) }
        try fields.check()
        guard let url else { throw Refusal.invalid(fields.faults) }
        let (id, key, actor) = (FeedLedger.makeID(), services.sealingKey, try context.caller().actor)
        let own = Subscription(
            id: id, circleID: circleID, sealedURL: try key.seal(url.reveal(), for: SubscriptionRefresh.purpose(id)),
            urlDigest: url.digest, urlHint: url.hint, host: url.host.text, label: label, createdBy: caller.userID,
            refreshMinutes: minutes, now: now)
        let most = services.settings.quotas.held(to: caller).subscriptionsPerCircle
        try await services.store.write { transaction in
            transaction.concerns(circle: circleID)
            _ = try Rights.circle(circleID, for: caller, .write, in: transaction)
            if let other = try transaction.subscription(in: circleID, urlDigest: own.urlDigest) {
                throw Refusal.conflict(
                    "The circle follows this calendar already.", code: .subscriptionExists,
                    extra: ["subscriptionId": .string(other.id)])
            }
            guard try transaction.subscriptionCount(in: circleID) < most else {
                throw Refusal.quota("A circle follows", most, "calendars")
            }
            try transaction.putSubscription(own)
            try transaction.note(.subscription, .created, in: circleID, id: id, now: now)
            try AuditTrail.note(.subscriptionCreated, id, circle: circleID, by: actor, in: transaction, now: now)
        }
        return try .json(
            .object(own.json(events: 0)), status: .created,
            headers: [.location: "/v1/circles/\(circleID)/subscriptions/\(id)"])
    }

    @Sendable
    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, id, caller) = (
            try context.identifier("circle"), try context.identifier("subscription"), try context.caller().identity
        )
        let (own, count) = try await services.store.read { transaction in
            let own = try Self.subscription(id, in: circleID, for: caller, .read, transaction)
            return (own, try transaction.eventCount(ofSubscription: id))
        }
        return try .resource(.object(own.json(events: count)), for: request, etag: try own.etagOfWishes)
    }

    @Sendable
    private func change(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, id, caller) = (
            try context.identifier("circle"), try context.identifier("subscription"), try context.caller().identity
        )
        let (body, headers, now) = (try await request.json(context), request.headers, services.now())
        var fields = FieldReader(body)
        let label = fields.text("label")
        let minutes = fields.integer("refreshMinutes", in: Self.minutes)
        let wish = fields.choice("state", Wish.self)
        fields.finish()
        let (faults, actor) = (fields, try context.caller().actor)
        let (own, count) = try await services.store.write { transaction in
            transaction.concerns(circle: circleID)
            var own = try Self.subscription(id, in: circleID, for: caller, .write, transaction)
            try faults.check()
            try ConditionalGet.checkPreconditions(headers, etag: try own.etagOfWishes)
            let old = own
            if body["label"] != nil { own.label = label }
            if let minutes {
                own.refreshMinutes = minutes
                own.nextAt = min(own.nextAt, now + minutes * 60_000)
            }
            switch wish {
            case .paused: own.state = .paused
            case .active where own.state != .active: (own.state, own.failures, own.nextAt) = (.active, 0, now)
            default: break
            }
            own.updatedAt = now
            try transaction.putSubscription(own)
            try transaction.note(.subscription, .updated, in: circleID, id: id, now: now)
            try AuditTrail.noteChange(
                .subscriptionChanged, id, circle: circleID,
                [
                    "label": own.label != old.label, "refreshMinutes": own.refreshMinutes != old.refreshMinutes,
                    "state": own.state != old.state,
                ], by: actor, in: transaction, now: now)
            return (own, try transaction.eventCount(ofSubscription: id))
        }
        return try .resource(.object(own.json(events: count)), etag: try own.etagOfWishes)
    }

    @Sendable
    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, id, caller) = (
            try context.identifier("circle"), try context.identifier("subscription"), try context.caller().identity
        )
        let (headers, now, actor) = (request.headers, services.now(), try context.caller().actor)
        let services = services
        // Its events go all at once, in short transactions that nobody sees before the last one.
        try await services.turns.alone(in: circleID) {
            try await EventStaging.discard(in: circleID, services.store)
            let (own, circle) = try await services.store.read { transaction in
                let own = try Self.subscription(id, in: circleID, for: caller, .write, transaction)
                try ConditionalGet.checkPreconditions(headers, etag: try own.etagOfWishes)
                return (own, try Rights.circle(circleID, for: caller, .write, in: transaction))
            }
            let update = try await SubscriptionUpdate(services: services, own: own).stageEnd(in: circle)
            do {
                try await services.store.write { transaction in
                    transaction.concerns(circle: circleID)
                    let own = try Self.subscription(id, in: circleID, for: caller, .write, transaction)
                    try ConditionalGet.checkPreconditions(headers, etag: try own.etagOfWishes)
                    if update.hasChanges { try update.staging.publish(in: transaction, now: now) }
                    try transaction.forgetSource(.subscription(id), in: circleID)
                    try transaction.deleteSubscription(id)
                    try transaction.note(.subscription, .deleted, in: circleID, id: id, now: now)
                    try AuditTrail.note(
                        .subscriptionDeleted, id, circle: circleID, by: actor, in: transaction, now: now)
                }
            } catch {
                try? await update.staging.discard()
                throw error
            }
        }
        services.tidying.afterUpdate(in: circleID)
        return .noContent
    }

    /// Fetches the calendar now and answers when that is done; what went wrong stands in `lastProblem`.
    @Sendable
    private func refresh(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, id, caller) = (
            try context.identifier("circle"), try context.identifier("subscription"), try context.caller().identity
        )
        let own = try await services.store.read {
            try Self.subscription(id, in: circleID, for: caller, .write, $0)
        }
        guard own.state == .active else {
            throw Refusal.conflict("This subscription is \(own.state.rawValue).", code: .subscriptionInactive)
        }
        try services.refreshes.admit(own, for: caller.userID, now: services.now())
        let refreshing = SubscriptionRefresh(services: services, logger: context.logger)
        let refreshed = try await refreshing.refresh(id, for: context.sender)
        guard let refreshed else { throw Refusal.missing(.subscription) }
        let count = try await services.store.read { try $0.eventCount(ofSubscription: id) }
        return try .json(.object(refreshed.json(events: count)))
    }

    private static func subscription(
        _ id: String, in circle: String, for caller: Identity, _ right: Right, _ transaction: any ReadTransaction
    ) throws -> Subscription {
        _ = try Rights.circle(circle, for: caller, right, in: transaction)
        guard let own = try transaction.subscription(id), own.circleID == circle else {
            throw Refusal.missing(.subscription)
        }
        return own
    }
}

extension Subscription {
    /// Everything but the address itself.
    fileprivate func json(events: Int) -> [ByteString: JSONValue] {
        [
            "id": .string(id), "circleId": .string(circleID), "label": JSONValue(label), "host": .string(host),
            "urlHint": .string(urlHint), "refreshMinutes": .integer(refreshMinutes),
            "lastFetchedAt": JSONValue(milliseconds: lastFetchedAt),
            "lastChangedAt": JSONValue(milliseconds: lastChangedAt),
            "nextFetchAt": state == .active ? JSONValue(milliseconds: nextAt) : .null,
            "lastProblem": JSONValue(lastProblem), "state": .string(state.rawValue),
            "counts": [
                "events": .integer(events), "created": .integer(created), "updated": .integer(updated),
                "deleted": .integer(deleted),
            ],
            "createdAt": JSONValue(milliseconds: createdAt), "updatedAt": JSONValue(milliseconds: updatedAt),
        ]
    }

    /// The tag over what a client can change alone.
    fileprivate var etagOfWishes: String {
        get throws {
            try JSONValue.array([
                .string(id), JSONValue(label), .integer(refreshMinutes), .string(state.rawValue), .integer(updatedAt),
            ]).etag
        }
    }
}
