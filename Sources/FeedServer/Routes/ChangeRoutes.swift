// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import Storage

/// What happened in a circle, for programs that keep a copy of it.
struct ChangeRoutes: Sendable {
    /// How long changes are kept, and how many of a circle.
    static let keptDays = 90
    static let keptCount = 100_000

    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(
            RouteTable.Section(name: "Changes", about: "What happened, to ask for and sent by signed webhooks."))
        let number = Schema.integer(0...Int.max)
        routes.on(
            .get, "/v1/circles/{circle}/changes",
            Operation(
                "listChanges", "What changed in a circle after a number", .circle(.read), .scope(.readSchedule),
                query: [
                    .init(name: "since", schema: number.defaulting(to: 0)), .init(name: "cursor", schema: number),
                    .init(name: "limit", schema: Schema.integer(1...1000).defaulting(to: 100)),
                ], [.ok(.named("Changes"))], refusals: [410]), list)
    }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, caller) = (try context.identifier("circle"), try context.caller().identity)
        let limit = try request.queryInteger("limit", in: 1...1000, default: 100)
        // A list's cursor and a number are the same here; both are looked at, and the cursor counts.
        let asked = try request.queryInteger("since", in: 0...Int.max, default: 0)
        let since = try request.queryInteger("cursor", in: 0...Int.max, default: asked)
        let (found, latest) = try await services.store.read { transaction in
            _ = try Rights.circle(circleID, for: caller, .read, in: transaction)
            let (oldest, latest) = try transaction.changeNumbers(in: circleID)
            // Ahead of all there is: the database was put back to what it was before.
            guard since <= latest, since + 1 >= oldest else {
                throw Refusal(
                    .gone, code: .changesForgotten,
                    detail: "Changes after this number are not known any more. Read the circle again, then go on from "
                        + "latest.", extra: ["oldest": .integer(oldest), "latest": .integer(latest)])
            }
            let found = try transaction.changes(
                in: circleID, after: since, seenBy: caller.userID, limit: limit + 1)
            return (found, latest)
        }
        let shown = found.prefix(limit)
        return try .json([
            "items": .array(shown.map(\.json)), "latest": .integer(latest),
            "nextCursor": found.count > limit ? JSONValue(shown.last.map { String($0.number) }) : .null,
        ])
    }
}

extension CircleChange {
    var json: JSONValue {
        var members: [ByteString: JSONValue] = [
            "number": .integer(number), "at": JSONValue(milliseconds: at), "type": .string(subject.rawValue),
            "change": .string(kind.rawValue),
        ]
        if let collection { members["collection"] = .string(collection) }
        if let id { members["id"] = .string(id) }
        if let part { members["occurrence"] = .string(part) }
        return .object(members)
    }
}
