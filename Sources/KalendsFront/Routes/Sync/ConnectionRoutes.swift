// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Storage

/// A user's connections to calendars that are kept in step with a circle.
struct ConnectionRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.connections)
        let one = Schema.named("Connection")
        let path = "/v1/circles/{circle}/connections"
        routes.on(
            .get, path, "listConnections", "List the user's connections in a circle", .circle(.read),
            .scope(.connections), details: "`providers` lists what can be connected on this server.", query: .page,
            [.ok(.named("Connections"), "One page.")], list)
        var made = Operation.Reply.created(one)
        made.headers = ["Location"]
        routes.on(
            .post, path, "createConnection", "Create a connection", .circle(.read), .scope(.connections),
            details: "A connection of `apple` is active at once; the others need an account and a calendar.",
            body: .json(.named("ConnectionInput")), [made], refusals: [409], create)
        routes.on(
            .get, "/v1/connections/{id}", "getConnection", "Read a connection", .connection, .scope(.connections),
            [.ok(one)], hasTag: true, get)
        routes.on(
            .patch, "/v1/connections/{id}", "changeConnection", "Change, pause or resume a connection", .connection,
            .scope(.connections), body: .json(.named("ConnectionChange")), [.ok(one)], refusals: [409], hasTag: true,
            change)
        routes.on(
            .delete, "/v1/connections/{id}", "deleteConnection", "End a connection", .connection, .scope(.connections),
            details: "Its secrets are removed, and revoked at the provider unless another connection uses the same "
                + "account. With `events=remove`, a last run deletes the connection's events from the calendar.",
            query: [.init(name: "events", schema: Schema.one(of: ["keep", "remove"]).defaulting(to: "keep"))],
            [.noContent], hasTag: true, delete)
    }

    private var connections: Connections { services.connections }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, caller, page) = (
            try context.identifier("circle"), try context.caller(), try Page(request, context)
        )
        let found = try await connections.list(page.request, in: circle, for: caller)
        let providers = try services.settings.connections.json.serialized()
        return try page.answer(found, key: \.own.id, beside: [("providers", providers)]) {
            try $0.json(services.settings.kinds)
        }
    }

    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, caller) = (try context.identifier("circle"), try context.caller())
        let draft = Connections.Draft(try await request.json(context), services.settings.kinds)
        return try await context.answering { made in
            try .json(
                try made.json(services.settings.kinds), status: .created,
                headers: [.location: "/v1/connections/\(made.own.id)"])
        } to: {
            try await connections.create(draft, in: circle, for: caller)
        }
    }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let shown = try await connections.get(try context.identifier("id"), for: try context.caller())
        return try .resource(try shown.json(services.settings.kinds), for: request, etag: try shown.own.etag)
    }

    private func change(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let change = Connections.Change(try await request.json(context), services.settings.kinds)
        let shown = try await connections.change(id, change, if: request.condition { try $0.etag }, for: caller)
        return try .resource(try shown.json(services.settings.kinds), etag: try shown.own.etag)
    }

    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let removes: Bool
        switch request.uri.queryParameters["events"].map(String.init) {
        case nil, "keep": removes = false
        case "remove": removes = true
        default: throw Refusal.invalid("/query/events", code: .notAChoice, "This must be one of keep, remove.")
        }
        try await connections.delete(
            try context.identifier("id"), removingEvents: removes, if: request.condition { try $0.etag },
            for: try context.caller())
        return .noContent
    }
}

extension RouteTable.Section {
    static let connections = Self(
        name: "Connections", about: "People's calendars at Google, Outlook, CalDAV servers and on phones, kept in step."
    )
}
