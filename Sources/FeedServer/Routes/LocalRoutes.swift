// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Hummingbird
import Storage

/// What only the operator's socket offers.
struct LocalRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.onlyForOperator(.post, "/local/backup", backup)
        routes.onlyForOperator(.get, "/local/status", status)
        routes.onlyForOperator(.get, "/local/health", health)
        routes.onlyForOperator(.get, "/local/rows", rows)
    }

    @Sendable
    private func backup(_ request: Request, _ context: KalendsContext) async throws -> Response {
        var fields = FieldReader(try await request.json(context))
        let path = fields.text("path", isRequired: true, maximum: 4096)
        try fields.check()
        guard let path else { throw Refusal.invalid(fields.faults) }
        guard services.maintenance.isInPlace else {
            // The last copy of a database that somebody deleted: nothing can be noted of it there.
            try await services.maintenance.backup(to: path)
            return .noContent
        }
        try await services.counter.fold()
        try await services.maintenance.backup(to: path)
        let (actor, now) = (AuditActor.operatorAtHand, services.now())
        // The copy does not tell of itself: what is noted is what was done.
        try await services.store.record { transaction in
            try AuditTrail.note(.backupMade, "database", by: actor, in: transaction, now: now)
        }
        return .noContent
    }

    /// What costs nothing to tell, for whoever looks whether somebody is there.
    @Sendable
    private func status(_ request: Request, _ context: KalendsContext) throws -> Response {
        try .json([
            "isServer": .bool(services.isServer), "publicURL": .string(services.settings.publicURL),
            "maxImportBytes": .integer(services.settings.maxImportBytes),
        ])
    }

    /// Looks at every stored row.
    @Sendable
    private func rows(_ request: Request, _ context: KalendsContext) async throws -> Response {
        do {
            try await services.maintenance.checkSchema()
        } catch let error as StorageError {
            return try .json(["faults": [.string(error.description)]])
        }
        let faults = try await StoredRows.faults(in: services.store, services.maintenance)
        return try .json(["faults": .array(faults.map { .string($0.description) })])
    }

    @Sendable
    private func health(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let journal = services.counter.journal
        return try .json([
            "accesses": [
                "pending": .integer(journal.pending), "capacity": .integer(journal.capacity),
                "failure": JSONValue(journal.failure?.description),
                "folding": JSONValue(services.counter.foldingFailure.map(publicText)),
            ],
            "integrity": .string(try await services.maintenance.integrityCheck()),
            "sqlite": .string(try await services.maintenance.engineVersion()),
            "untrustedProxy": JSONValue(services.proxyNotice.address),
            "sealingKey": .bool(services.isSealingKeyRight),
        ])
    }
}
