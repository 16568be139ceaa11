// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import ICalBridge
import Storage

/// A user's feeds: made, listed, changed, shown again, given a new address, ended.
struct FeedRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.feeds)
        let (feed, new): (Schema, Schema) = (.named("Feed"), .named("NewFeed"))
        var made = Operation.Reply.created(new, "Made; its secret address is told.")
        made.headers = ["Location"]
        routes.on(
            .post, "/v1/circles/{circle}/feeds",
            Operation(
                "createFeed", "Make a feed", .circle(.read), .scope(.feeds), body: .json(.named("FeedInput"), isRequired: false),
                [made],
                refusals: [409]), create)
        routes.on(
            .get, "/v1/circles/{circle}/feeds",
            Operation("listFeeds", "List one's feeds of a circle", .circle(.read), .scope(.feeds), query: .page, [.list(of: feed)]),
            list)
        routes.on(.get, "/v1/feeds/{id}", Operation("getFeed", "Read a feed", .feed, .scope(.feeds), [.ok(feed)], hasTag: true), get)
        routes.on(
            .patch, "/v1/feeds/{id}",
            Operation(
                "changeFeed", "Change a feed", .feed, .scope(.feeds), body: .json(.named("FeedChange")), [.ok(feed)], refusals: [409],
                hasTag: true), change)
        routes.on(
            .delete, "/v1/feeds/{id}",
            Operation("deleteFeed", "Remove a feed for good", .feed, .scope(.feeds), [.noContent], hasTag: true), delete)
        routes.on(
            .post, "/v1/feeds/{id}/regenerate",
            Operation(
                "regenerateFeed", "Give a feed a new address", .feed, .scope(.feeds),
                details: "The old one ends now, or after the grace.",
                body: .json(.named("Regeneration"), isRequired: false), [.ok(new)], refusals: [409]), regenerate)
        routes.on(
            .post, "/v1/feeds/{id}/revoke", Operation("revokeFeed", "End a feed now", .feed, .scope(.feeds), [.ok(feed)]), revoke)
        routes.on(
            .post, "/v1/feeds/{id}/reveal",
            Operation(
                "revealFeed", "Show a feed's address again", .feed, .scope(.feeds), [.ok(.named("FeedLinks"))], refusals: [409]), reveal
        )
        routes.on(
            .get, "/v1/feeds/{id}/accesses",
            Operation(
                "listAccesses", "Who read a feed, the latest first", .feed, .scope(.feeds), query: .page,
                [.list(of: .named("FeedAccess"))]), accesses)
    }

    private static let mint = "One user gets addresses of feeds"

    @Sendable
    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, caller, now) = (try context.identifier("circle"), try context.caller().identity, services.now())
        var fields = FieldReader(try await request.json(context))
        let label = fields.text("label")
        let expiresAt = Self.expiry(&fields, now: now)
        let named = fields.identifier("userId")
        if caller.userID == nil, named == nil, !fields.has("userId") {
            fields.fault(
                "userId", code: .required, "The host application says whose feed it is: here, or in Kalends-User.")
        }
        if let user = caller.userID, let named, named != user {
            fields.fault("userId", code: .contradiction, "A feed is made for oneself.")
        }
        var configuration = FeedConfiguration()
        if let value = fields.value("config") {
            var faults = FaultList()
            configuration.update(from: value, faults: &faults)
            fields.add(faults)
        }
        fields.finish()
        try fields.check()
        guard let user = caller.userID ?? named else { throw Refusal.invalid(fields.faults) }
        let new = FeedLedger.NewFeed(
            circleID: circleID, userID: user, label: label, config: try configuration.stored(), expiresAt: expiresAt)
        let (ledger, chosen, actor) = (services.ledger, configuration, try context.caller().actor)
        let most = services.settings.quotas.held(to: caller).feedsPerUser
        if let user = caller.userID { try services.mints.take(user, now: now, Self.mint) }
        let (feed, token) = try await services.store.write { transaction in
            transaction.concerns(circle: circleID)
            _ = try Rights.circle(circleID, for: caller, .read, in: transaction)
            guard try transaction.member(user, in: circleID) != nil else {
                throw Refusal.invalid("/userId", code: .unknownReference, "The circle has no such member.")
            }
            try Self.checkPatients(of: chosen, in: circleID, transaction)
            do {
                let made = try ledger.create(new, in: transaction, now: now)
                if try transaction.feedCount(of: user, in: circleID) > most {
                    throw Refusal.quota("A user has", most, "feeds in a circle, counting those that have ended")
                }
                try AuditTrail.note(
                    .feedCreated, made.0.id, circle: circleID, detail: ["user": .string(user)], by: actor,
                    in: transaction, now: now)
                return made
            } catch FeedLedger.Refusal.labelTaken(let first) {
                throw Refusal.conflict(
                    "This user has a feed of this circle \(new.label == nil ? "without a label" : "with this label"): "
                        + "\(first). Give another label, or use that one.", code: .labelTaken,
                    extra: ["feedId": .string(first)])
            }
        }
        let name = try await circleName(circleID)
        var json = try CountedFeed(feed).json.object ?? [:]
        json.merge(services.settings.links(token, name: name)) { _, new in new }
        json["token"] = .string(token.reveal())
        return try .json(.object(json), status: .created, headers: [.location: "/v1/feeds/\(feed.id)"])
    }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, caller, page) = (try context.identifier("circle"), try context.caller().identity, try Page(request))
        let now = services.now()
        let found = try await Feeds(services: services)
            .list(in: circleID, for: caller, after: page.after, limit: page.fetchLimit)
        return try page.answer(found, key: \.feed.feed.id) { .object(try $0.json(now: now)) }
    }

    @Sendable
    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller().identity)
        let shown = try await Feeds(services: services).feed(id, for: caller)
        // The tag is over what a client can change: a poll of the feed must not make an update stale.
        return try .resource(
            .object(try shown.json(now: services.now())), for: request, etag: try shown.feed.feed.etag)
    }

    @Sendable
    private func change(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.identifier("id"), try context.caller().identity, services.now())
        let (body, headers, actor) = (try await request.json(context), request.headers, try context.caller().actor)
        await foldIfPossible()
        let told = try await services.store.write { transaction in
            var feed = try Rights.feed(id, for: caller, in: transaction)
            transaction.concerns(circle: feed.circleID)
            try ConditionalGet.checkPreconditions(headers, etag: try feed.etag)
            var fields = FieldReader(body)
            let (old, oldLabel) = (try FeedConfiguration(stored: feed.config), feed.label)
            var configuration = old
            if let value = fields.value("config") {
                var faults = FaultList()
                configuration.update(from: value, faults: &faults)
                fields.add(faults)
            }
            if body["label"] == .null { feed.label = nil }
            feed.label = fields.text("label") ?? feed.label
            let oldExpiry = feed.expiresAt
            if body["expiresAt"] == .null { feed.expiresAt = nil }
            feed.expiresAt = Self.expiry(&fields, now: now) ?? feed.expiresAt
            let isSeen = fields.value("attention") != nil
            if isSeen, body["attention"] != .array([]) {
                fields.fault("attention", code: .outOfRange, "This can only be cleared: [].")
            }
            fields.finish()
            try fields.check()
            let hasCleared = isSeen ? try transaction.clearAttention(of: id, now: now) : false
            if feed.revokedAt == nil,
                let other = try transaction.feed(labelled: feed.label, of: feed.userID, in: feed.circleID),
                other.id != feed.id
            {
                throw Refusal.conflict(
                    "This user has another feed with this label: \(other.id).", code: .labelTaken,
                    extra: ["feedId": .string(other.id)])
            }
            if configuration.patientIds != old.patientIds {
                try Self.checkPatients(of: configuration, in: feed.circleID, transaction)
            }
            if configuration != old {
                feed.config = try configuration.stored()
                // Two changes within a millisecond are two states.
                feed.configChangedAt = max(now, feed.configChangedAt + 1)
                if configuration.showsEventsDifferently(from: old) {
                    feed.sequenceOffset += 1
                    feed.shownChangedAt = now
                }
            }
            if feed.expiresAt != oldExpiry { try transaction.touchNotices(of: id, now: now) }
            feed.updatedAt = now
            try transaction.updateFeed(feed)
            try AuditTrail.noteChange(
                .feedChanged, id, circle: feed.circleID,
                [
                    "attention": hasCleared, "config": configuration != old, "expiresAt": feed.expiresAt != oldExpiry,
                    "label": feed.label != oldLabel,
                ], by: actor, in: transaction, now: now)
            return try CountedFeed(feed, in: transaction)
        }
        return try .resource(try told.json, etag: try told.feed.etag)
    }

    @Sendable
    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.identifier("id"), try context.caller().identity, services.now())
        let (headers, actor) = (request.headers, try context.caller().actor)
        try await services.store.write { transaction in
            let feed = try Rights.feed(id, for: caller, in: transaction)
            transaction.concerns(circle: feed.circleID)
            try ConditionalGet.checkPreconditions(headers, etag: try feed.etag)
            try transaction.deleteFeed(id, now: now)
            try AuditTrail.note(.feedDeleted, id, circle: feed.circleID, by: actor, in: transaction, now: now)
        }
        return .noContent
    }

    /// How many replaced addresses of a feed work at once.
    private static let mostInGrace = 50

    @Sendable
    private func regenerate(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.identifier("id"), try context.caller().identity, services.now())
        var fields = FieldReader(try await request.json(context))
        let grace = fields.integer("graceSeconds", in: 0...2_592_000) ?? 0
        fields.finish()
        try fields.check()
        let (ledger, actor) = (services.ledger, try context.caller().actor)
        if let user = caller.userID { try services.mints.take(user, now: now, Self.mint) }
        await foldIfPossible()
        let (told, token, name) = try await services.store.write { transaction in
            let feed = try Rights.feed(id, for: caller, in: transaction)
            transaction.concerns(circle: feed.circleID)
            if grace > 0, try transaction.tokensInGrace(of: id, now: now) >= Self.mostInGrace {
                throw Refusal.conflict(
                    "\(Self.mostInGrace) former addresses of this feed still work; no more can. Regenerate it without a grace.",
                    code: .limitReached)
            }
            let token: Secret
            do {
                token = try ledger.regenerate(feed, graceSeconds: grace, in: transaction, now: now)
            } catch FeedLedger.Refusal.revoked {
                throw Refusal.conflict("This feed is revoked. Make a new one.", code: .feedRevoked)
            } catch FeedLedger.Refusal.expired {
                throw Refusal.conflict("This feed has expired. Give it a later expiresAt first.", code: .feedExpired)
            }
            try AuditTrail.note(
                .feedRegenerated, id, circle: feed.circleID, detail: ["former": grace > 0 ? "grace" : "ended"],
                by: actor, in: transaction, now: now)
            guard let new = try transaction.feed(id) else { throw Refusal.missing(.feed) }
            return (
                try CountedFeed(new, in: transaction), token, try transaction.circle(feed.circleID)?.name ?? ""
            )
        }
        var json = try told.json.object ?? [:]
        json.merge(services.settings.links(token, name: name)) { _, new in new }
        json["token"] = .string(token.reveal())
        return try .json(.object(json))
    }

    @Sendable
    private func revoke(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.identifier("id"), try context.caller().identity, services.now())
        let actor = try context.caller().actor
        await foldIfPossible()
        let told = try await services.store.write { transaction in
            let former = try Rights.feed(id, for: caller, in: transaction)
            transaction.concerns(circle: former.circleID)
            try transaction.revokeFeed(id, now: now)
            if former.revokedAt == nil {
                try AuditTrail.note(.feedRevoked, id, circle: former.circleID, by: actor, in: transaction, now: now)
            }
            guard let feed = try transaction.feed(id) else { throw Refusal.missing(.feed) }
            return try CountedFeed(feed, in: transaction)
        }
        return try .json(try told.json)
    }

    @Sendable
    private func reveal(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.identifier("id"), try context.caller().identity, services.now())
        let (ledger, actor) = (services.ledger, try context.caller().actor)
        let (token, name) = try await services.store.write { transaction in
            let feed = try Rights.feed(id, for: caller, in: transaction)
            transaction.concerns(circle: feed.circleID)
            if feed.revokedAt != nil {
                throw Refusal.conflict("This feed is revoked; its address opens nothing.", code: .feedRevoked)
            }
            let token: Secret
            do {
                token = try ledger.reveal(feed, in: transaction, now: now)
            } catch SealingKey.Failure.wrongKey {
                throw Refusal.conflict(
                    "This address was sealed with another key than the server has. Regenerate the feed for a new one.",
                    code: .sealedByAnotherKey)
            }
            try AuditTrail.note(.feedRevealed, id, circle: feed.circleID, by: actor, in: transaction, now: now)
            return (token, try transaction.circle(feed.circleID)?.name ?? "")
        }
        return try .json(.object(services.settings.links(token, name: name)))
    }

    @Sendable
    private func accesses(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, page) = (try context.identifier("id"), try context.caller().identity, try Page(request))
        let before = try page.number ?? Int.max
        let found = try await Feeds(services: services)
            .accesses(of: id, for: caller, before: before, limit: page.fetchLimit)
        return try page.answer(found, key: { String($0.number) }, json: \.json)
    }

    /// Brings the counts that a change's answer shows up to date. A change never waits for them: that a feed ends
    /// must not depend on how often it was read.
    private func foldIfPossible() async { try? await services.counter.fold() }

    /// Throws 422 for a patient whom the circle never had: a slip would make an empty calendar.
    private static func checkPatients(
        of configuration: FeedConfiguration, in circle: String, _ transaction: any ReadTransaction
    ) throws {
        let faults = try (configuration.patientIds ?? []).enumerated().filter {
            try transaction.patientEverKnown($0.element, in: circle) == nil
        }
        if !faults.isEmpty {
            throw Refusal.invalid(
                faults.map {
                    Fault(
                        pointer: "/config/patientIds/\($0.offset)", code: .unknownReference,
                        message: "The circle has no such patient.")
                })
        }
    }

    private func circleName(_ id: String) async throws -> String {
        try await services.store.read { try $0.circle(id)?.name ?? "" }
    }

    private static func expiry(_ fields: inout FieldReader, now: Int) -> Int? {
        guard let instant = fields.instant("expiresAt") else { return nil }
        if instant.milliseconds <= now { fields.fault("expiresAt", code: .outOfRange, "This must lie ahead.") }
        return instant.milliseconds
    }
}

extension RouteTable.Section {
    static let feeds = Self(
        name: "Feeds", about: "Secret addresses that calendar apps subscribe to: made, watched, renewed, ended.")
}
