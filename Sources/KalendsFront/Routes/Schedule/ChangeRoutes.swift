// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Storage

/// The changes in a circle, or in all circles, for programs that keep a copy of them.
struct ChangeRoutes: Sendable {
    let changes: CircleChanges
    let streams: ChangeStreams
    let quotas: Quotas

    func add(to routes: inout RouteTable) {
        routes.section(
            RouteTable.Section(
                name: "Changes",
                about: "Changes in circles, which can be listed, streamed, or sent by signed webhooks."))
        routes.on(
            .get, "/v1/circles/{circle}/changes",
            operation(
                "listChanges", "List or stream the changes in a circle after a number", .circle(.read),
                .named("Changes"))
        ) { request, context in
            try await answer(request, context, in: try context.identifier("circle"))
        }
        routes.on(
            .get, "/v1/changes",
            operation(
                "listAllChanges", "List or stream the changes in all circles after a number", .installation,
                .named("AllChanges"))
        ) { request, context in
            try await answer(request, context, in: nil)
        }
    }

    private func operation(_ id: String, _ summary: String, _ access: Access, _ changes: Schema) -> Operation {
        let number = Schema.integer(0...Int.max)
        let events = Operation.Reply(
            status: 200, text: "Done.", type: ChangeEvents.mediaType,
            schema: Schema.string.described(
                "Events `change` with the change's number as `id` and the change as `data`."))
        return Operation(
            id, summary, access, .scope(.readSchedule),
            details: "With `Accept: text/event-stream` the answer is a stream, which goes on after the number in the "
                + "field `Last-Event-ID` or in `since`, and begins with the next change without them.",
            query: [
                .init(name: "since", schema: number.defaulting(to: 0)), .init(name: "cursor", schema: number),
                .init(name: "limit", schema: Schema.integer(1...1000).defaulting(to: 100)),
            ], [.ok(changes), events], refusals: [410])
    }

    private func answer(_ request: Request, _ context: KalendsContext, in circle: String?) async throws -> Response {
        let caller = try context.caller()
        if request.acceptsEvents { return try await stream(request, context, in: circle, for: caller) }
        let limit = try request.queryInteger("limit", in: 1...1000, default: 100)
        // A list's cursor and a number are the same here; both are checked, and the cursor takes precedence.
        let asked = try request.queryInteger("since", in: 0...Int.max, default: 0)
        let since = try request.queryInteger("cursor", in: 0...Int.max, default: asked)
        let found = try await changes.list(in: circle, after: since, limit: limit + 1, for: caller)
        let shown = found.changes.prefix(limit)
        let next = found.changes.count > limit ? shown.last : nil
        return try .json([
            "items": .array(shown.map { circle == nil ? $0.jsonAmongAll : $0.json }),
            "latest": .integer(found.latest),
            "nextCursor": JSONValue(next.map { String(circle == nil ? $0.sequence : $0.number) }),
        ])
    }

    private func stream(
        _ request: Request, _ context: KalendsContext, in circle: String?, for caller: Caller
    ) async throws -> Response {
        let asked = try request.position()
        // From here on it is woken, so that no change is missed after those that are found.
        let stream = try streams.open(circle: circle, for: caller, quotas, isBehind: asked != nil)
        let found = try await changes.list(in: circle, after: asked, limit: 1, for: caller)
        return ChangeEvents(
            changes: changes, circle: circle, caller: caller, start: asked ?? found.latest, stream: stream,
            context: context
        ).response
    }
}
