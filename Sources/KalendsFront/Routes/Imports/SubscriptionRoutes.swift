// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Logging
import Storage

/// The external calendars that a circle follows.
struct SubscriptionRoutes: Sendable {
    let subscriptions: Subscriptions
    let settings: ServerSettings

    func add(to routes: inout RouteTable) {
        routes.section(.imports)
        let (path, one): (String, Schema) = ("/v1/circles/{circle}/subscriptions", .named("Subscription"))
        routes.on(
            .get, path, "listSubscriptions", "List the calendars that a circle follows", .circle(.read),
            .scope(.imports), query: .page, [.list(of: one)], list)
        routes.on(
            .post, path, "createSubscription", "Follow an external calendar", .circle(.write), .scope(.imports),
            details: "Its events are added, changed and removed as the calendar changes.",
            body: .json(.named("SubscriptionInput")), [.created(one)], refusals: [409], create)
        routes.on(
            .get, "\(path)/{subscription}", "getSubscription", "Read a subscription", .circle(.read), .scope(.imports),
            [.ok(one)], hasTag: true, get)
        routes.on(
            .patch, "\(path)/{subscription}", "changeSubscription", "Change or pause a subscription", .circle(.write),
            .scope(.imports), body: .json(.named("SubscriptionChange"), isRequired: false), [.ok(one)], hasTag: true,
            change)
        routes.on(
            .delete, "\(path)/{subscription}", "deleteSubscription", "Stop following a calendar", .circle(.write),
            .scope(.imports), details: "Its events are removed too.", [.noContent], hasTag: true, delete)
        routes.on(
            .post, "\(path)/{subscription}/refresh", "refreshSubscription", "Fetch a calendar now", .circle(.write),
            .scope(.imports),
            details: "`lastProblem` has the reason for a failure. A request during a fetch gets that fetch's result.",
            [.ok(one)], refusals: [409], refresh)
    }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, caller, page) = (
            try context.identifier("circle"), try context.caller(), try Page(request, context)
        )
        let found = try await subscriptions.list(page.request, in: circle, for: caller)
        return try page.answer(found, key: \.own.id, json: \.json)
    }

    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, caller) = (try context.identifier("circle"), try context.caller())
        let draft = Subscriptions.Draft(try await request.json(context), settings.kinds)
        return try await context.answering { made in
            try .json(
                made.json, status: .created,
                headers: [.location: "/v1/circles/\(circle)/subscriptions/\(made.own.id)"])
        } to: {
            try await subscriptions.create(draft, in: circle, for: caller)
        }
    }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, id) = try Self.pathParts(context)
        let shown = try await subscriptions.get(id, in: circle, for: try context.caller())
        return try .resource(shown.json, for: request, etag: try shown.own.etagOfWishes)
    }

    private func change(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let ((circle, id), caller) = (try Self.pathParts(context), try context.caller())
        let change = Subscriptions.Change(try await request.json(context), settings.kinds)
        let shown = try await subscriptions.change(
            id, in: circle, change, if: request.condition { try $0.etagOfWishes }, for: caller)
        return try .resource(shown.json, etag: try shown.own.etagOfWishes)
    }

    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, id) = try Self.pathParts(context)
        try await subscriptions.delete(
            id, in: circle, if: request.condition { try $0.etagOfWishes }, for: try context.caller())
        return .noContent
    }

    private func refresh(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let ((circle, id), caller) = (try Self.pathParts(context), try context.caller())
        let shown = try await context.awaiting {
            try await subscriptions.refresh(id, in: circle, for: caller, from: context.sender, context.logger)
        }
        return try .json(shown.json)
    }

    private static func pathParts(_ context: KalendsContext) throws -> (circle: String, id: String) {
        (try context.identifier("circle"), try context.identifier("subscription"))
    }
}
