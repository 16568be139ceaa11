// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Storage

/// The addresses that changes are sent to, only for host applications.
struct WebhookRoutes: Sendable {
    let webhooks: Webhooks

    func add(to routes: inout RouteTable) {
        routes.section(
            RouteTable.Section(
                name: "Webhooks", about: "The addresses that changes are sent to, and the messages with their attempts."
            ))
        let (path, hook, new): (String, Schema, Schema) = ("/v1/webhooks", .named("Webhook"), .named("NewWebhook"))
        var made = Operation.Reply.created(new, "The webhook was made; the answer has its secret.")
        made.headers = ["Location"]
        routes.on(
            .get, path, "listWebhooks", "List webhooks", .installation, .wholeKey, query: .page, [.list(of: hook)], list
        )
        routes.on(
            .post, path, "createWebhook", "Create a webhook", .installation, .wholeKey,
            body: .json(.named("WebhookInput")), [made], refusals: [409], create)
        routes.on(
            .get, "\(path)/{id}", "getWebhook", "Read a webhook", .installation, .wholeKey, [.ok(hook)], hasTag: true,
            get)
        routes.on(
            .patch, "\(path)/{id}", "changeWebhook", "Change, disable or enable a webhook", .installation, .wholeKey,
            body: .json(.named("WebhookChange"), isRequired: false), [.ok(hook)], hasTag: true, change)
        routes.on(
            .delete, "\(path)/{id}", "deleteWebhook", "Delete a webhook", .installation, .wholeKey, [.noContent],
            hasTag: true, delete)
        routes.on(
            .post, "\(path)/{id}/rotate", "rotateWebhook", "Give a webhook a new secret", .installation, .wholeKey,
            details: "During the grace period both secrets sign.", body: .json(.named("Rotation"), isRequired: false),
            [.ok(new)], rotate)
        routes.on(
            .post, "\(path)/{id}/test", "testWebhook", "Send a test message without changes", .installation, .wholeKey,
            [
                .init(
                    status: 202, text: "The message is being sent.", type: "application/json",
                    schema: .named("Delivery"))
            ], refusals: [409], test)
        routes.on(
            .get, "\(path)/{id}/deliveries", "listDeliveries", "List the messages sent, the latest first",
            .installation,
            .wholeKey, query: .page, [.list(of: .named("Delivery"))], deliveries)
    }

    static let rotation = InputBody(
        .number("graceSeconds", 0...2_592_000, or: 86_400), example: ["graceSeconds": 3600])

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let page = try Page(request, context)
        let found = try await webhooks.list(page.request, for: try context.caller())
        return try page.answer(found, key: \.hook.id, json: \.json)
    }

    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let caller = try context.caller()
        let draft = try Webhooks.Draft(try await request.json(context))
        return try await context.answering { made in
            try .json(
                .object(made.json), status: .created, headers: [.location: "/v1/webhooks/\(made.shown.hook.id)"])
        } to: {
            try await webhooks.create(draft, for: caller)
        }
    }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (shown, pending) = try await webhooks.get(try context.identifier("id"), for: try context.caller())
        var json = Webhooks.Shown.view.members(of: shown)
        json["pending"] = .integer(pending)
        return try .resource(.object(json), for: request, etag: try shown.etag)
    }

    private func change(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let change = try Webhooks.Change(try await request.json(context))
        let shown = try await webhooks.change(id, change, if: request.condition { try $0.etag }, for: caller)
        return try .resource(shown.json, etag: try shown.etag)
    }

    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try await webhooks.delete(
            try context.identifier("id"), if: request.condition { try $0.etag }, for: try context.caller())
        return .noContent
    }

    private func rotate(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let grace = try Self.rotation.read(try await request.json(context))
        return try await context.answering { made in
            try .json(.object(made.json))
        } to: {
            try await webhooks.rotate(id, graceSeconds: grace, for: caller)
        }
    }

    private func test(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try await context.answering { delivery in
            try .json(delivery.json, status: .accepted)
        } to: {
            try await webhooks.test(try context.identifier("id"), for: try context.caller())
        }
    }

    private func deliveries(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, page) = (try context.identifier("id"), try context.caller(), try Page(request, context))
        let before = try page.number ?? Int.max
        let found = try await webhooks.deliveries(of: id, before: before, limit: page.fetchLimit, for: caller)
        return try page.answer(found, key: { String($0.ordinal) }, json: \.json)
    }
}
