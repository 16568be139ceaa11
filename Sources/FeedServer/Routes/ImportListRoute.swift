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
        let desk = services.importDesk
        return try await services.store.read { transaction in
            _ = try Rights.circle(circleID, for: caller, .read, in: transaction)
            return try page.filled(key: { (record: ImportRecord) in "\(record.createdAt) \(record.id)" }) { record in
                try record.listed(desk.progress(record.id), to: caller)
            } _: { last, count in
                try transaction.imports(
                    in: circleID, after: last.map { ($0.createdAt, $0.id) } ?? cursor, limit: count)
            }
        }.response
    }

    private static func cursor(_ text: String) throws -> (createdAt: Int, id: String)? {
        guard !text.isEmpty else { return nil }
        let sides = text.split(separator: " ", maxSplits: 1)
        guard sides.count == 2, let time = Int(sides[0]) else {
            throw Refusal.invalid("/query/cursor", code: .invalidCursor, "This is not a cursor that a list gave.")
        }
        return (time, String(sides[1]))
    }
}
