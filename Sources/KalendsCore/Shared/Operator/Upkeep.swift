// SPDX-License-Identifier: Apache-2.0

import FeedTokens
package import Storage

/// The operator's actions on the database as a whole, and the state of the database.
package struct Upkeep: Sendable {
    let acts: Acts
    let maintenance: any StoreMaintenance
    let counter: AccessCounter
    let stopping: Stopping
    let rotation: KeyRotation
    let kinds: ItemKinds
    /// Whether other servers use the database too.
    let isShared: Bool

    /// What prevents the server from working, or nil; a full disk is not included, since reading still works.
    package var trouble: String? {
        if !maintenance.isInPlace { return "the database was deleted or replaced; no change is accepted" }
        return counter.journal.failure == nil ? nil : "reads cannot be recorded"
    }

    /// Why requests should wait or go to another server, each with its code and a sentence; empty when the server is
    /// ready.
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
            reasons.append(("not-recorded", "Reads cannot be recorded, so feeds are not served."))
        }
        return reasons
    }

    /// Writes a complete and consistent copy of the database to a new file.
    package func backup(to path: String, for caller: Caller) async throws {
        guard maintenance.isInPlace else {
            // This is the last copy of a database that somebody deleted: it can no longer note anything.
            return try await maintenance.backup(to: path)
        }
        try await counter.fold()
        try await maintenance.backup(to: path)
        // The backup is noted after it is made, so the copy does not contain the note.
        try await acts.act(on: .installation(touchingNoCircle: "A copy changes nothing."), for: caller) { _ in
            ActResult(noting: AuditNote(.backupMade, "database"))
        }
    }

    /// Replaces the sealing key with a new one.
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

    /// Returns the servers that use or used a shared database; `isRunning` is as far as is known.
    package func servers() async throws -> [(server: ServerRecord, isRunning: Bool)] {
        try await acts.store.read { transaction in
            let servers = try transaction.servers()
            guard !servers.isEmpty, isShared else { return servers.map { ($0, false) } }
            let now = try transaction.sharedTime()
            return servers.map { ($0, $0.isRunning(now: now)) }
        }
    }

    /// Returns the first faults of the schema and of the stored data, in words that reveal none of the data.
    package func faults() async throws -> [String] {
        do {
            try await maintenance.checkSchema()
        } catch let error as StorageError {
            return [error.description]
        }
        return try await StoredRows.faults(in: acts.store, maintenance, kinds).map(\.description)
    }

    /// Runs the database engine's own check of all data; returns `ok`, or what is damaged.
    package func integrity() async throws -> String { try await maintenance.integrityCheck() }

    package func engineVersion() async throws -> String { try await maintenance.engineVersion() }
}
