// SPDX-License-Identifier: Apache-2.0

/// The part of an engine that migrations need: a transaction, before anything else runs.
package protocol MigrationTarget {
    /// Returns a statement in the engine's dialect; `/* clustered */` marks a table that is stored in its key's order.
    func adapted(_ statement: String) -> String

    func transaction(_ body: (any WriteTransaction) throws -> Void) throws
}

/// The schema's history, which is only appended to: what was released never changes.
package enum Schema {
    package static let migrations: [[String]] = [
        first, changeVersions, compactCounts, graceNotices, attention, identities, importItems, circleChanges, webhooks,
        subscriptions, auditTrail, signInBrake, usage, eventVersions, connections, syncRecords, officeDays,
        personalEvents, ownEntries, syncWishes, syncScale, ownSizes, phoneItems, signInLinks, reach,
        phoneMarks, numbering, servers, itemKinds,
    ]

    /// Runs the migrations that the database does not have yet, all in one transaction: if one of them fails or the
    /// process ends, the database stays as it was, and the earlier program can continue to use it.
    ///
    /// - Parameter last: the version to end with, for tests with schemas of earlier versions.
    package static func migrate(_ target: any MigrationTarget, upTo last: Int = migrations.count) throws {
        try target.transaction { transaction in
            try transaction.execute(
                "CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT NOT NULL PRIMARY KEY)", [])
            let version =
                try transaction.row("SELECT COALESCE(MAX(version), 0) AS version FROM schema_migrations", [])?
                .integer("version") ?? 0
            guard version <= migrations.count else {
                throw StorageError.newerSchema(found: version, known: migrations.count)
            }
            for (index, statements) in migrations.enumerated().prefix(last).dropFirst(version) {
                for statement in statements { try transaction.execute(target.adapted(statement), []) }
                try transaction.execute("INSERT INTO schema_migrations (version) VALUES ($1)", [.integer(index + 1)])
            }
        }
    }
}
