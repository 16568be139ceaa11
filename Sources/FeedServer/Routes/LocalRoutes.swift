// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Hummingbird
import Storage

/// What only the operator's socket offers.
struct LocalRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.on(.post, "/local/backup", backup)
        routes.on(.get, "/local/health", health)
    }

    @Sendable
    private func backup(_ request: Request, _ context: KalendsContext) async throws -> Response {
        var fields = FieldReader(try await request.json())
        let path = fields.text("path", isRequired: true, maximum: 4096)
        try fields.check()
        guard let path else { throw Refusal.invalid(fields.faults) }
        try await services.counter.fold()
        try await services.store.backup(to: path)
        let (actor, now) = (AuditActor.operatorAtHand, services.now())
        // The copy does not tell of itself: what is noted is what was done.
        try await services.store.record { transaction in
            try AuditTrail.note(.backupMade, "database", by: actor, in: transaction, now: now)
        }
        return .noContent
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
            "integrity": .string(try await services.store.integrityCheck()),
            "sqlite": .string(try await services.store.libraryVersion()),
            "isServer": .bool(services.isServer),
            "sealingKey": .bool(services.isSealingKeyRight),
            "publicURL": .string(services.settings.publicURL),
        ])
    }
}
