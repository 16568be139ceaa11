// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import HTTPTypes
import Hummingbird
import KalendsCore

/// The runs of connections that people start, and their decisions about conflicts.
struct SyncRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.connections)
        let begun = Operation.Reply(
            status: 202, text: "The run is under way, or begins soon.", type: "application/json",
            schema: .named("BegunRun"))
        routes.on(
            .post, "/v1/connections/{id}/sync", "syncConnection", "Run a connection now, or preview a run", .connection,
            .scope(.connections),
            details:
                "If a run is already under way, its id is returned; while the provider has asked the account to wait, "
                + "none begins (503 with `Retry-After`). With `mode=preview` nothing is written anywhere; the "
                + "preview's `items` end early at 4 MiB, and `nextCursor` continues them.",
            query: [
                .init(name: "mode", schema: Schema.one(of: ["preview"])),
                .init(name: "cursor", schema: Schema.string.described("`nextCursor` of the preview's previous part.")),
            ], [.ok(.named("SyncPreview"), "What a run would do now."), begun], refusals: [409, 429, 503], sync)
        routes.on(
            .post, "/v1/runs/{id}/approve", "approveRun", "Approve a held run", .connection, .scope(.connections),
            details: "The run is held again if it would now do more.", [begun], refusals: [409], approve)
        routes.on(
            .post, "/v1/runs/{id}/undo", "undoRun", "Undo a run", .connection, .scope(.connections),
            details: "Later changes by people stay as they are. The answer names the run that undoes this one.",
            [begun], refusals: [409], undo)
        let conflict = Operation.Reply.ok(.named("Conflict"))
        routes.on(
            .post, "/v1/conflicts/{id}/resolve", "resolveConflict", "Resolve a conflict", .connection,
            .scope(.connections),
            details: "`both` keeps a second appointment at the other time, where an appointment was moved on both "
                + "sides.", body: .json(.named("ConflictDecision")), [conflict], refusals: [409], resolve)
        routes.on(
            .post, "/v1/conflicts/{id}/dismiss", "dismissConflict", "Dismiss a conflict", .connection,
            .scope(.connections), [conflict], refusals: [409], dismiss)
    }

    private var syncing: Syncing { services.syncing }

    private func sync(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        switch request.uri.queryParameters["mode"].map(String.init) {
        case nil: return try await context.answering(Self.begun) { try await syncing.begin(id, for: caller) }
        case "preview":
            let start = min(max(0, try Page(request, context).number ?? 0), Int.max / 2)
            return try await context.awaiting {
                try await syncing.preview(id, for: caller) {
                    try $0.text(from: start, context.memory.answer).response
                }
            }
        default: throw Refusal.invalid("/query/mode", code: .notAChoice, "This must be preview, or not be given.")
        }
    }

    private func approve(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        return try await context.answering(Self.begun) { try await syncing.approve(id, for: caller) }
    }

    private func undo(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        return try await context.answering(Self.begun) { try await syncing.undo(id, for: caller) }
    }

    static let decision = InputBody(
        .required("keep", InputType<Resolution.Keep>.choice), example: ["keep": "calendar"])

    private func resolve(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let keep = try Self.decision.read(try await request.json(context))
        // A run that is under way may take long to end.
        context.memory.letGo()
        try await services.resolving.resolve(id, keep, for: caller)
        return try .json(try await services.connections.conflict(id, for: caller).json)
    }

    private func dismiss(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        try await services.resolving.dismiss(id, for: caller)
        return try .json(try await services.connections.conflict(id, for: caller).json)
    }

    private static func begun(_ run: String) throws -> GivenAnswer {
        try .json(["runId": .string(run)], status: .accepted, headers: [.location: "/v1/runs/\(run)"])
    }
}

extension SyncRun.Preview {
    /// One part of the preview; a part ends before `PageText.mostBytes`.
    ///
    /// - Parameters:
    ///   - start: the number of the part's first item.
    ///   - room: what the part may take of the server's memory.
    func text(from start: Int, _ room: MemoryShare) throws -> PageText {
        var (text, index) = (PageText(room), start)
        while index < items.count, try text.add(items[index].json) { index += 1 }
        text.finish(next: index < items.count ? String(index) : nil)
        text.add("counts", try counts.json.serialized())
        text.add("held", try (hold.map(Hold.view.json) ?? .null).serialized())
        return text
    }
}

extension PreviewItem: Viewed {
    static let view = View<Self>([
        .choice("collection", \.item.collection), .id("itemId", \.item.id),
        .optional("occurrence", .instant, \.item.occurrence) { JSONValue($0) }, .choice("change", \.change),
        .choice("direction", \.direction), .choices("fields", \.fields),
    ])
}
