// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Storage

/// The audit trail, only for the installation.
struct AuditRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(
            RouteTable.Section(name: "Audit", about: "The record of acts on feeds, keys, imports and members."))
        routes.on(
            .get, "/v1/audit",
            Operation(
                "listAudit", "List everybody's acts, the latest first", .installation, .scope(.audit),
                query: [.init(name: "circle", schema: Schema.string.described("Only acts in this circle."))] + .page,
                [.list(of: .named("AuditEntry"))]), list)
    }

    /// Adds what only the operator's socket offers.
    func addLocal(to routes: inout RouteTable) { routes.onlyForOperator(.get, "/local/audit/verify", verify) }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let page = try Page(request, context)
        let circle = request.uri.queryParameters["circle"].map(String.init)
        if let circle, !Identifier.isValid(circle) {
            throw Refusal.invalid("/query/circle", code: .invalidID, Identifier.rule)
        }
        let found = try await services.audit.list(
            before: try page.number ?? .max, in: circle, limit: page.fetchLimit, for: try context.caller())
        return try page.answer(found, key: { String($0.number) }, json: \.json)
    }

    @Sendable
    private func verify(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let text = request.uri.queryParameters["head"].map(String.init)
        let known = text.flatMap { AuditHead($0) }
        if text != nil, known == nil {
            throw Refusal.invalid("/query/head", "This must be a number and a hash: NUMBER:HASH.")
        }
        let verdict = try await services.audit.verify(known: known)
        return try .json([
            "count": .integer(verdict.count), "head": JSONValue(verdict.head?.text),
            "fault": verdict.fault.map { ["number": .integer($0.number), "reason": .string($0.reason)] } ?? .null,
        ])
    }
}

extension AuditEntry {
    /// The time appears twice: in readable form, and in the form that is hashed.
    fileprivate var json: JSONValue {
        [
            "number": .integer(number), "at": JSONValue(milliseconds: at), "atMilliseconds": .integer(at),
            "actor": .string(actor), "action": .string(action), "subject": .string(subject),
            "circleId": JSONValue(circleID), "detail": (try? JSONValue(parsing: Array(detail.utf8))) ?? .null,
            "previousHash": .string(previousHash), "hash": .string(hash),
        ]
    }
}
