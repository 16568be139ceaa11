// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Hummingbird
import KalendsCore
import Storage

/// The routes that only the operator's socket offers.
struct LocalRoutes: Sendable {
    let services: Services
    let proxyNotice: ProxyNotice

    func add(to routes: inout RouteTable) {
        routes.onlyForOperator(.post, "/local/backup", backup)
        routes.onlyForOperator(.post, "/local/key-rotate", rotateKey)
        routes.onlyForOperator(.get, "/local/status", status)
        routes.onlyForOperator(.get, "/local/health", health)
        routes.onlyForOperator(.get, "/local/rows", rows)
        routes.onlyForOperator(.get, "/local/users/{user}/log-name", logName)
    }

    private func backup(_ request: Request, _ context: KalendsContext) async throws -> Response {
        var fields = FieldReader(try await request.json(context))
        let path = fields.text("path", isRequired: true, maximum: 4096)
        try fields.check()
        guard let path else { throw Refusal.invalid(fields.faults) }
        try await services.upkeep.backup(to: path, for: .operatorAtHand)
        return .noContent
    }

    private func rotateKey(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let outcome = try await services.upkeep.rotateKey(for: .operatorAtHand)
        return try .json(["resealed": .integer(outcome.resealed), "lost": .integer(outcome.lost)])
    }

    /// Reports what is available at no cost, to show that the server is running.
    private func status(_ request: Request, _ context: KalendsContext) throws -> Response {
        try .json([
            "isServer": .bool(services.isServer), "publicURL": .string(services.settings.publicURL),
            "maxImportBytes": .integer(services.settings.maxImportBytes),
        ])
    }

    /// Returns the name that a user has in the log, whether or not there is such a user.
    private func logName(_ request: Request, _ context: KalendsContext) throws -> Response {
        try .json(["logName": .string("user/" + services.pseudonym(of: try context.newIdentifier("user")))])
    }

    /// Checks every stored row.
    private func rows(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try .json(["faults": .array(try await services.upkeep.faults().map(JSONValue.string))])
    }

    private func health(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let journal = services.counter.journal
        let servers = try await services.upkeep.servers().map { server, isRunning -> JSONValue in
            [
                "name": .string(server.name), "isRunning": .bool(isRunning), "missing": .integer(server.missing),
                "seenAt": JSONValue(milliseconds: server.seenAt),
                "isStopped": .bool(server.stoppedAt != nil),
            ]
        }
        return try .json([
            "servers": .array(servers),
            "accesses": [
                "pending": .integer(journal.pending), "capacity": .integer(journal.capacity),
                "failure": JSONValue(journal.failure?.description),
                "folding": JSONValue(services.counter.foldingFailure.map(publicText)),
            ],
            "integrity": .string(try await services.upkeep.integrity()),
            "sqlite": .string(try await services.upkeep.engineVersion()),
            "untrustedProxy": JSONValue(proxyNotice.address),
            "sealingKey": .bool(services.isSealingKeyRight),
            "isRotationUnfinished": .bool(services.rotation.isUnfinished),
        ])
    }
}
