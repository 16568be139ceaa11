// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Storage

/// The changes in a circle, for programs that keep a copy of it.
struct ChangeRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(
            RouteTable.Section(
                name: "Changes", about: "Changes in circles, which can be listed or sent by signed webhooks."))
        let number = Schema.integer(0...Int.max)
        routes.on(
            .get, "/v1/circles/{circle}/changes",
            Operation(
                "listChanges", "List the changes in a circle after a number", .circle(.read), .scope(.readSchedule),
                query: [
                    .init(name: "since", schema: number.defaulting(to: 0)), .init(name: "cursor", schema: number),
                    .init(name: "limit", schema: Schema.integer(1...1000).defaulting(to: 100)),
                ], [.ok(.named("Changes"))], refusals: [410]), list)
    }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, caller) = (try context.identifier("circle"), try context.caller())
        let limit = try request.queryInteger("limit", in: 1...1000, default: 100)
        // A list's cursor and a number are the same here; both are checked, and the cursor takes precedence.
        let asked = try request.queryInteger("since", in: 0...Int.max, default: 0)
        let since = try request.queryInteger("cursor", in: 0...Int.max, default: asked)
        let (found, latest) = try await services.changes.list(in: circle, after: since, limit: limit + 1, for: caller)
        let shown = found.prefix(limit)
        return try .json([
            "items": .array(shown.map(\.json)), "latest": .integer(latest),
            "nextCursor": found.count > limit ? JSONValue(shown.last.map { String($0.number) }) : .null,
        ])
    }
}
