// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Storage

/// What was imported into a circle, the latest first.
struct ImportListRoute: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.imports)
        routes.on(
            .get, "/v1/circles/{circle}/imports",
            Operation(
                "listImports", "What was imported, the latest first", .circle(.read), query: .page,
                [.list(of: .named("Import"))]), list)
    }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, caller) = (try context.identifier("circle"), try context.caller())
        let page = try Page(request)
        let cursor = try Self.cursor(page.after)
        let found = try await services.store.read { transaction in
            _ = try Rights.circle(circleID, for: caller, .read, in: transaction)
            return try transaction.imports(in: circleID, after: cursor, limit: page.fetchLimit)
        }
        return try page.answer(found) {
            "\($0.createdAt) \($0.id)"
        } json: { record in
            try record.listed(services.importDesk.progress(record.id))
        }
    }

    private static func cursor(_ text: String) throws -> (createdAt: Int, id: String)? {
        guard !text.isEmpty else { return nil }
        let sides = text.split(separator: " ", maxSplits: 1)
        guard sides.count == 2, let time = Int(sides[0]) else {
            throw Refusal.invalid("/query/cursor", "This is not a cursor that a list gave.")
        }
        return (time, String(sides[1]))
    }
}
