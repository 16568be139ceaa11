// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Storage

/// The circles themselves.
struct CircleRoutes: Sendable {
    let circles: Circles

    func add(to routes: inout RouteTable) {
        routes.section(.circles)
        let (circle, one): (String, Schema) = ("/v1/circles/{circle}", .named("Circle"))
        routes.on(
            .get, "/v1/circles", "listCircles", "List circles", .caller, .scope(.readSchedule), query: .page,
            [.list(of: one)], list)
        routes.on(
            .get, circle, "getCircle", "Read a circle", .circle(.read), .scope(.readSchedule), [.ok(one)], hasTag: true,
            get)
        routes.on(
            .put, circle, "putCircle", "Create or change a circle", .circle(.manage), .scope(.manageCircles),
            details: "Only the host application can create a circle.", body: .json(.named("CircleInput")),
            [.ok(one), .created(one)], refusals: [409], hasTag: true, put)
        routes.on(
            .delete, circle, "deleteCircle", "Delete a circle with everything in it", .circle(.manage),
            .scope(.manageCircles), [.noContent], hasTag: true, delete)
    }

    static let body = InputBody(
        .required("name", .text()), .required("timeZone", .timeZone), ignoring: ["id", "createdAt", "updatedAt"],
        example: ["name": "The Millers", "timeZone": "America/Los_Angeles"])

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let page = try Page(request, context)
        let found = try await circles.list(page.request, for: try context.caller())
        return try page.answer(found, key: \.id, json: \.json)
    }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let circle = try await circles.get(try context.identifier("circle"), for: try context.caller())
        return try .resource(circle.json, for: request)
    }

    private func put(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.newIdentifier("circle"), try context.caller())
        let (name, zone) = try Self.body.read(try await request.json(context))
        let (circle, isNew) = try await circles.put(
            id, name: name, timeZone: zone, if: request.condition { try $0.json.etag }, for: caller)
        return try .resource(circle.json, isNew: isNew)
    }

    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try await circles.delete(
            try context.identifier("circle"), if: request.condition { try $0.json.etag }, for: try context.caller())
        return .noContent
    }
}

extension RouteTable.Section {
    static let circles = Self(
        name: "Circles", about: "A family, a ward or a team: its members, and the patients it cares for.")
}
