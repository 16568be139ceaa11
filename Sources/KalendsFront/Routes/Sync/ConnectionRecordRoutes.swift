// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import Storage

/// The records of a connection: its runs, links and conflicts, and everything that was written.
struct ConnectionRecordRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.connections)
        let path = "/v1/connections/{id}"
        func list(_ part: String, _ id: String, _ summary: String, _ schema: String, _ handler: @escaping Handler) {
            routes.on(
                .get, "\(path)/\(part)", id, summary, .connection, .scope(.connections), query: .page,
                [.list(of: .named(schema))], handler)
        }
        list("runs", "listRuns", "List a connection's runs, the latest first", "SyncRun", runs)
        list("mappings", "listMappings", "List which items are linked with which events", "Mapping", mappings)
        list("conflicts", "listConflicts", "List a connection's conflicts, the latest first", "Conflict", conflicts)
        list("journal", "listJournal", "List everything that was written, the latest first", "JournalEntry", journal)
        routes.on(
            .get, "/v1/runs/{id}", "getRun", "Read a run", .connection, .scope(.connections), [.ok(.named("SyncRun"))],
            run)
        routes.on(
            .get, "/v1/conflicts/{id}", "getConflict", "Read a conflict", .connection, .scope(.connections),
            [.ok(.named("Conflict"))], conflict)
    }

    private var connections: Connections { services.connections }

    private func runs(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, page) = (try context.identifier("id"), try context.caller(), try Page(request, context))
        let found = try await connections.runs(
            of: id, before: try page.number ?? Int.max, limit: page.fetchLimit, for: caller)
        return try page.answer(found, key: { String($0.row.number) }, json: \.json)
    }

    private func run(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try .json(try await connections.run(try context.identifier("id"), for: try context.caller()).json)
    }

    private func mappings(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, page) = (try context.identifier("id"), try context.caller(), try Page(request, context))
        // An item's id may contain spaces, and comes last.
        let parts = page.after.pieces(separatedBy: " ", maxSplits: 2, omittingEmpty: false)
        guard page.after.isEmpty || parts.count == 3 else {
            throw Refusal.invalid("/query/cursor", code: .invalidCursor, "This is not a cursor from a list.")
        }
        let position =
            parts.count == 3
            ? (collection: String(parts[0]), item: String(parts[2]), occurrence: String(parts[1])) : ("", "", "")
        return try await connections.mappings(of: id, after: position, for: caller) {
            try page.filled(
                key: { "\($0.item.collection.rawValue) \($0.item.occurrence?.basic ?? "") \($0.item.id)" },
                json: \.json, $0)
        }.response
    }

    private func conflicts(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, page) = (try context.identifier("id"), try context.caller(), try Page(request, context))
        return try await connections.conflicts(of: id, before: try page.number ?? Int.max, for: caller) {
            try page.filled(key: { String($0.row.number) }, json: \.json, $0)
        }.response
    }

    private func conflict(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try .json(try await connections.conflict(try context.identifier("id"), for: try context.caller()).json)
    }

    private func journal(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, page) = (try context.identifier("id"), try context.caller(), try Page(request, context))
        return try await connections.journal(of: id, before: try page.number ?? Int.max, for: caller) {
            try page.filled(key: { String($0.row.number) }, json: \.json, $0)
        }.response
    }
}
