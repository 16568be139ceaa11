// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Storage

/// The audit trail, only for the installation.
struct AuditRoutes: Sendable {
    let audit: Audit

    func add(to routes: inout RouteTable) {
        routes.section(
            RouteTable.Section(name: "Audit", about: "The record of acts on feeds, keys, imports and members."))
        routes.on(
            .get, "/v1/audit", "listAudit", "List everybody's acts, the latest first", .installation, .scope(.audit),
            query: [.init(name: "circle", schema: Schema.string.described("Only acts in this circle."))] + .page,
            [.list(of: .named("AuditEntry"))], list)
    }

    /// Adds what only the operator's socket offers.
    func addLocal(to routes: inout RouteTable) { routes.onlyForOperator(.get, "/local/audit/verify", verify) }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let page = try Page(request, context)
        let circle = request.uri.queryParameters["circle"].map(String.init)
        if let circle, !Identifier.isValid(circle) {
            throw Refusal.invalid("/query/circle", code: .invalidID, Identifier.rule)
        }
        let found = try await audit.list(
            before: try page.number ?? .max, in: circle, limit: page.fetchLimit, for: try context.caller())
        return try page.answer(found, key: { String($0.number) }, json: \.json)
    }

    private func verify(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let text = request.uri.queryParameters["head"].map(String.init)
        let known = text.flatMap { AuditHead($0) }
        if text != nil, known == nil {
            throw Refusal.invalid("/query/head", "This must be a number and a hash: NUMBER:HASH.")
        }
        let verdict = try await audit.verify(known: known)
        return try .json([
            "count": .integer(verdict.count), "anonymous": .integer(verdict.anonymous),
            "head": JSONValue(verdict.head?.text),
            "fault": verdict.fault.map { ["number": .integer($0.number), "reason": .string($0.reason)] } ?? .null,
        ])
    }
}

extension AuditEntry: Viewed {
    static let view = View<AuditEntry>([
        .count("number", \.number).described("Numbers start at 1 and have no gaps."), .instant("at", \.at),
        .count("atMilliseconds", \.at)
            .described("The same time in milliseconds since 1970, as it is hashed."),
        .text("actor", \.actor).described(
            "`operator`, `server`, `key:<id>`, `user:<id>` or `device:<id>`; `user:<id> via key:<id>` for a key that acted "
                + "for a user, `user:<id> with app-password:<id>` for a calendar app. Empty once a person that the entry "
                + "named was erased, with the subject, the detail and the salt."),
        .text("action", \.action).documented(.choice(AuditAction.self)),
        .text("subject", \.subject).described("The id of the object of the act."), .text("circleId", \.circleID),
        .init("detail", Schema(["type": "object"]).orNull.described("Consists only of ids and fixed words.")) {
            (try? JSONValue(parsing: Array($0.detail.utf8))) ?? .null
        },
        .text("salt", \.salt).described("A random text that is hashed with the names."),
        .text("namesHash", \.namesHash).described(
            "SHA-256 in hex of the JSON array [salt, actor, subject, detail as JSON text], without spaces and with keys in "
                + "order."),
        .text("previousHash", \.previousHash).described("The `hash` of the previous entry; zeros for the first."),
        .text("hash", \.hash).described(
            "SHA-256 in hex of the JSON array [number, atMilliseconds, action, circleId, namesHash, previousHash], without "
                + "spaces."),
    ])
}
