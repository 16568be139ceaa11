// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
package import Storage

/// What the operator does with the database as a whole, and how the database is doing.
package struct Upkeep: Sendable {
    let acts: Acts
    let maintenance: any StoreMaintenance
    let counter: AccessCounter
    let stopping: Stopping
    let rotation: KeyRotation
    let kinds: ItemKinds
    /// Whether other servers have the database too.
    let isShared: Bool

    /// What keeps the server from serving, nil when nothing does: a full disk keeps nobody from reading.
    package var trouble: String? {
        if !maintenance.isInPlace { return "the database was deleted or replaced; no change is accepted" }
        return counter.journal.failure == nil ? nil : "reads cannot be recorded"
    }

    /// Why requests should go elsewhere or wait, by code with a sentence; empty when the server is ready.
    package var reasons: [(code: String, text: String)] {
        var reasons: [(String, String)] = []
        if stopping.isStopping { reasons.append(("stopping", "The server is stopping.")) }
        if !maintenance.isInPlace {
            reasons.append(("database-gone", "The database was deleted or replaced; no change is accepted."))
        }
        if !maintenance.isReachable {
            reasons.append(("database-unreachable", "The database's server cannot be reached; no change is accepted."))
        }
        if counter.journal.failure != nil {
            reasons.append(("not-recorded", "Reads cannot be recorded, so that feeds are not answered."))
        }
        return reasons
    }

    /// Writes a whole and consistent copy of the database to a new file.
    package func backup(to path: String, for caller: Caller) async throws {
        guard maintenance.isInPlace else {
            // The last copy of a database that somebody deleted: nothing can be noted of it there.
            return try await maintenance.backup(to: path)
        }
        try await counter.fold()
        try await maintenance.backup(to: path)
        // The copy does not mention itself: only what was done is noted.
        try await acts.act(on: .installation(touchingNoCircle: "A copy changes nothing."), for: caller) { _ in
            Done(noting: AuditNote(.backupMade, "database"))
        }
    }

    /// Puts another sealing key in place of the present one.
    package func rotateKey(for caller: Caller) async throws -> KeyRotation.Outcome {
        guard !isShared else {
            throw Refusal.conflict(
                """
                Several servers use this sealing key: stop all of them, start one with servers=one, rotate the key there, \
                and copy the key file to the others.
                """)
        }
        return try await rotation.rotate(acts, for: caller)
    }

    /// The servers that have or had the database, where several have; `isRunning` as far as is known.
    package func servers() async throws -> [(server: ServerRecord, isRunning: Bool)] {
        try await acts.store.read { transaction in
            let servers = try transaction.servers()
            guard !servers.isEmpty, isShared else { return servers.map { ($0, false) } }
            let now = try transaction.sharedTime()
            return servers.map { ($0, $0.isRunning(now: now)) }
        }
    }

    /// The first faults of the schema and of what is stored, in words that reveal nothing of what is stored.
    package func faults() async throws -> [String] {
        do {
            try await maintenance.checkSchema()
        } catch let error as StorageError {
            return [error.description]
        }
        return try await StoredRows.faults(in: acts.store, maintenance, kinds).map(\.description)
    }

    /// The engine's own check of everything that is stored: `ok`, or what is damaged.
    package func integrity() async throws -> String { try await maintenance.integrityCheck() }

    package func engineVersion() async throws -> String { try await maintenance.engineVersion() }
}
