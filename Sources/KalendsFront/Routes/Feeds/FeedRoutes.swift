// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Storage

/// A user's feeds: creating, listing, changing and ending them, showing them again, and giving them new addresses.
struct FeedRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.feeds)
        let (feed, new): (Schema, Schema) = (.named("Feed"), .named("NewFeed"))
        var made = Operation.Reply.created(new, "The feed was made; the answer has its secret address.")
        made.headers = ["Location"]
        routes.on(
            .post, "/v1/circles/{circle}/feeds", "createFeed", "Create a feed", .circle(.read), .scope(.feeds),
            body: .json(.named("FeedInput"), isRequired: false), [made], refusals: [409], create)
        routes.on(
            .get, "/v1/circles/{circle}/feeds", "listFeeds", "List the user's feeds in a circle", .circle(.read),
            .scope(.feeds), query: .page, [.list(of: feed)], list)
        routes.on(
            .get, "/v1/feeds/{id}", "getFeed", "Read a feed", .feed, .scope(.feeds), [.ok(feed)], hasTag: true, get)
        routes.on(
            .patch, "/v1/feeds/{id}", "changeFeed", "Change a feed", .feed, .scope(.feeds),
            body: .json(.named("FeedChange")), [.ok(feed)], refusals: [409], hasTag: true, change)
        routes.on(
            .delete, "/v1/feeds/{id}", "deleteFeed", "Remove a feed for good", .feed, .scope(.feeds), [.noContent],
            hasTag: true, delete)
        routes.on(
            .post, "/v1/feeds/{id}/regenerate", "regenerateFeed", "Give a feed a new address", .feed, .scope(.feeds),
            details: "The old address ends now, or after the grace period.",
            body: .json(.named("Regeneration"), isRequired: false), [.ok(new)], refusals: [409], regenerate)
        routes.on(
            .post, "/v1/feeds/{id}/revoke", "revokeFeed", "End a feed now", .feed, .scope(.feeds), [.ok(feed)], revoke)
        routes.on(
            .post, "/v1/feeds/{id}/reveal", "revealFeed", "Show a feed's address again", .feed, .scope(.feeds),
            [.ok(.named("FeedLinks"))], refusals: [409], reveal)
        routes.on(
            .get, "/v1/feeds/{id}/accesses", "listAccesses", "List a feed's accesses, the latest first", .feed,
            .scope(.feeds), query: .page, [.list(of: .named("FeedAccess"))], accesses)
    }

    static let regeneration = InputBody(
        .number("graceSeconds", Feeds.graces, or: 0, "How many seconds the old address keeps working."),
        example: ["graceSeconds": 3600])

    private var feeds: Feeds { services.feeds }

    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, caller) = (try context.identifier("circle"), try context.caller())
        let draft = Feeds.Draft(try await request.json(context), services.settings.kinds)
        return try await context.answering { made in
            try .json(
                .object(try made.json(services.settings)), status: .created,
                headers: [.location: "/v1/feeds/\(made.feed.feed.id)"])
        } to: {
            try await feeds.create(draft, in: circle, for: caller)
        }
    }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, caller, page) = (
            try context.identifier("circle"), try context.caller(), try Page(request, context)
        )
        let now = services.now()
        let found = try await feeds.list(page.request, in: circle, for: caller)
        return try page.answer(found, key: \.feed.feed.id) {
            .object(try $0.json(services.settings.kinds, now: now))
        }
    }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let shown = try await feeds.get(try context.identifier("id"), for: try context.caller())
        // The tag covers what a client can change, so that a poll of the feed does not make an update stale.
        return try .resource(
            .object(try shown.json(services.settings.kinds, now: services.now())), for: request,
            etag: try shown.feed.feed.etag)
    }

    private func change(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let change = Feeds.Change(try await request.json(context), services.settings.kinds)
        let feed = try await feeds.change(id, change, if: request.condition { try $0.etag }, for: caller)
        return try .resource(try feed.json(services.settings.kinds), etag: try feed.feed.etag)
    }

    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try await feeds.delete(
            try context.identifier("id"), if: request.condition { try $0.etag }, for: try context.caller())
        return .noContent
    }

    private func regenerate(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let grace = try Self.regeneration.read(try await request.json(context))
        return try await context.answering { made in
            try .json(.object(try made.json(services.settings)))
        } to: {
            try await feeds.regenerate(id, graceSeconds: grace, for: caller)
        }
    }

    private func revoke(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        return try await context.answering { made in
            try .json(try made.json(services.settings.kinds))
        } to: {
            try await feeds.revoke(id, for: caller)
        }
    }

    private func reveal(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        return try await context.answering { address in
            try .json(services.settings.links(address.token, name: address.circleName).json)
        } to: {
            try await feeds.reveal(id, for: caller)
        }
    }

    private func accesses(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, page) = (try context.identifier("id"), try context.caller(), try Page(request, context))
        let before = try page.number ?? Int.max
        let found = try await feeds.accesses(of: id, before: before, limit: page.fetchLimit, for: caller)
        return try page.answer(found, key: { String($0.number) }, json: \.json)
    }
}

extension RouteTable.Section {
    static let feeds = Self(
        name: "Feeds",
        about: "Secret addresses that calendar apps subscribe to: creating, monitoring, renewing and ending them.")
}
