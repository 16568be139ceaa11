// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore

/// A circle's imports, the latest first.
struct ImportListRoute: Sendable {
    let imports: Imports

    func add(to routes: inout RouteTable) {
        routes.section(.imports)
        routes.on(
            .get, "/v1/circles/{circle}/imports", "listImports", "List imports, the latest first", .circle(.read),
            .scope(.imports), query: .page, [.list(of: .named("Import"))], list)
    }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, caller) = (try context.identifier("circle"), try context.caller())
        let page = try Page(request, context)
        let cursor = try Self.cursor(page.after)
        let text = try await imports.list(in: circleID, for: caller, after: cursor) { fetch in
            try page.filled(
                key: { "\($0.createdAt.milliseconds) \($0.id)" }, json: \.json, fetch)
        }
        return text.response
    }

    private static func cursor(_ text: String) throws -> (createdAt: Int, id: String)? {
        guard !text.isEmpty else { return nil }
        let sides = text.split(separator: " ", maxSplits: 1)
        guard sides.count == 2, let time = Int(sides[0]) else {
            throw Refusal.invalid("/query/cursor", code: .invalidCursor, "This is not a cursor from a list.")
        }
        return (time, String(sides[1]))
    }
}
